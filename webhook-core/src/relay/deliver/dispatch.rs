//! Step 4: deliveries leave their queues.
//!
//! Each output has a queue of its own with workers of its own, so that a hanging
//! destination holds up nobody else. A queue that has nothing to do has no
//! worker, and without due timers nothing runs and nothing is asked of the store.

use std::{
    future::poll_fn,
    mem,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::Poll,
    time::Duration,
};

use foldhash::HashMap;
use tokio_util::task::TaskTracker;

use super::{
    attempt::{Attempter, Report},
    lease::Lease,
    queue::{Next, OutputQueue, QueueLimits, QueuedDelivery, Reservation, Slot},
    settle::Settler,
    timers::Timers,
    workers::Workers,
};
use crate::{
    clock::{Clock, Timestamp},
    error::Error,
    forward::Forwarder,
    id::{NodeId, OutputId},
    model::Output,
    relay::{
        Observer, RelayOptions, byte_semaphore::ByteSemaphore, cache::BucketCache,
        clients::Clients, functions::Functions, waiters::Waiters,
    },
    store::{Claim, DeliveryStore},
};

/// How long a queue waits when the store did not answer.
const STORE_PAUSE: Duration = Duration::from_secs(1);

/// The queues of all outputs that have something to remember.
#[derive(Debug, Default)]
struct Queues {
    by_output: Mutex<HashMap<OutputId, Arc<OutputQueue>>>,
    /// Whether this node holds what is accepted: from just before it dispatches.
    holding: AtomicBool,
    /// What is being accepted for whoever dispatches later.
    early: TaskTracker,
}

impl Queues {
    fn by_output(&self) -> MutexGuard<'_, HashMap<OutputId, Arc<OutputQueue>>> {
        self.by_output.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn known(&self, output_id: OutputId) -> Option<Arc<OutputQueue>> {
        self.by_output().get(&output_id).cloned()
    }

    /// Forgets a queue that has nothing to remember.
    fn leave(&self, queue: &OutputQueue) {
        let mut queues = self.by_output();
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
    ) -> Result<Reservation, Error> {
        let (queue, early) = {
            let mut queues = self.by_output();
            let holding = self.holding.load(Ordering::Acquire);
            (queue_of(&mut queues, output_id, limits), (!holding).then(|| self.early.token()))
        };
        queue.reserve(limits, in_memory, early)
    }

    /// From now on what is accepted is this node's. Returns the queues of before, with all
    /// that was accepted for them.
    async fn begin(&self) -> HashMap<OutputId, Arc<OutputQueue>> {
        let before = {
            let mut queues = self.by_output();
            self.holding.store(true, Ordering::Release);
            mem::take(&mut *queues)
        };
        self.early.close();
        self.early.wait().await;
        before
    }

    /// From now on what is accepted is left to whoever dispatches later.
    fn end(&self) {
        self.holding.store(false, Ordering::Release);
    }
}

fn queue_of(
    queues: &mut HashMap<OutputId, Arc<OutputQueue>>,
    id: OutputId,
    limits: QueueLimits,
) -> Arc<OutputQueue> {
    Arc::clone(queues.entry(id).or_insert_with(|| Arc::new(OutputQueue::new(id, limits))))
}

/// Lets run first what is ready on this thread. Those who do so together go on in
/// order; from tokio's `yield_now` the last one would return first.
async fn let_others_run() {
    let mut has_waited = false;
    poll_fn(|cx| match mem::replace(&mut has_waited, true) {
        true => Poll::Ready(()),
        false => {
            cx.waker().wake_by_ref();
            Poll::Pending
        }
    })
    .await;
}

/// What a [`Deliverer`] is made of.
#[derive(Debug)]
pub(in crate::relay) struct DelivererParts {
    pub(in crate::relay) node: NodeId,
    pub(in crate::relay) deliveries: Arc<dyn DeliveryStore>,
    pub(in crate::relay) buckets: Arc<BucketCache>,
    pub(in crate::relay) forwarder: Arc<dyn Forwarder>,
    pub(in crate::relay) functions: Arc<Functions>,
    pub(in crate::relay) clients: Arc<Clients>,
    pub(in crate::relay) waiters: Arc<Waiters>,
    pub(in crate::relay) workers: Arc<Workers>,
    pub(in crate::relay) observer: Arc<dyn Observer>,
    pub(in crate::relay) clock: Arc<dyn Clock>,
    pub(in crate::relay) options: Arc<RelayOptions>,
}

/// Attempts what has been stored until it has ended.
#[derive(Debug)]
pub(in crate::relay) struct Deliverer {
    node: NodeId,
    queues: Queues,
    timers: Arc<Timers>,
    workers: Arc<Workers>,
    lease: Lease,
    /// Bounds the webhooks that wait in memory.
    memory: ByteSemaphore,
    attempter: Attempter,
    settler: Settler,
    buckets: Arc<BucketCache>,
    deliveries: Arc<dyn DeliveryStore>,
    observer: Arc<dyn Observer>,
    clock: Arc<dyn Clock>,
    options: Arc<RelayOptions>,
}

