//! Which refused webhooks are kept: anyone can send them, and they must not fill the disk.

use std::time::Duration;

use foldhash::HashMap;

use crate::{clock::Timestamp, id::InputId, lock::Lock};

const HOUR: Duration = Duration::from_secs(60 * 60);

/// How many inputs are told apart; past that, nothing more is kept until an hour has ended.
const MAX_INPUTS: usize = 10_000;

/// Counts by input what was kept in the current hour.
#[derive(Debug)]
pub(super) struct RefusedLogs {
    most: u32,
    hours: Lock<HashMap<InputId, Hour>>,
}

#[derive(Clone, Copy, Debug)]
struct Hour {
    ends_at: Timestamp,
    kept: u32,
}

impl RefusedLogs {
    /// Keeps at most so many of each input in an hour.
    pub(super) fn new(most: u32) -> Self {
        Self { most, hours: Lock::default() }
    }

    /// Whether another one of `input` is kept; it counts then.
    pub(super) fn takes(&self, input: InputId, now: Timestamp) -> bool {
        let mut hours = self.hours.lock();
        if !hours.contains_key(&input) && hours.len() >= MAX_INPUTS {
            hours.retain(|_, hour| now < hour.ends_at);
            if hours.len() >= MAX_INPUTS {
                return false;
            }
        }
        let new = Hour { ends_at: now + HOUR, kept: 0 };
        let hour = hours.entry(input).or_insert(new);
        if hour.ends_at <= now {
            *hour = new;
        }
        let takes = hour.kept < self.most;
        hour.kept += u32::from(takes);
        takes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_input_keeps_so_many_in_an_hour() {
        let refused = RefusedLogs::new(100);
        let (one, other) = (InputId::generate(), InputId::generate());
        let start = Timestamp::from_secs(1_760_000_000);
        let kept = |input, now| (0..1_000).filter(|_| refused.takes(input, now)).count();
        assert_eq!(kept(one, start), 100);
        assert_eq!(kept(other, start), 100);
        assert_eq!(kept(one, start + (HOUR - Duration::from_millis(1))), 0);
        assert_eq!(kept(one, start + HOUR), 100);
    }

    #[test]
    fn inputs_are_bounded() {
        let refused = RefusedLogs::new(1);
        let start = Timestamp::from_secs(1_760_000_000);
        let kept = (0..MAX_INPUTS + 5).filter(|_| refused.takes(InputId::generate(), start));
        assert_eq!(kept.count(), MAX_INPUTS);
        assert!(refused.takes(InputId::generate(), start + HOUR), "the hour has ended");
    }
}
