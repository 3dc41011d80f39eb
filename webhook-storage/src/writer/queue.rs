//! What waits, in numbers.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
};

use super::{WriteStats, health::Health};
use crate::fold;

/// Counts what waits and what was written, and bounds the bytes that wait.
#[derive(Debug)]
pub(super) struct Queue {
    /// The most bytes that wait.
    max_bytes: usize,
    /// The bytes of the operations that wait or are being written.
    bytes: AtomicUsize,
    /// The operations that wait or are being written.
    operations: AtomicUsize,
    /// The transactions since the store was opened.
    commits: AtomicU64,
    /// The operations in those.
    committed: AtomicU64,
    /// Commits and operations at the last fold.
    folded: Mutex<(u64, u64)>,
    /// Whether what was written last could be.
    pub(super) health: Health,
}

impl Queue {
    pub(super) fn new(max_bytes: usize) -> Self {
        Self {
            max_bytes,
            bytes: AtomicUsize::new(0),
            operations: AtomicUsize::new(0),
            commits: AtomicU64::new(0),
            committed: AtomicU64::new(0),
            folded: Mutex::new((0, 0)),
            health: Health::new(),
        }
    }

    /// Room for one operation of this size until the guard is dropped. One that
    /// is larger than all the room gets it when it is the only one.
    pub(super) fn reserve(self: &Arc<Self>, bytes: usize) -> Option<Reserved> {
        let reserved = self.bytes.try_update(Relaxed, Relaxed, |waiting| {
            let after = waiting.saturating_add(bytes);
            (waiting == 0 || after <= self.max_bytes).then_some(after)
        });
        reserved.ok()?;
        self.operations.fetch_add(1, Relaxed);
        Some(Reserved { queue: self.clone(), bytes })
    }

    pub(super) fn committed(&self, operations: usize) {
        self.commits.fetch_add(1, Relaxed);
        self.committed.fetch_add(operations as u64, Relaxed);
    }

    /// After how many commits it is time to fold what they have appended, if it is; the next
    /// time is then so many commits away.
    pub(super) fn commits_to_fold(&self) -> Option<u64> {
        let now = (self.commits.load(Relaxed), self.committed.load(Relaxed));
        let mut folded = self.folded.lock().unwrap_or_else(PoisonError::into_inner);
        let commits = now.0.saturating_sub(folded.0);
        let operations = now.1.saturating_sub(folded.1);
        let is_due = commits >= fold::COMMITS || operations >= fold::OPERATIONS;
        is_due.then(|| {
            *folded = now;
            commits
        })
    }

    pub(super) fn stats(&self) -> WriteStats {
        WriteStats {
            commits: self.commits.load(Relaxed),
            operations: self.committed.load(Relaxed),
            queued: self.operations.load(Relaxed),
            queued_bytes: self.bytes.load(Relaxed),
        }
    }
}

/// Gives its room back when it is dropped.
#[derive(Debug)]
pub(super) struct Reserved {
    queue: Arc<Queue>,
    /// How much it is.
    pub(super) bytes: usize,
}

impl Drop for Reserved {
    fn drop(&mut self) {
        self.queue.bytes.fetch_sub(self.bytes, Relaxed);
        self.queue.operations.fetch_sub(1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_bounded_and_given_back() {
        let queue = Arc::new(Queue::new(100));
        let whole = queue.reserve(1_000).expect("the first one may be larger than the room");
        assert!(queue.reserve(1).is_none());
        drop(whole);
        let (first, second) = (queue.reserve(60), queue.reserve(40));
        assert!(first.is_some() && second.is_some());
        assert!(queue.reserve(1).is_none());
        assert_eq!((queue.stats().queued, queue.stats().queued_bytes), (2, 100));
        drop((first, second));
        assert_eq!((queue.stats().queued, queue.stats().queued_bytes), (0, 0));
    }
}