impl Deliverer {
    pub(in crate::relay) fn new(parts: DelivererParts) -> Self {
        let DelivererParts { node, deliveries, buckets, forwarder, functions, .. } = parts;
        let DelivererParts { clients, waiters, workers, observer, clock, options, .. } = parts;
        let timers = Arc::new(Timers::default());
        Self {
            node,
            queues: Queues::default(),
            lease: Lease::new(node, options.lease, deliveries.clone(), clock.clone()),
            memory: ByteSemaphore::new(options.memory_budget_bytes),
            attempter: Attempter {
                forwarder,
                functions: functions.clone(),
                waiters: waiters.clone(),
                options: options.clone(),
            },
            settler: Settler {
                node,
                deliveries: deliveries.clone(),
                timers: timers.clone(),
                workers: workers.clone(),
                functions,
                clients,
                waiters,
                observer: observer.clone(),
                clock: clock.clone(),
                options: options.clone(),
            },
            timers,
            workers,
            buckets,
            deliveries,
            observer,
            clock,
            options,
        }
    }

    /// Finds what waits in the store, and from now on delivers.
    pub(in crate::relay) async fn start(self: &Arc<Self>) -> Result<(), Error> {
        // What this node held in a former life is free for it again.
        self.deliveries.release(self.node, None).await?;
        // What is accepted until then is found in the store, what is accepted later waits
        // in its queue: nothing is in neither, and nothing is counted twice.
        let before = self.queues.begin().await;
        let counted: i64 = before.values().map(|queue| queue.pending()).sum();
        self.observer.pending(-counted);
        let now = self.clock.now();
        let mut to_wake = Vec::new();
        for found in self.deliveries.lanes(now).await? {
            let limits = QueueLimits::unthrottled(&self.options);
            let queue = queue_of(&mut self.queues.by_output(), found.output_id, limits);
            queue.found(found.pending, found.due_at);
            self.observer.pending(i64::try_from(found.pending).unwrap_or(i64::MAX));
            self.timers.add(found.due_at, found.output_id);
            if found.due_at <= now {
                to_wake.push(found.output_id);
            }
        }
        self.workers.begin();
        let queues = self.queues.by_output();
        to_wake.extend(queues.values().filter(|queue| queue.has_work()).map(|q| q.output_id));
        drop(queues);
        self.wake(to_wake);
        Ok(())
    }

    /// Returns when nothing is being attempted.
    pub(in crate::relay) async fn idle(&self) {
        self.workers.ended().await;
    }

    /// Finishes what is in flight, for `drain_timeout` at most, and leaves the rest to others.
    pub(in crate::relay) async fn stop(&self) -> Result<(), Error> {
        self.workers.stop();
        self.queues.end();
        let drained = tokio::time::timeout(self.options.drain_timeout, self.workers.ended()).await;
        if drained.is_err() {
            tracing::warn!("stopped with deliveries in flight; they are attempted again");
        }
        self.lease.end();
        self.deliveries.release(self.node, None).await
    }

    /// Wakes queues when it is time, and keeps the lease while something is held, for as
    /// long as this is awaited. An idle relay lets its lease run out.
    pub(in crate::relay) async fn run(self: &Arc<Self>) {
        let waking = async {
            loop {
                let due = self.timers.due(&*self.clock).await;
                self.wake(due);
            }
        };
        let holding = async {
            loop {
                self.lease.check_interval().await;
                if !self.workers.are_idle()
                    && let Err(error) = self.lease.hold().await
                {
                    tracing::error!(%error, "the lease cannot be renewed");
                }
            }
        };
        tokio::join!(waking, holding);
    }

    /// Whether the output's queue takes another delivery.
    pub(in crate::relay) fn has_room(&self, output: &Output) -> Result<(), Error> {
        match self.queues.known(output.id) {
            Some(queue) => queue.has_room(&QueueLimits::of(&output.spec, &self.options)),
            None => Ok(()),
        }
    }

    /// A slot for a delivery that is about to be stored.
    pub(in crate::relay) fn reserve(
        &self,
        output: &Output,
        in_memory: bool,
    ) -> Result<Reservation, Error> {
        let limits = QueueLimits::of(&output.spec, &self.options);
        self.queues.reserve(output.id, limits, in_memory)
    }

    /// The node that holds a delivery from its commit on.
    pub(in crate::relay) fn holder(&self, reservation: &Reservation) -> Option<NodeId> {
        (reservation.slot() == Slot::InMemory).then_some(self.node)
    }

    /// Makes sure that what this node is about to hold stays its own for a while.
    pub(in crate::relay) async fn hold_lease(&self) -> Result<(), Error> {
        self.lease.hold().await
    }

    /// Bounds the webhooks that wait in memory.
    pub(in crate::relay) fn memory(&self) -> &ByteSemaphore {
        &self.memory
    }

