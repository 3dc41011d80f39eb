//! The clock of a store that several machines share.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use tokio::time::Instant;

use crate::wire::Timestamp;

use crate::clock::Clock;

/// Shows the time of a store, once it is known, and the machine's until then.
///
/// Between two readings the time goes on as it passes, whatever is done to the machine's
/// clock. A store without a clock of its own has the machine's.
#[derive(Debug)]
pub(crate) struct StoreClock {
    machine: Arc<dyn Clock>,
    started: Instant,
    /// What the store's clock showed at `started`, in milliseconds since 1970.
    base: AtomicI64,
}

/// No clock shows this.
const UNKNOWN: i64 = i64::MIN;

/// How often a sleeper looks whether the store's clock was read anew.
const LOOK_AGAIN: Duration = Duration::from_secs(60);

impl StoreClock {
    /// Shows what `machine` shows.
    pub(crate) fn new(machine: Arc<dyn Clock>) -> Self {
        Self { machine, started: Instant::now(), base: AtomicI64::new(UNKNOWN) }
    }

    /// The store's clock showed `shown` at some moment since `asked`; how far ahead of it
    /// the machine's clock is, at least.
    ///
    /// When the answer took longer than `patience`, what was known before counts.
    pub(crate) fn read(&self, shown: Timestamp, asked: Instant, patience: Duration) -> Skew {
        let took = asked.elapsed();
        let between = asked.duration_since(self.started) + took / 2;
        let base = shown.as_millis().saturating_sub(millis(between));
        if took <= patience || self.base.load(Ordering::Relaxed) == UNKNOWN {
            self.base.store(base, Ordering::Relaxed);
        }
        let now = base.saturating_add(millis(self.started.elapsed()));
        let ahead = self.machine.machine_time().as_millis().saturating_sub(now);
        let unsure = millis(took / 2);
        Skew { millis: ahead.signum() * (ahead.abs() - unsure).max(0) }
    }
}

/// How far the machine's clock is ahead of the store's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Skew {
    millis: i64,
}

impl Skew {
    /// By how many milliseconds the machine's clock is ahead; fewer than none when it is behind.
    pub(crate) fn millis(self) -> i64 {
        self.millis
    }

    /// How far they are apart.
    pub(crate) fn size(self) -> Duration {
        Duration::from_millis(self.millis.unsigned_abs())
    }
}

impl fmt::Display for Skew {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = if self.millis < 0 { "behind" } else { "ahead of" };
        write!(f, "{:?} {side} the database's", self.size())
    }
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

#[async_trait]
impl Clock for StoreClock {
    fn now(&self) -> Timestamp {
        match self.base.load(Ordering::Relaxed) {
            UNKNOWN => self.machine.now(),
            base => Timestamp::from_millis(base) + self.started.elapsed(),
        }
    }

    async fn sleep_until(&self, moment: Timestamp) {
        if self.base.load(Ordering::Relaxed) == UNKNOWN {
            return self.machine.sleep_until(moment).await;
        }
        loop {
            let left = moment.since(self.now());
            if left.is_zero() {
                return;
            }
            tokio::time::sleep(left.min(LOOK_AGAIN)).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::TokioClock;

    const NOON: Timestamp = Timestamp::from_secs(1_700_000_000);
    const PATIENCE: Duration = Duration::from_secs(1);

    fn clock() -> StoreClock {
        StoreClock::new(Arc::new(TokioClock::starting_at(NOON)))
    }

    #[tokio::test(start_paused = true)]
    async fn the_machines_time_is_shown_until_the_stores_is_known() {
        let clock = clock();
        tokio::time::sleep(Duration::from_secs(5)).await;
        assert_eq!(clock.now(), NOON + Duration::from_secs(5));
        clock.sleep_until(NOON + Duration::from_secs(9)).await;
        assert_eq!(clock.now(), NOON + Duration::from_secs(9));
    }

    #[tokio::test(start_paused = true)]
    async fn the_stores_time_goes_on_from_the_middle_of_the_call() {
        let clock = clock();
        let asked = Instant::now();
        tokio::time::sleep(Duration::from_millis(200)).await;
        let store = NOON + Duration::from_secs(60);
        let skew = clock.read(store, asked, PATIENCE);
        assert_eq!(clock.now(), store + Duration::from_millis(100));
        // 60 s behind, and the call leaves 100 ms open.
        assert_eq!(skew, Skew { millis: -59_800 });
        assert_eq!(skew.to_string(), "59.8s behind the database's");
        clock.sleep_until(store + Duration::from_secs(200)).await;
        assert_eq!(clock.now(), store + Duration::from_secs(200));
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_took_too_long_changes_nothing() {
        let clock = clock();
        clock.read(NOON, Instant::now(), PATIENCE);
        let asked = Instant::now();
        tokio::time::sleep(Duration::from_secs(2)).await;
        clock.read(NOON + Duration::from_secs(900), asked, PATIENCE);
        assert_eq!(clock.now(), NOON + Duration::from_secs(2));
    }

    /// A clock that is right again, and waits until the time comes that it has shown.
    #[derive(Debug)]
    struct SetBack;

    #[async_trait]
    impl Clock for SetBack {
        fn now(&self) -> Timestamp {
            NOON + Duration::from_secs(60)
        }

        fn machine_time(&self) -> Timestamp {
            NOON
        }

        async fn sleep_until(&self, _: Timestamp) {}
    }

    #[tokio::test(start_paused = true)]
    async fn a_clock_that_was_set_back_is_compared_by_what_it_shows_now() {
        let clock = StoreClock::new(Arc::new(SetBack));
        assert_eq!(clock.read(NOON, Instant::now(), PATIENCE).millis(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn clocks_that_agree_are_not_apart() {
        assert_eq!(clock().read(NOON, Instant::now(), PATIENCE).size(), Duration::ZERO);
    }
}
