//! Which successful runs of a function are recorded: the first of each second, and some of the
//! others.

use std::mem;

use crate::{clock::Timestamp, lock::Lock};

/// Beyond the first runs of a second one run of 100 has a record.
const ONE_OF: u64 = 100;

/// Decides which runs of one function have a record.
#[derive(Debug, Default)]
pub(crate) struct Sample(Lock<Taken>);

#[derive(Debug, Default)]
struct Taken {
    /// The second of the latest run, since 1970.
    second: i64,
    /// The runs of that second that are recorded.
    recorded: usize,
    /// The runs since the last record.
    since: u64,
}

impl Sample {
    /// For how many runs the record of this one stands; none when it has no record. The runs that
    /// went without one since the last record are in that number.
    pub(crate) fn take(&self, at: Timestamp, each_second: usize) -> Option<u64> {
        let mut taken = self.0.lock();
        let second = at.as_secs();
        if taken.second != second {
            *taken = Taken { second, recorded: 0, ..*taken };
        }
        taken.since += 1;
        if taken.recorded >= each_second && taken.since < ONE_OF {
            return None;
        }
        taken.recorded += 1;
        Some(mem::take(&mut taken.since))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn taken(sample: &Sample, millis: u64, runs: u64, each_second: usize) -> Vec<u64> {
        let at = Timestamp::default() + Duration::from_millis(millis);
        (0..runs).filter_map(|_| sample.take(at, each_second)).collect()
    }

    #[test]
    fn each_run_is_recorded_or_another_stands_for_it() {
        let sample = Sample::default();
        assert_eq!(taken(&sample, 0, 2, 3), [1, 1]);
        assert_eq!(taken(&sample, 999, 201, 3), [1, 100, 100]);
        assert!(taken(&sample, 999, 7, 3).is_empty());
        assert_eq!(taken(&sample, 1_000, 5, 3), [8, 1, 1]);
        assert_eq!(taken(&sample, 5_000, 2, 3), [3, 1]);
    }

    #[test]
    fn all_can_be_recorded_and_none_but_a_sample() {
        assert_eq!(taken(&Sample::default(), 0, 1_000, usize::MAX), [1; 1_000]);
        assert_eq!(taken(&Sample::default(), 0, 250, 0), [100, 100]);
    }
}
