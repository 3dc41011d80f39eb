//! An output whose destination fails again and again is tried seldom, so that its backlog costs
//! the other outputs nothing. The circuit of `health` takes the place of this bound.

use std::time::Duration;

use super::circuit::Judged;
use crate::clock::Timestamp;

/// The number of failures in a row that make an output slow.
const FAILURES: u32 = 50;
/// The time between two attempts of a slow output.
const BETWEEN: Duration = Duration::from_millis(500);
/// The longest time that a delivery without `durability` waits for a slow output.
pub(super) const LONGEST_WAIT: Duration = Duration::from_secs(600);

/// Whether an output is slow at this node. It is until an attempt succeeds.
#[derive(Debug, Default)]
pub(super) struct Slow {
    failures: u32,
    since: Option<Timestamp>,
    next_at: Timestamp,
    /// The store was asked for the oldest delivery before the next attempt.
    has_looked: bool,
    /// A delivery has waited for too long, and the store may have more such deliveries.
    has_expired: bool,
}

impl Slow {
    /// Notes how an attempt ended. Answers whether the output got slow (`true`), or is so no more.
    pub(super) fn judged(&mut self, judged: Judged, now: Timestamp) -> Option<bool> {
        match judged {
            Judged::Works => std::mem::take(self).since.map(|_| false),
            Judged::Nothing => None,
            Judged::Fails => {
                self.failures = self.failures.saturating_add(1);
                if self.failures != FAILURES {
                    return None;
                }
                (self.since, self.next_at) = (Some(now), now + BETWEEN);
                Some(true)
            }
        }
    }

    /// Since when it is slow.
    pub(super) const fn since(&self) -> Option<Timestamp> {
        self.since
    }

    /// When the next attempt may start; none if it may start immediately.
    pub(super) fn waits_until(&self, now: Timestamp) -> Option<Timestamp> {
        self.since.map(|_| self.next_at).filter(|next_at| *next_at > now)
    }

    /// How many deliveries to claim before the next attempt: one, which may be older than those in
    /// memory, or as many as there is room for, of those that have waited for too long.
    pub(super) fn claims(&mut self, now: Timestamp) -> Option<usize> {
        if std::mem::take(&mut self.has_expired) {
            return Some(usize::MAX);
        }
        let looks = self.waits_until(now).is_none() && !self.has_looked;
        self.has_looked |= looks;
        looks.then_some(1)
    }

    /// A delivery was taken out that has waited for too long.
    pub(super) const fn expired(&mut self) {
        self.has_expired = self.since.is_some();
    }

    /// An attempt starts.
    pub(super) fn start(&mut self, now: Timestamp) {
        (self.next_at, self.has_looked) = (now + BETWEEN, false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(1_000_000 + millis)
    }

    fn slowed() -> Slow {
        let mut slow = Slow::default();
        for _ in 1..FAILURES {
            assert_eq!(slow.judged(Judged::Fails, at(0)), None);
            assert_eq!(slow.waits_until(at(0)), None);
        }
        assert_eq!(slow.judged(Judged::Fails, at(0)), Some(true));
        slow
    }

    #[test]
    fn fifty_failures_in_a_row_leave_two_attempts_a_second() {
        let (mut slow, mut attempts, mut now) = (slowed(), 0, at(0));
        while now < at(10_000) {
            match slow.waits_until(now) {
                Some(later) => now = later,
                None => {
                    attempts += 1;
                    slow.start(now);
                    assert_eq!(slow.judged(Judged::Fails, now), None);
                }
            }
        }
        assert_eq!(attempts, 19);
        assert_eq!(slow.since(), Some(at(0)));
        assert_eq!(slow.judged(Judged::Nothing, now), None);
        assert_eq!(slow.judged(Judged::Works, now), Some(false));
        assert_eq!((slow.since(), slow.waits_until(now)), (None, None));
    }

    #[test]
    fn a_success_between_failures_begins_the_count_anew() {
        let mut slow = Slow::default();
        for _ in 0..1_000 {
            for _ in 1..FAILURES {
                assert_eq!(slow.judged(Judged::Fails, at(0)), None);
            }
            assert_eq!(slow.judged(Judged::Works, at(0)), None);
        }
    }

    #[test]
    fn the_oldest_is_claimed_once_for_each_attempt_and_many_after_one_that_expired() {
        let mut slow = slowed();
        assert_eq!(slow.claims(at(499)), None);
        assert_eq!(slow.claims(at(500)), Some(1));
        assert_eq!(slow.claims(at(500)), None);
        slow.start(at(500));
        assert_eq!(slow.claims(at(999)), None);
        slow.expired();
        assert_eq!(slow.claims(at(999)), Some(usize::MAX));
        assert_eq!(slow.claims(at(999)), None);
        assert_eq!(slow.claims(at(1_000)), Some(1));
    }
}
