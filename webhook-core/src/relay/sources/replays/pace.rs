//! How many webhooks a replay may queue by now.

use std::time::Duration;

use super::step::MOST;
use crate::{clock::Timestamp, model::ReplaySpec};

/// How long those that are queued together have taken to become due, at least. A commit with
/// more of them would hold up what is received meanwhile.
pub(super) const TICK: Duration = Duration::from_millis(20);
/// How soon it goes on when more are due than one step queues.
const CATCH_UP: Duration = Duration::from_millis(1);

/// Counts what was queued since a moment against a rate.
#[derive(Debug)]
pub(super) struct Pace {
    since: Timestamp,
    queued: u64,
    /// Between two webhooks.
    millis: f64,
}

impl Pace {
    pub(super) fn new(spec: &ReplaySpec, now: Timestamp) -> Self {
        let millis = spec.interval.duration().as_secs_f64() * 1_000.0 / f64::from(spec.rate.max(1));
        Self { since: now, queued: 0, millis }
    }

    /// How many may be queued at `now`; with another rate than before it begins anew.
    pub(super) fn most(&mut self, spec: &ReplaySpec, now: Timestamp) -> usize {
        let current = Self::new(spec, now);
        if current.millis.to_bits() != self.millis.to_bits() {
            // The first is due one interval after the last.
            *self = Self { queued: 1, ..current };
        }
        usize::try_from(self.due(now).saturating_sub(self.queued)).unwrap_or(usize::MAX)
    }

    /// How many are due by now, queued or not.
    fn due(&self, now: Timestamp) -> u64 {
        let elapsed = now.as_millis().saturating_sub(self.since.as_millis()).max(0);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "a small positive number"
        )]
        let due = (elapsed as f64 / self.millis) as u64 + 1;
        due
    }

    /// So many were queued.
    pub(super) fn spend(&mut self, queued: usize) {
        self.queued = self.queued.saturating_add(queued as u64);
    }

    /// There was no room: what was not queued until `now` is not made up for.
    pub(super) fn rest(&mut self, now: Timestamp) {
        // The next one is due when there may be room again.
        (self.since, self.queued) = (now + Duration::from_millis(500), 0);
    }

    /// When the next is due, or the next few.
    pub(super) fn next(&self, now: Timestamp) -> Timestamp {
        #[expect(clippy::cast_precision_loss, reason = "far less than 2^52")]
        let next = self.queued as f64 * self.millis / 1_000.0;
        let next = self.since + Duration::try_from_secs_f64(next).unwrap_or(TICK);
        let is_behind = self.due(now).saturating_sub(self.queued) >= MOST as u64;
        // Those of a tick are queued together.
        next.max(now + if is_behind { CATCH_UP } else { TICK })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::RateInterval;

    fn spec(rate: u32, interval: RateInterval) -> ReplaySpec {
        ReplaySpec { rate, interval, ..ReplaySpec::default() }
    }

    /// How many are queued in so long.
    fn queued(spec: &ReplaySpec, lasts: Duration) -> usize {
        let start = Timestamp::from_secs(1_700_000_000);
        let (mut pace, mut now, mut all) = (Pace::new(spec, start), start, 0);
        while now < start + lasts {
            let most = pace.most(spec, now).min(MOST);
            pace.spend(most);
            all += most;
            let next = pace.next(now);
            assert!(next > now, "it goes on");
            now = next;
        }
        all
    }

    #[test]
    fn the_rate_is_kept() {
        let minute = Duration::from_secs(60);
        for (rate, interval, all) in [
            (10, RateInterval::Second, 600),
            (1, RateInterval::Second, 60),
            (3, RateInterval::Second, 180),
            (1_000, RateInterval::Second, 60_000),
            (10_000, RateInterval::Second, 600_000),
            (30, RateInterval::Minute, 30),
            (7_200, RateInterval::Hour, 120),
        ] {
            let found = queued(&spec(rate, interval), minute);
            let off = found.abs_diff(all) as f64 / all as f64;
            assert!(off <= 0.05, "{rate} a {interval:?}: {found}, not {all}");
        }
    }

    #[test]
    fn another_rate_begins_anew_and_what_was_missed_is_not_made_up_for() {
        let start = Timestamp::from_secs(1_700_000_000);
        let slow = spec(1, RateInterval::Hour);
        let mut pace = Pace::new(&slow, start);
        assert_eq!(pace.most(&slow, start), 1);
        pace.spend(1);
        let fast = spec(10, RateInterval::Second);
        let later = start + Duration::from_secs(60);
        assert_eq!(pace.most(&slow, later), 0);
        assert_eq!(pace.most(&fast, later), 0);
        assert_eq!(pace.most(&fast, later + Duration::from_secs(1)), 10);
        pace.rest(later + Duration::from_secs(60));
        assert_eq!(pace.most(&fast, later + Duration::from_millis(60_500)), 1);
    }
}
