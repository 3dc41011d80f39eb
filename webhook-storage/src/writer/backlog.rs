//! What a writer has taken from the queue, in the order of its commits.

use std::collections::VecDeque;

use tokio::sync::mpsc;

use super::batch::Queued;
use crate::StorageOptions;

/// The most bytes of an operation that does not wait behind larger ones.
const SMALL_BYTES: usize = 64 << 10;

/// What shares a commit at most.
#[derive(Clone, Copy, Debug)]
pub(super) struct BatchLimits {
    /// Operations.
    pub(super) operations: usize,
    /// Bytes of webhooks and answers, unless it is one operation.
    pub(super) bytes: usize,
}

impl BatchLimits {
    pub(super) fn of(options: &StorageOptions) -> Self {
        Self { operations: options.batch_operations.max(1), bytes: options.batch_bytes }
    }
}

/// Small and large operations, which take turns: what is small shares no commit
/// with what is large, and waits for one commit of large ones at most, however
/// many of them are queued. So it is the other way round.
///
/// None depends on another that waits: who asked for something that does is
/// answered first.
#[derive(Debug, Default)]
pub(super) struct Backlog {
    /// Those of at most [`SMALL_BYTES`], in the order of the queue.
    small: VecDeque<Queued>,
    /// All others, in the order of the queue.
    large: VecDeque<Queued>,
    /// The last batch left large ones waiting.
    large_is_next: bool,
}

impl Backlog {
    pub(super) fn push(&mut self, job: Queued) {
        match job.size_bytes() <= SMALL_BYTES {
            true => self.small.push_back(job),
            false => self.large.push_back(job),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.small.is_empty() && self.large.is_empty()
    }

    /// Whether more could change the next batch. What is small is looked for
    /// behind so many large ones.
    pub(super) fn has_room(&self, limits: BatchLimits) -> bool {
        self.small.len() < limits.operations && self.large.len() < 2 * limits.operations
    }

    /// Takes what has come meanwhile.
    pub(super) fn fill(&mut self, queue: &mut mpsc::Receiver<Queued>, limits: BatchLimits) {
        while self.has_room(limits)
            && let Ok(job) = queue.try_recv()
        {
            self.push(job);
        }
    }

    /// As many operations as fit, at least one; none when there are none.
    pub(super) fn next_batch(&mut self, limits: BatchLimits) -> Vec<Queued> {
        let large = self.small.is_empty() || (self.large_is_next && !self.large.is_empty());
        self.large_is_next = !large && !self.large.is_empty();
        let jobs = if large { &mut self.large } else { &mut self.small };
        let mut bytes = 0_usize;
        let fit = jobs.iter().take(limits.operations).take_while(|job| {
            bytes = bytes.saturating_add(job.size_bytes());
            bytes <= limits.bytes
        });
        let fit = fit.count().max(1).min(jobs.len());
        jobs.drain(..fit).collect()
    }
}

#[cfg(all(test, feature = "sqlite"))]
mod tests {
    use std::sync::Arc;

    use tokio::sync::oneshot;

    use super::*;
    use crate::writer::{Incoming, WithRuns, job::Job, queue::Queue, tests::accept};

    const LIMITS: BatchLimits = BatchLimits { operations: 4, bytes: 1 << 20 };

    fn backlog(sizes: impl IntoIterator<Item = usize>) -> Backlog {
        let mut backlog = Backlog::default();
        let queue = Arc::new(Queue::new(usize::MAX));
        for bytes in sizes {
            let reserved = queue.reserve(bytes).expect("there is room");
            let op = WithRuns::from(Incoming::from(accept(0)));
            backlog.push(Job { op, reply: oneshot::channel().0, reserved }.into());
        }
        backlog
    }

    fn batches(mut backlog: Backlog) -> Vec<Vec<usize>> {
        let batch = || Some(backlog.next_batch(LIMITS)).filter(|batch| !batch.is_empty());
        let sizes = |jobs: Vec<Queued>| jobs.iter().map(Queued::size_bytes).collect();
        std::iter::from_fn(batch).map(sizes).collect()
    }

    #[test]
    fn what_is_small_waits_for_no_more_than_one_batch_of_what_is_large() {
        let large = 400_000;
        let some = [large, large, large, large, 1, 2, 3, 4, 5, 6];
        let expected: [&[usize]; 4] = [&[1, 2, 3, 4], &[large; 2], &[5, 6], &[large; 2]];
        assert_eq!(batches(backlog(some)), expected);

        let mut backlog = backlog([large; 6]);
        assert_eq!(backlog.next_batch(LIMITS).len(), 2, "bounded by bytes");
        backlog.push(self::backlog([7]).small.remove(0).expect("one"));
        assert_eq!(batches(backlog)[..2], [vec![7], vec![large; 2]], "what came last is next");
    }

    #[test]
    fn what_is_large_is_not_passed_over_for_ever() {
        let giant = 5 << 20;
        let mut backlog = backlog((1..=40).chain([giant, giant]));
        let mut sizes = Vec::new();
        for _ in 0..4 {
            sizes.extend(backlog.next_batch(LIMITS).iter().map(Queued::size_bytes));
        }
        assert_eq!(sizes, [1, 2, 3, 4, giant, 5, 6, 7, 8, giant]);
    }

    #[test]
    fn batches_and_what_is_taken_are_bounded() {
        assert!(batches(backlog([])).is_empty());
        assert_eq!(batches(backlog([1; 9])).iter().map(Vec::len).collect::<Vec<_>>(), [4, 4, 1]);
        assert!(backlog([1; 3]).has_room(LIMITS));
        assert!(!backlog([1; 4]).has_room(LIMITS));
        assert!(backlog([100_000; 7]).has_room(LIMITS));
        assert!(!backlog([100_000; 8]).has_room(LIMITS));
    }
}
