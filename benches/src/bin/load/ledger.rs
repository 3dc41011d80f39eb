//! Which events there were, and when: the sender's ledger and each output's
//! are compared at the end.

use std::{
    fs,
    path::Path,
    time::{SystemTime, UNIX_EPOCH},
};

use crate::Outcome;

/// Past it an ID is a mistake rather than an event.
const MOST_IDS: u64 = 50_000_000;

/// Microseconds of the wall clock, which the processes of one machine share.
pub(crate) fn now_micros() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

/// When each event was first seen, by its ID.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    /// 0 for never.
    moments: Vec<u64>,
    /// How many were seen.
    pub(crate) distinct: u64,
    /// How many were seen that had been seen before.
    pub(crate) again: u64,
}

impl Ledger {
    pub(crate) fn mark(&mut self, id: u64, moment: u64) -> Result<(), &'static str> {
        if id >= MOST_IDS {
            return Err("the ID is none of ours");
        }
        let index = id as usize;
        if index >= self.moments.len() {
            self.moments.resize(index + 1, 0);
        }
        match &mut self.moments[index] {
            first @ 0 => {
                *first = moment.max(1);
                self.distinct += 1;
            }
            _ => self.again += 1,
        }
        Ok(())
    }

    /// When the event was first seen.
    pub(crate) fn moment(&self, id: usize) -> Option<u64> {
        self.moments.get(id).copied().filter(|moment| *moment > 0)
    }

    /// Every event that was seen, with its moment.
    pub(crate) fn seen(&self) -> impl Iterator<Item = (usize, u64)> {
        self.moments.iter().copied().enumerate().filter(|(_, moment)| *moment > 0)
    }

    /// How many of these are not in `other`.
    pub(crate) fn missing_in(&self, other: &Self) -> u64 {
        self.seen().filter(|(id, _)| other.moment(*id).is_none()).count() as u64
    }

    pub(crate) fn save(&self, path: &Path) -> Outcome<()> {
        let bytes: Vec<u8> = self.moments.iter().flat_map(|moment| moment.to_le_bytes()).collect();
        Ok(fs::write(path, bytes)?)
    }

    pub(crate) fn load(path: &Path) -> Outcome<Self> {
        let bytes = fs::read(path)?;
        let (moments, _) = bytes.as_chunks::<8>();
        let moments: Vec<u64> = moments.iter().copied().map(u64::from_le_bytes).collect();
        let distinct = moments.iter().filter(|moment| **moment > 0).count() as u64;
        Ok(Self { moments, distinct, again: 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_found_and_what_came_twice_is_counted() {
        let (mut sent, mut got) = (Ledger::default(), Ledger::default());
        for id in [0, 1, 7] {
            sent.mark(id, 10).expect("an ID");
        }
        for (id, moment) in [(7, 20), (0, 21), (7, 22)] {
            got.mark(id, moment).expect("an ID");
        }
        assert_eq!((got.distinct, got.again, got.moment(7)), (2, 1, Some(20)));
        assert_eq!((sent.missing_in(&got), got.missing_in(&sent)), (1, 0));
        assert!(got.mark(u64::MAX, 1).is_err());

        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("ledger");
        got.save(&path).expect("written");
        let read = Ledger::load(&path).expect("read");
        assert!(read.seen().eq(got.seen()));
        assert_eq!(read.distinct, 2);
    }
}
