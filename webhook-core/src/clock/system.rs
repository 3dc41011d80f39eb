//! The machine's clock, which somebody can set back.

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use async_trait::async_trait;

use crate::wire::Timestamp;

use crate::clock::Clock;

/// The machine's clock, without its steps back.
///
/// A clock that is set forward is followed at once. A clock that is set back is
/// not: what was due in two seconds would wait for an hour and two seconds. Time
/// goes on from the last moment that was shown, a tenth slower than it passes,
/// until the machine's clock has caught up: an hour is made good in ten. A
/// program that is started anew shows what the machine shows.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

/// What all clocks of this program have shown.
static SHOWN: Steady = Steady::new();

/// How often a sleeper looks whether the machine's clock was set.
const LOOK_AGAIN: Duration = Duration::from_secs(60);

#[async_trait]
#[allow(clippy::disallowed_methods, reason = "this is the clock")]
impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let wall = self.machine_time().since(Timestamp::default());
        Timestamp::default() + SHOWN.show(wall, Instant::now)
    }

    fn machine_time(&self) -> Timestamp {
        Timestamp::default() + SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
    }

    async fn sleep_until(&self, moment: Timestamp) {
        loop {
            let left = moment.since(self.now());
            if left.is_zero() {
                return;
            }
            tokio::time::sleep(left.min(LOOK_AGAIN)).await;
        }
    }
}

/// Time that never goes back, since 1970.
#[derive(Debug)]
struct Steady {
    /// The latest moment that was shown, in nanoseconds.
    shown: AtomicU64,
    /// Where the machine's clock was set back, and when that was.
    set_back: Mutex<Option<(u64, Instant)>>,
}

impl Steady {
    const fn new() -> Self {
        Self { shown: AtomicU64::new(0), set_back: Mutex::new(None) }
    }

    /// The moment to show while the machine's clock shows `wall`.
    fn show(&self, wall: Duration, instant: impl FnOnce() -> Instant) -> Duration {
        let wall = nanos(wall);
        let shown = self.shown.fetch_max(wall, Ordering::Relaxed);
        Duration::from_nanos(if shown <= wall { wall } else { self.catch_up(instant()) })
    }

    fn catch_up(&self, instant: Instant) -> u64 {
        let mut set_back = self.set_back.lock().unwrap_or_else(PoisonError::into_inner);
        let shown = self.shown.load(Ordering::Relaxed);
        let slowed = set_back.map(|(from, since)| {
            let passed = nanos(instant.saturating_duration_since(since));
            from.saturating_add(passed - passed / 10)
        });
        // What was shown later than that is of a time before the clock was set back again.
        let now = slowed.filter(|slowed| *slowed >= shown).unwrap_or_else(|| {
            *set_back = Some((shown, instant));
            shown
        });
        self.shown.fetch_max(now, Ordering::Relaxed).max(now)
    }
}

/// Enough until the year 2554.
fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: Duration = Duration::from_secs(1_700_000_000);
    const HOUR: Duration = Duration::from_secs(3600);
    const SECOND: Duration = Duration::from_secs(1);

    /// Shows the time on a machine whose clock can be set.
    struct Machine {
        steady: Steady,
        wall: Duration,
        instant: Instant,
    }

    impl Machine {
        fn new() -> Self {
            Self { steady: Steady::new(), wall: NOON, instant: Instant::now() }
        }

        fn pass(&mut self, duration: Duration) -> Duration {
            self.wall += duration;
            self.instant += duration;
            self.steady.show(self.wall, || self.instant)
        }
    }

    #[test]
    fn a_clock_that_nobody_sets_is_shown_as_it_is() {
        let mut machine = Machine::new();
        for second in 1..100 {
            assert_eq!(machine.pass(SECOND), NOON + SECOND * second);
        }
    }

    #[test]
    fn a_step_forward_is_shown_at_once() {
        let mut machine = Machine::new();
        machine.pass(SECOND);
        machine.wall += HOUR;
        assert_eq!(machine.pass(SECOND), NOON + HOUR + SECOND * 2);
    }

    #[test]
    fn a_step_back_slows_time_down_until_it_is_made_good() {
        let mut machine = Machine::new();
        let before = machine.pass(SECOND);
        machine.wall -= HOUR;
        assert_eq!(machine.pass(Duration::ZERO), before);
        // What was due in two seconds is due within three.
        assert!(machine.pass(SECOND * 3) >= before + SECOND * 2);
        let mut last = before;
        for _ in 0..20 {
            let shown = machine.pass(HOUR);
            assert!(shown > last);
            last = shown;
        }
        assert_eq!(last, machine.wall);
    }

    #[test]
    fn each_step_back_counts_from_what_was_shown() {
        let mut machine = Machine::new();
        machine.pass(SECOND);
        machine.wall -= SECOND * 10;
        machine.pass(Duration::ZERO);
        machine.pass(SECOND * 200);
        assert_eq!(machine.pass(SECOND), machine.wall);
        let before = machine.wall;
        machine.wall -= HOUR;
        assert_eq!(machine.pass(Duration::ZERO), before);
        assert_eq!(machine.pass(SECOND * 10), before + SECOND * 9);
    }

    #[tokio::test]
    #[allow(clippy::disallowed_methods, reason = "this is the clock")]
    async fn it_shows_the_machines_time_and_sleeps_until_it_has_come() {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = SystemClock.now();
        assert!(now.since(Timestamp::default()) + SECOND > wall);
        let moment = now + Duration::from_millis(20);
        SystemClock.sleep_until(moment).await;
        assert!(SystemClock.now() >= moment);
    }
}
