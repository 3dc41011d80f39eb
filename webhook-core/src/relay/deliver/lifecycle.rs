//! How delivering begins and ends.

use std::sync::Arc;

use tokio::sync::Notify;

use super::{
    attempt::Attempter,
    claim::Claimer,
    credentials::Credentials,
    dispatch::{Deliverer, Queues, queue_of},
    findings::Findings,
    lease::Lease,
    queue::QueueLimits,
    replayed::Withdrawals,
    settle::Settler,
    timers::Timers,
    workers::Workers,
};
use crate::{
    clock::Timestamp,
    error::Error,
    relay::{
        RelayParts, byte_semaphore::ByteSemaphore, cache::BucketCache, clients::Clients,
        functions::Functions, waiters::Waiters, watch::Watch,
    },
    store::{Backlog, Sweep},
};

/// The parts of the relay that a [`Deliverer`] uses.
#[derive(Debug)]
pub(crate) struct DelivererParts<'a> {
    pub(crate) buckets: &'a Arc<BucketCache>,
    pub(crate) functions: &'a Arc<Functions>,
    pub(crate) clients: &'a Arc<Clients>,
    pub(crate) waiters: &'a Arc<Waiters>,
    pub(crate) findings: &'a Arc<Findings>,
    pub(crate) watch: &'a Arc<Watch>,
    pub(crate) workers: &'a Arc<Workers>,
}

impl Deliverer {
    pub(crate) fn new(parts: &RelayParts, with: &DelivererParts<'_>) -> Self {
        let RelayParts { stores, clock, destinations, observer, options, node, .. } = parts;
        let (deliveries, node) = (&stores.deliveries, *node);
        let timers = Arc::new(Timers::default());
        let memory = ByteSemaphore::new(options.memory_budget_bytes);
        let shared = options.sweep_interval.is_some();
        Self {
            node,
            queues: Queues::default(),
            lease: Lease::new(
                node,
                options.lease,
                shared,
                deliveries.clone(),
                clock.clone(),
                observer.clone(),
            ),
            claimer: Claimer {
                node,
                deliveries: deliveries.clone(),
                queues: stores.queues.clone(),
                memory: memory.clone(),
                clock: clock.clone(),
            },
            memory,
            attempter: Attempter {
                credentials: Credentials::new(destinations.clone(), clock.clone()),
                destinations: destinations.clone(),
                functions: with.functions.clone(),
                waiters: with.waiters.clone(),
                observer: observer.clone(),
                withdrawals: Withdrawals(stores.replays.clone()),
                options: options.clone(),
            },
            settler: Settler {
                node,
                deliveries: deliveries.clone(),
                timers: timers.clone(),
                workers: with.workers.clone(),
                functions: with.functions.clone(),
                clients: with.clients.clone(),
                waiters: with.waiters.clone(),
                findings: with.findings.clone(),
                watch: with.watch.clone(),
                observer: observer.clone(),
                clock: clock.clone(),
                options: options.clone(),
            },
            timers,
            workers: with.workers.clone(),
            buckets: with.buckets.clone(),
            deliveries: deliveries.clone(),
            observer: observer.clone(),
            clock: clock.clone(),
            options: options.clone(),
            changed: Notify::new(),
        }
    }

    /// Frees what this node held in a former life. Fails when another process has its name.
    pub(crate) async fn begin(&self) -> Result<(), Error> {
        self.lease.begin().await
    }

    /// Finds what waits in the store, and from now on delivers.
    pub(crate) async fn start(self: &Arc<Self>) -> Result<(), Error> {
        // What is accepted until then is found in the store, what is accepted later waits
        // in its queue: nothing is in neither, and nothing is counted twice.
        let before = self.queues.begin().await;
        let counted: i64 = before.values().map(|queue| queue.pending()).sum();
        self.observer.pending(-counted);
        let now = self.clock.now();
        let mut to_wake = Vec::new();
        let sweep = Sweep { node: self.node, now, held_before: Timestamp::default() };
        // A relay that does not start holds nothing of what it still accepts.
        let found = self.deliveries.backlogs(sweep).await.inspect_err(|_| self.queues.end())?;
        for Backlog { output_id, due_at, pending, .. } in found {
            let Some(due_at) = due_at else { continue };
            let limits = QueueLimits::unthrottled(&self.options);
            let queue = queue_of(&mut self.queues.by_output.lock(), output_id, &limits);
            queue.found(pending, due_at);
            self.observer.pending(i64::try_from(pending).unwrap_or(i64::MAX));
            self.timers.add(due_at, output_id);
            if due_at <= now {
                to_wake.push(output_id);
            }
        }
        self.workers.begin();
        let queues = self.queues.by_output.lock();
        to_wake.extend(queues.values().filter(|queue| queue.has_work()).map(|q| q.output_id));
        drop(queues);
        self.wake(to_wake);
        Ok(())
    }

    /// Returns when nothing is being attempted.
    pub(crate) async fn idle(&self) {
        self.workers.ended().await;
    }

    /// Finishes what is in flight, for `drain_timeout` at most, and leaves the rest to others.
    pub(crate) async fn stop(&self) -> Result<(), Error> {
        self.workers.stop();
        self.queues.end();
        // What is in flight is this node's up to its outcome.
        let drained = tokio::select! {
            () = self.workers.ended() => true,
            () = self.keep_lease() => false,
            () = tokio::time::sleep(self.options.drain_timeout) => false,
        };
        if !drained {
            tracing::warn!("stopped with deliveries in flight; they are attempted again");
        }
        let queues: Vec<_> = self.queues.by_output.lock().values().cloned().collect();
        for queue in queues.iter().filter(|queue| queue.is_owned()) {
            // The next owner is not to find the second delivery before the first.
            self.claimer.free(queue).await;
            self.observer.pending(self.claimer.leave(queue).await);
        }
        self.lease.end();
        self.deliveries.release(self.node, None).await
    }

    /// Renews the lease while something is attempted, and always where other nodes are, for as
    /// long as this is awaited.
    async fn keep_lease(&self) {
        loop {
            self.lease.check_interval().await;
            if self.options.sweep_interval.is_none() && self.workers.are_idle() {
                // Nothing is attempted before the lease is renewed.
                self.lease.begun().await;
            } else if let Err(error) = self.lease.keep().await {
                tracing::error!(%error, "the lease cannot be renewed");
            }
        }
    }

    /// Wakes queues when it is time, keeps the lease and sweeps, for as long as this is
    /// awaited. An idle relay that is alone with its store lets its lease run out.
    /// Fails when another process has this node's name.
    pub(crate) async fn run(self: &Arc<Self>) -> Error {
        let waking = async {
            loop {
                let due = self.timers.due(&*self.clock).await;
                self.wake(due);
            }
        };
        let (sweeping, cancelling) = (self.keep_sweeping(), self.keep_cancelling());
        let for_ever = async { tokio::join!(waking, self.keep_lease(), sweeping, cancelling) };
        tokio::select! {
            _ = for_ever => std::future::pending().await,
            error = self.lease.lost() => {
                self.workers.stop();
                self.queues.end();
                error
            }
        }
    }
}
