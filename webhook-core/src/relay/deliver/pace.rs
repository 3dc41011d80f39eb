//! At most so many starts in any interval.

use std::{collections::VecDeque, time::Duration};

use crate::clock::Timestamp;

/// How many starts are remembered; a higher rate is kept over a
/// correspondingly shorter interval.
const REMEMBERED: u32 = 4096;

/// The starts of the last interval.
#[derive(Debug, Default)]
pub(super) struct Pace {
    starts: VecDeque<Timestamp>,
}

impl Pace {
    /// Notes a start at `now`, unless `rate` of them lie within the last
    /// `interval`: then the error is when the next one may be.
    pub(super) fn start(
        &mut self,
        rate: u32,
        interval: Duration,
        now: Timestamp,
    ) -> Result<(), Timestamp> {
        let (rate, interval) = if rate > REMEMBERED {
            (REMEMBERED, interval.mul_f64(f64::from(REMEMBERED) / f64::from(rate)))
        } else {
            (rate, interval)
        };
        while self.starts.front().is_some_and(|start| *start + interval <= now) {
            self.starts.pop_front();
        }
        let over = (self.starts.len() + 1).saturating_sub(rate as usize);
        match over.checked_sub(1).and_then(|last| self.starts.get(last)) {
            Some(start) => Err(*start + interval),
            None => {
                self.starts.push_back(now);
                Ok(())
            }
        }
    }

    /// The starts of the last interval, as far as they are known.
    pub(super) fn starts(&self) -> Vec<Timestamp> {
        self.starts.iter().copied().collect()
    }

    /// Takes the starts of whoever was before. With `and_unknown` it may have started more: so
    /// many that nothing starts within the interval after `now`.
    pub(super) fn resume(
        &mut self,
        started: Vec<Timestamp>,
        rate: u32,
        and_unknown: bool,
        now: Timestamp,
    ) {
        self.starts.extend(started);
        if and_unknown {
            self.starts.extend(std::iter::repeat_n(now, rate.min(REMEMBERED) as usize));
        }
        self.starts.make_contiguous().sort_unstable();
        let too_many = self.starts.len().saturating_sub(REMEMBERED as usize);
        self.starts.drain(..too_many);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    #[test]
    fn no_interval_holds_more_starts_than_the_rate() {
        let mut pace = Pace::default();
        let mut now = Timestamp::from_secs(1_000);
        let mut starts = Vec::new();
        for step in 0..500 {
            match pace.start(3, MINUTE, now) {
                Ok(()) => starts.push(now),
                Err(next) => now = next,
            }
            now = now + Duration::from_secs(step % 7);
        }
        for window in starts.windows(4) {
            assert!(window[3].since(window[0]) >= MINUTE, "{window:?}");
        }
        assert!(starts.len() > 100);
    }

    #[test]
    fn a_lowered_rate_holds_at_once() {
        let mut pace = Pace::default();
        let now = Timestamp::from_secs(1_000);
        for _ in 0..5 {
            pace.start(5, MINUTE, now).expect("within the rate");
        }
        assert_eq!(pace.start(1, MINUTE, now), Err(now + MINUTE));
    }

    #[test]
    fn starts_of_another_count() {
        let mut pace = Pace::default();
        let now = Timestamp::from_secs(1_000);
        let earlier = Timestamp::from_secs(990);
        pace.resume(vec![earlier; 2], 3, false, now);
        assert_eq!(pace.start(3, MINUTE, now), Ok(()));
        assert_eq!(pace.start(3, MINUTE, now), Err(earlier + MINUTE));

        let mut pace = Pace::default();
        pace.resume(vec![earlier], 3, true, now);
        assert_eq!(pace.start(3, MINUTE, now), Err(now + MINUTE));
    }

    #[test]
    fn a_high_rate_is_kept_over_a_shorter_interval() {
        let mut pace = Pace::default();
        let now = Timestamp::from_secs(1_000);
        for _ in 0..REMEMBERED {
            pace.start(REMEMBERED * 10, MINUTE, now).expect("within the rate");
        }
        assert_eq!(pace.start(REMEMBERED * 10, MINUTE, now), Err(now + MINUTE / 10));
    }
}
