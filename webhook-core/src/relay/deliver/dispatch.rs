//! Step 4: deliveries leave their queues.
//!
//! Each output has a queue of its own with workers of its own, so that a hanging
//! destination holds up nobody else. A queue that has nothing to do has no
//! worker, and without due timers nothing runs and nothing is asked of the store.

use std::{
    mem,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use foldhash::HashMap;
use tokio::sync::Notify;
use tokio_util::task::TaskTracker;
use tracing::Instrument;

use super::{
    attempt::{Attempter, Report},
    claim::{Claimer, STORE_PAUSE},
    lease::{Lease, Term},
    queue::{Next, OutputQueue, QueueLimits, QueuedDelivery, Reservation, Slot},
    settle::Settler,
    timers::Timers,
    workers::{Workers, let_others_run},
};
use crate::{
    clock::{Clock, Timestamp},
    error::Error,
    id::{NodeId, OutputId},
    lock::Lock,
    model::Output,
    relay::{Observer, RelayOptions, byte_semaphore::ByteSemaphore, cache::BucketCache},
    store::DeliveryStore,
};

/// The queues of all outputs that have something to remember.
#[derive(Debug, Default)]
pub(super) struct Queues {
    pub(super) by_output: Lock<HashMap<OutputId, Arc<OutputQueue>>>,
    /// Whether this node holds what is accepted: from just before it dispatches.
    holding: AtomicBool,
    /// What is being accepted for whoever dispatches later.
    early: TaskTracker,
}

impl Queues {
    pub(super) fn known(&self, output_id: OutputId) -> Option<Arc<OutputQueue>> {
        self.by_output.lock().get(&output_id).cloned()
    }

    /// Forgets a queue that has nothing to remember.
    pub(super) fn leave(&self, queue: &OutputQueue) {
        let mut queues = self.by_output.lock();
        // Nobody can get at the queue while the map is locked, but some may have it already.
        let unused = |known: &Arc<OutputQueue>| Arc::strong_count(known) <= 2 && known.is_quiet();
        if queues.get(&queue.output_id).is_some_and(unused) {
            queues.remove(&queue.output_id);
        }
    }

    fn reserve(
        &self,
        output_id: OutputId,
        limits: QueueLimits,
        in_memory: bool,
        term: Term,
    ) -> Result<Reservation, Error> {
        let (queue, early) = {
            let mut queues = self.by_output.lock();
            let holding = self.holding.load(Ordering::Acquire);
            (queue_of(&mut queues, output_id, &limits), (!holding).then(|| self.early.token()))
        };
        queue.reserve(limits, in_memory, term, early)
    }

    /// From now on what is accepted is this node's. Returns the queues of before, with all
    /// that was accepted for them.
    pub(super) async fn begin(&self) -> HashMap<OutputId, Arc<OutputQueue>> {
        let before = {
            let mut queues = self.by_output.lock();
            self.holding.store(true, Ordering::Release);
            mem::take(&mut *queues)
        };
        self.early.close();
        self.early.wait().await;
        before
    }

    /// From now on what is accepted is left to whoever dispatches later.
    pub(super) fn end(&self) {
        self.holding.store(false, Ordering::Release);
    }
}

pub(super) fn queue_of(
    queues: &mut HashMap<OutputId, Arc<OutputQueue>>,
    id: OutputId,
    limits: &QueueLimits,
) -> Arc<OutputQueue> {
    let new = || Arc::new(OutputQueue::new(id, limits.clone()));
    Arc::clone(queues.entry(id).or_insert_with(new))
}

/// Attempts what has been stored until it has ended.
#[derive(Debug)]
pub(crate) struct Deliverer {
    pub(super) node: NodeId,
    pub(super) queues: Queues,
    pub(super) timers: Arc<Timers>,
    pub(super) workers: Arc<Workers>,
    pub(super) lease: Lease,
    /// Bounds the webhooks that wait in memory.
    pub(crate) memory: ByteSemaphore,
    pub(super) claimer: Claimer,
    pub(super) attempter: Attempter,
    pub(super) settler: Settler,
    pub(super) buckets: Arc<BucketCache>,
    pub(super) deliveries: Arc<dyn DeliveryStore>,
    pub(super) observer: Arc<dyn Observer>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) options: Arc<RelayOptions>,
    /// Told when a bucket has changed: an output may be deleted.
    pub(crate) changed: Notify,
}

impl Deliverer {
    /// Whether the output's queue takes another delivery.
    pub(crate) fn has_room(&self, output: &Output) -> Result<(), Error> {
        match self.queues.known(output.id) {
            Some(queue) => queue.has_room(&self.limits_of(Some(output))),
            None => Ok(()),
        }
    }

    /// A slot for a delivery that is about to be stored.
    pub(crate) fn reserve(&self, output: &Output, in_memory: bool) -> Result<Reservation, Error> {
        self.queues.reserve(output.id, self.limits_of(Some(output)), in_memory, self.lease.term())
    }

    /// Whether what is accepted for the output waits for its owner.
    pub(crate) fn is_paused(&self, output: &Output) -> bool {
        !output.pauses.is_empty() && output.paused_until(self.clock.now()).is_some()
    }