    /// A delivery has been stored and is this node's to attempt.
    pub(in crate::relay) fn dispatch(
        self: &Arc<Self>,
        reservation: Reservation,
        delivery: QueuedDelivery,
    ) {
        self.observer.pending(1);
        if reservation.is_early() {
            // Whoever dispatches finds it in the store.
            drop(reservation.take(delivery));
            return;
        }
        let expires_at = reservation.expires_at(delivery.pending.created_at);
        let (queue, first) = match self.workers.are_stopped() {
            false => reservation.start(delivery),
            true => (reservation.take(delivery), None),
        };
        if let Some(moment) = expires_at {
            self.timers.add(moment, queue.output_id);
        }
        match first {
            // On the thread that received it: another's would have to be woken.
            Some(first) => self.spawn_worker(&queue, Some(first)),
            None => self.start_workers(&queue),
        }
    }

    /// This node may hold a delivery in the store that is in no queue here.
    pub(in crate::relay) fn recover(&self, reservation: &Reservation) {
        self.timers.recover(reservation.queue(), self.clock.now());
    }

    fn wake(self: &Arc<Self>, outputs: Vec<OutputId>) {
        for queue in outputs.into_iter().filter_map(|id| self.queues.known(id)) {
            for delivery in queue.take_expired(self.clock.now()) {
                let (deliverer, queue) = (Arc::clone(self), Arc::clone(&queue));
                self.workers.spawn(async move {
                    let settler = &deliverer.settler;
                    settler.settle(&queue, None, &delivery.pending, Report::expired()).await;
                });
            }
            self.start_workers(&queue);
        }
    }

    fn start_workers(self: &Arc<Self>, queue: &Arc<OutputQueue>) {
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
            let limits = match output {
                Some(output) => QueueLimits::of(&output.spec, &self.options),
                None => QueueLimits::unthrottled(&self.options),
            };
            let stopping = self.workers.are_stopped();
            let next = match first.take().filter(|_| !stopping) {
                Some(delivery) => Next::Attempt(delivery),
                None => queue.next(limits, self.clock.now(), stopping),
            };
            match next {
                Next::Attempt(delivery) => {
                    let at = bucket.as_deref().zip(output);
                    let report = match at {
                        Some((bucket, output)) => {
                            self.attempter.attempt(bucket, output, &delivery.pending).await
                        }
                        None => Report::orphaned(),
                    };
                    self.settler.settle(queue, at, &delivery.pending, report).await;
                }
                Next::Expire(delivery) => {
                    let report = Report::expired();
                    self.settler.settle(queue, None, &delivery.pending, report).await;
                }
                Next::Claim(limit) => self.claim(queue, limits, limit).await,
                Next::Recover => self.free(queue).await,
                Next::Until(moment) => return self.pause(queue, moment),
                Next::Idle => return,
            }
        }
    }

    fn pause(&self, queue: &OutputQueue, until: Timestamp) {
        self.timers.add(until, queue.output_id);
    }

    /// Brings due deliveries from the store into the queue.
    async fn claim(self: &Arc<Self>, queue: &Arc<OutputQueue>, limits: QueueLimits, limit: usize) {
        let now = self.clock.now();
        let claim = Claim {
            node: self.node,
            output_id: queue.output_id,
            now,
            limit: if self.memory.is_spent() { limit.min(8) } else { limit },
            order: limits.order(),
        };
        let claimed = match self.lease.hold().await {
            Ok(()) => self.deliveries.claim(claim).await,
            Err(error) => Err(error),
        };
        match claimed {
            Ok(claimed) => {
                let deliveries = claimed.deliveries.into_iter().map(|pending| {
                    let bytes = self.memory.take_anyway(pending.webhook.request.size_bytes());
                    QueuedDelivery::new(pending, Some(Arc::new(bytes)))
                });
                queue.claimed(deliveries.collect(), claimed.next_due_at, now);
                self.start_workers(queue);
            }
            Err(error) => {
                tracing::warn!(output = %queue.output_id, %error, "deliveries cannot be claimed");
                queue.claim_failed(now + STORE_PAUSE);
            }
        }
    }

    /// Frees what this node holds of the queue's output and has in no queue.
    async fn free(&self, queue: &OutputQueue) {
        match self.deliveries.release(self.node, Some(queue.output_id)).await {
            Ok(()) => queue.recovered(),
            Err(error) => {
                tracing::warn!(output = %queue.output_id, %error, "deliveries cannot be freed");
                queue.not_recovered(self.clock.now() + STORE_PAUSE);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::let_others_run;

    #[tokio::test]
    async fn who_lets_others_run_goes_on_after_them_and_in_turn() {
        let (say, said) = mpsc::channel();
        for number in 0..3 {
            let say = say.clone();
            tokio::spawn(async move {
                let _ = say.send(number);
                let_others_run().await;
                let _ = say.send(10 + number);
            });
        }
        drop(say);
        let all = tokio::task::spawn_blocking(move || said.iter().collect::<Vec<_>>()).await;
        assert_eq!(all.ok(), Some(vec![0, 1, 2, 10, 11, 12]));
    }
}
