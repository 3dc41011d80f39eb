//! What the thread writes next.

use std::{
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread},
    time::{Duration, Instant},
};

use tokio::sync::mpsc;

use super::super::{
    backlog::{Backlog, BatchLimits},
    batch::Queued,
};

/// How long outcomes wait for something to be stored, to share its commit.
///
/// Nobody is acknowledged by an outcome, and after a crash it is found out
/// again. A commit of its own would hold up the next webhook, whose sender does
/// wait, by as much as that takes.
const PATIENCE: Duration = Duration::from_micros(500);

/// The queue as a thread sees it.
#[derive(Debug)]
pub(super) struct Jobs {
    queue: mpsc::Receiver<Queued>,
    waker: Waker,
}

impl Jobs {
    /// For the thread that calls it.
    pub(super) fn new(queue: mpsc::Receiver<Queued>) -> Self {
        Self { queue, waker: Waker::from(Arc::new(Unpark(thread::current()))) }
    }

    /// Waits for something that should be written now, until a moment at most. Empty when it is
    /// woken for something else. None once the queue is closed and empty.
    pub(super) fn wait(&mut self, most: usize, until: Option<Instant>) -> Option<Vec<Queued>> {
        let mut taken = match self.queue.poll_recv(&mut Context::from_waker(&self.waker)) {
            Poll::Ready(first) => vec![first?],
            Poll::Pending => {
                let left = until.map(|until| until.saturating_duration_since(Instant::now()));
                left.map_or_else(thread::park, thread::park_timeout);
                self.queue.try_recv().into_iter().collect()
            }
        };
        let deadline = Instant::now() + PATIENCE;
        while taken.last().is_some_and(Queued::can_wait)
            && taken.len() < most
            && let Some(job) = self.next_until(deadline)
        {
            taken.push(job);
        }
        Some(taken)
    }

    /// Adds all that has come meanwhile.
    pub(super) fn fill(&mut self, backlog: &mut Backlog, limits: BatchLimits) {
        backlog.fill(&mut self.queue, limits);
    }

    /// The next one; none when it does not come in time, or when none comes any more.
    fn next_until(&mut self, deadline: Instant) -> Option<Queued> {
        let mut next = pin!(self.queue.recv());
        loop {
            match next.as_mut().poll(&mut Context::from_waker(&self.waker)) {
                Poll::Ready(job) => return job,
                Poll::Pending => {
                    let left = deadline.checked_duration_since(Instant::now())?;
                    thread::park_timeout(left);
                }
            }
        }
    }
}

impl Queued {
    fn can_wait(&self) -> bool {
        matches!(self, Self::Settle(_))
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;
    use webhook_core::NodeId;

    use super::{super::tests::sent, *};
    use crate::writer::{
        Incoming, WithRuns,
        job::{Job, Op},
        queue::Queue,
        tests::accept,
    };

    fn job<O: Op>(op: O) -> Queued
    where
        Queued: From<Job<O>>,
    {
        let reserved = Arc::new(Queue::new(1_000)).reserve(1).expect("there is room");
        Job { op, reply: oneshot::channel().0, reserved }.into()
    }

    fn outcome() -> Queued {
        job(WithRuns::from(sent(&accept(1), NodeId::generate())))
    }

    fn webhook() -> Queued {
        job(WithRuns::from(Incoming::from(accept(1))))
    }

    #[test]
    fn outcomes_wait_for_something_to_be_stored() {
        let (queue, receiver) = mpsc::channel(10);
        for job in [outcome(), outcome(), webhook(), outcome(), outcome()] {
            queue.try_send(job).expect("there is room");
        }
        let mut jobs = Jobs::new(receiver);
        let taken = jobs.wait(9, None).expect("the queue is open");
        assert_eq!(taken.len(), 3, "up to the webhook, which does not wait");
        let (mut backlog, limits) = (Backlog::default(), BatchLimits { operations: 4, bytes: 99 });
        taken.into_iter().for_each(|job| backlog.push(job));
        jobs.fill(&mut backlog, limits);
        assert_eq!(backlog.next_batch(limits).len(), 4, "and no more than fit");
        assert!(backlog.is_empty());
        let last = jobs.wait(9, None).expect("the queue is open");
        assert_eq!(last.len(), 1, "not for ever, though the queue is open");
        let none = jobs.wait(9, Some(Instant::now())).expect("the queue is open");
        assert!(none.is_empty(), "the moment has come");
    }

    #[test]
    fn a_closed_queue_is_emptied_and_then_ends() {
        let (queue, receiver) = mpsc::channel(10);
        queue.try_send(outcome()).expect("there is room");
        drop(queue);
        let mut jobs = Jobs::new(receiver);
        assert_eq!(jobs.wait(9, None).map(|taken| taken.len()), Some(1));
        assert!(jobs.wait(9, None).is_none());
    }
}