    /// The limits of an output, which may be gone.
    pub(super) fn limits_of(&self, output: Option<&Output>) -> QueueLimits {
        match output {
            Some(output) => QueueLimits::of(output, &self.options, self.clock.now()),
            None => QueueLimits::unthrottled(&self.options),
        }
    }

    /// The node that holds a delivery from its commit on.
    pub(crate) fn holder(&self, reservation: &Reservation) -> Option<NodeId> {
        (reservation.slot() == Slot::InMemory).then_some(self.node)
    }

    /// Makes sure that what this node is about to hold stays its own for a while.
    pub(crate) async fn hold_lease(&self) -> Result<(), Error> {
        self.lease.hold().await
    }

    /// A delivery has been stored and is this node's to attempt.
    pub(crate) fn dispatch(self: &Arc<Self>, reservation: Reservation, delivery: QueuedDelivery) {
        self.observer.pending(1);
        if reservation.is_early() {
            // Whoever dispatches finds it in the store.
            drop(reservation.take(delivery));
            return;
        }
        let (queue, first) = match self.workers.are_stopped() {
            false => reservation.start(delivery),
            true => (reservation.take(delivery), None),
        };
        self.watch_deadline(&queue);
        match first {
            // On the thread that received it: another's would have to be woken.
            Some(first) => self.spawn_worker(&queue, Some(first)),
            None => self.start_workers(&queue),
        }
    }

    /// This node may hold a delivery in the store that is in no queue here.
    pub(crate) fn recover(&self, reservation: &Reservation) {
        self.timers.recover(reservation.queue(), self.clock.now());
    }

    pub(super) fn start_workers(self: &Arc<Self>, queue: &Arc<OutputQueue>) {
        while !self.workers.are_stopped() && queue.start_worker() {
            self.spawn_worker(queue, None);
        }
    }

    fn spawn_worker(self: &Arc<Self>, queue: &Arc<OutputQueue>, first: Option<QueuedDelivery>) {
        let (deliverer, queue) = (Arc::clone(self), Arc::clone(queue));
        // Boxed: a task moves what it runs a few times, and this is large.
        self.workers.spawn(Box::pin(async move {
            match first {
                // Senders whose webhooks were stored together are answered before
                // the first of them is delivered: so each of the other sides has
                // much to do at once, and is not woken for every webhook.
                Some(_) => let_others_run().await,
                None => queue.worker_started(),
            }
            deliverer.work(&queue, first).await;
            deliverer.queues.leave(&queue);
        }));
    }

    /// A worker: takes deliveries from its queue until there is none to take,
    /// after the one that it may be started with.
    async fn work(self: &Arc<Self>, queue: &Arc<OutputQueue>, mut first: Option<QueuedDelivery>) {
        loop {
            let bucket = match self.buckets.of_output(queue.output_id).await {
                Ok(bucket) => bucket,
                Err(error) => {
                    tracing::error!(output = %queue.output_id, %error, "the bucket cannot be read");
                    queue.worker_ended(first);
                    return self.pause(queue, self.clock.now() + STORE_PAUSE);
                }
            };
            let output = bucket.as_ref().and_then(|bucket| bucket.output(queue.output_id));
            let limits = self.limits_of(output);
            let stopping = self.workers.are_stopped();
            let term = if stopping { None } else { self.lease.lasting_term().await };
            let next = match first.take().filter(|_| !stopping) {
                Some(delivery) if !limits.are_paused() && Some(delivery.term) == term => {
                    Next::Attempt(delivery)
                }
                waits => {
                    waits.into_iter().for_each(|delivery| queue.put_back(delivery));
                    queue.next(limits.clone(), self.clock.now(), term, stopping)
                }
            };
            match next {
                Next::Attempt(delivery) => {
                    let (at, pending) = (bucket.as_deref().zip(output), &delivery.pending);
                    let turn = async {
                        let report = match at {
                            Some((bucket, output)) => {
                                self.attempter.attempt(bucket, output, pending).await
                            }
                            None => Report::orphaned(),
                        };
                        self.settler.settle(queue, at, pending, report).await;
                    };
                    turn.instrument(self.observer.span(pending)).await;
                }
                Next::Expire(delivery) => {
                    let (at, pending) = (bucket.as_deref().zip(output), &delivery.pending);
                    let report = queue.unsent(pending, self.clock.now());
                    self.settler.settle(queue, at, pending, report).await;
                }
                Next::Claim(limit) => {
                    if self.claimer.claim(&self.lease, queue, limits, limit).await {
                        self.watch_deadline(queue);
                        self.start_workers(queue);
                    }
                }
                Next::Own => {
                    let counted = self.claimer.own(&self.lease, queue, term).await;
                    self.observer.pending(counted);
                }
                Next::Leave => self.observer.pending(self.claimer.leave(queue).await),
                Next::Recover => self.claimer.free(queue).await,
                Next::Until(moment) => return self.pause(queue, moment),
                Next::Idle => return,
            }
        }
    }

    pub(super) fn pause(&self, queue: &OutputQueue, until: Timestamp) {
        self.timers.add(until, queue.output_id);
    }
}
