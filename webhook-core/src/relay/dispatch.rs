//! Step 3: deliveries leave their lanes.
//!
//! Each output has a lane of its own with workers of its own, so that a hanging
//! destination holds up nobody else. A lane that has nothing to do has no
//! worker, and without due timers nothing runs and nothing is asked of the store.

use std::{
    future::poll_fn,
    mem,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicI64, Ordering},
    },
    task::Poll,
    time::Duration,
};

use foldhash::HashMap;
use tokio_util::task::TaskTracker;

use super::{
    Inner, RelayOptions,
    lane::{Held, Lane, Limits, Next, Seat},
    timers::Timers,
};
use crate::{clock::Timestamp, error::Error, id::OutputId, model::Output, store::Claim};

/// How long a lane waits when the store did not answer.
const STORE_PAUSE: Duration = Duration::from_secs(1);

/// The lanes and what drives them.
#[derive(Debug, Default)]
pub(super) struct Dispatch {
    lanes: Mutex<HashMap<OutputId, Arc<Lane>>>,
    timers: Timers,
    pub(super) workers: TaskTracker,
    /// Whether this node holds what is accepted: from just before it dispatches.
    holding: AtomicBool,
    /// What is being accepted for whoever dispatches later.
    early: TaskTracker,
    running: AtomicBool,
    /// Until when this node's lease lasts, in milliseconds.
    pub(super) leased_until: AtomicI64,
    pub(super) leasing: tokio::sync::Mutex<()>,
}

impl Dispatch {
    fn lanes(&self) -> MutexGuard<'_, HashMap<OutputId, Arc<Lane>>> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn known_lane(&self, output_id: OutputId) -> Option<Arc<Lane>> {
        self.lanes().get(&output_id).cloned()
    }

    /// Forgets a lane that has nothing to remember.
    fn leave(&self, lane: &Lane) {
        let mut lanes = self.lanes();
        // Nobody can get at the lane while the map is locked, but some may have it already.
        let unused = |known: &Arc<Lane>| Arc::strong_count(known) <= 2 && known.is_quiet();
        if lanes.get(&lane.output_id).is_some_and(unused) {
            lanes.remove(&lane.output_id);
        }
    }

    /// Whether deliveries are no longer started.
    pub(super) fn is_stopped(&self) -> bool {
        !self.running.load(Ordering::Acquire)
    }

    /// Whether the output's lane takes another delivery.
    pub(super) fn has_room(&self, output: &Output, options: &RelayOptions) -> Result<(), Error> {
        match self.known_lane(output.id) {
            Some(lane) => lane.has_room(&Limits::of(&output.spec, options)),
            None => Ok(()),
        }
    }

    /// A place for a delivery that is about to be stored.
    pub(super) fn seat(
        &self,
        output: &Output,
        options: &RelayOptions,
        in_memory: bool,
    ) -> Result<Seat, Error> {
        let limits = Limits::of(&output.spec, options);
        let (lane, early) = {
            let mut lanes = self.lanes();
            let holding = self.holding.load(Ordering::Acquire);
            (lane(&mut lanes, output.id, limits), (!holding).then(|| self.early.token()))
        };
        lane.seat(limits, in_memory, early)
    }

    /// From now on what is accepted is this node's. Returns the lanes of before, with all
    /// that was accepted for them.
    async fn begin(&self) -> HashMap<OutputId, Arc<Lane>> {
        let before = {
            let mut lanes = self.lanes();
            self.holding.store(true, Ordering::Release);
            mem::take(&mut *lanes)
        };
        self.early.close();
        self.early.wait().await;
        before
    }
}

fn lane(lanes: &mut HashMap<OutputId, Arc<Lane>>, id: OutputId, limits: Limits) -> Arc<Lane> {
    Arc::clone(lanes.entry(id).or_insert_with(|| Arc::new(Lane::new(id, limits))))
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

impl Inner {
    /// Dispatches until `shutdown`, then finishes what is in flight.
    pub(super) async fn run(
        self: &Arc<Self>,
        shutdown: impl Future<Output = ()>,
    ) -> Result<(), Error> {
        self.start_dispatching().await?;
        let crons = self.run_crons();
        tokio::pin!(shutdown, crons);
        loop {
            tokio::select! {
                () = &mut shutdown => break,
                due = self.dispatch.timers.due(&*self.clock) => self.wake(due),
                () = self.lease_runs_low() => self.renew_lease().await,
                () = &mut crons => {}
            }
        }
        self.stop_dispatching().await
    }

    /// Attempts everything that is due and returns when nothing is.
    pub(super) async fn run_until_idle(self: &Arc<Self>) -> Result<(), Error> {
        self.start_dispatching().await?;
        self.start_due_crons().await?;
        self.dispatch.workers.close();
        self.dispatch.workers.wait().await;
        self.stop_dispatching().await
    }

    async fn start_dispatching(self: &Arc<Self>) -> Result<(), Error> {
        // What this node held in a former life is free for it again.
        self.stores.deliveries.release(self.node, None).await?;
        self.stores.crons.release_crons(self.node).await?;
        // What is accepted until then is found in the store, what is accepted later waits
        // in its lane: nothing is in neither, and nothing is counted twice.
        let before = self.dispatch.begin().await;
        let counted: i64 = before.values().map(|lane| lane.pending()).sum();
        self.observer.pending(-counted);
        let now = self.clock.now();
        let mut to_wake = Vec::new();
        for found in self.stores.deliveries.lanes(now).await? {
            let limits = Limits::unthrottled(&self.options);
            let lane = lane(&mut self.dispatch.lanes(), found.output_id, limits);
            lane.found(found.pending, found.due_at);
            self.observer.pending(i64::try_from(found.pending).unwrap_or(i64::MAX));
            self.dispatch.timers.add(found.due_at, found.output_id);
            if found.due_at <= now {
                to_wake.push(found.output_id);
            }
        }
        self.dispatch.running.store(true, Ordering::Release);
        let lanes = self.dispatch.lanes();
        to_wake.extend(lanes.values().filter(|lane| lane.has_work()).map(|lane| lane.output_id));
        drop(lanes);
        self.wake(to_wake);
        Ok(())
    }

    async fn stop_dispatching(&self) -> Result<(), Error> {
        self.dispatch.running.store(false, Ordering::Release);
        self.dispatch.holding.store(false, Ordering::Release);
        self.dispatch.workers.close();
        let drained = self.dispatch.workers.wait();
        if tokio::time::timeout(self.options.drain_timeout, drained).await.is_err() {
            tracing::warn!("stopped with deliveries in flight; they are attempted again");
        }
        self.dispatch.leased_until.store(0, Ordering::Release);
        self.stores.crons.release_crons(self.node).await?;
        self.stores.deliveries.release(self.node, None).await
    }

    /// Work that a stop waits for.
    pub(super) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.dispatch.workers.spawn(work);
    }

    /// A delivery has been stored and is this node's to attempt.
    pub(super) fn dispatched(self: &Arc<Self>, seat: Seat, held: Held) {
        self.observer.pending(1);
        if seat.is_early() {
            // Whoever dispatches finds it in the store.
            drop(seat.take(held));
            return;
        }
        let expires_at = seat.expires_at(held.pending.created_at);
        let (lane, first) = match self.dispatch.is_stopped() {
            false => seat.start(held),
            true => (seat.take(held), None),
        };
        if let Some(moment) = expires_at {
            self.dispatch.timers.add(moment, lane.output_id);
        }
        match first {
            // On the thread that received it: another's would have to be woken.
            Some(first) => self.spawn_worker(&lane, Some(first)),
            None => self.start_workers(&lane),
        }
    }

    fn wake(self: &Arc<Self>, lanes: Vec<OutputId>) {
        for lane in lanes.into_iter().filter_map(|id| self.dispatch.known_lane(id)) {
            for held in lane.take_expired(self.clock.now()) {
                let (relay, lane) = (Arc::clone(self), Arc::clone(&lane));
                self.dispatch.workers.spawn(async move { relay.expire(&lane, held).await });
            }
            self.start_workers(&lane);
        }
    }

    fn start_workers(self: &Arc<Self>, lane: &Arc<Lane>) {
        while !self.dispatch.is_stopped() && lane.start_worker() {
            self.spawn_worker(lane, None);
        }
    }

    fn spawn_worker(self: &Arc<Self>, lane: &Arc<Lane>, first: Option<Held>) {
        let (relay, lane) = (Arc::clone(self), Arc::clone(lane));
        // Boxed: a task moves what it runs a few times, and this is large.
        self.dispatch.workers.spawn(Box::pin(async move {
            match first {
                // Senders whose webhooks were stored together are answered before
                // the first of them is delivered: so each of the other sides has
                // much to do at once, and is not woken for every webhook.
                Some(_) => let_others_run().await,
                None => lane.worker_started(),
            }
            relay.work(&lane, first).await;
            relay.dispatch.leave(&lane);
        }));
    }

    /// A worker: takes deliveries from its lane until there is none to take,
    /// after the one that it may be started with.
    async fn work(self: &Arc<Self>, lane: &Arc<Lane>, mut first: Option<Held>) {
        loop {
            let route = match self.route_of_output(lane.output_id).await {
                Ok(route) => route,
                Err(error) => {
                    tracing::error!(output = %lane.output_id, %error, "the route cannot be read");
                    lane.worker_ended(first);
                    return self.pause(lane, self.clock.now() + STORE_PAUSE);
                }
            };
            let output = route.as_ref().and_then(|route| route.output(lane.output_id));
            let limits = match output {
                Some(output) => Limits::of(&output.spec, &self.options),
                None => Limits::unthrottled(&self.options),
            };
            let stopping = self.dispatch.is_stopped();
            let next = match first.take().filter(|_| !stopping) {
                Some(held) => Next::Attempt(held),
                None => lane.next(limits, self.clock.now(), stopping),
            };
            match next {
                Next::Attempt(held) => match (&route, output) {
                    (Some(route), Some(output)) => self.attempt(lane, route, output, held).await,
                    _ => self.orphaned(lane, held).await,
                },
                Next::Expire(held) => self.expire(lane, held).await,
                Next::Claim(limit) => self.claim(lane, limits, limit).await,
                Next::Recover => self.recover(lane).await,
                Next::Until(moment) => return self.pause(lane, moment),
                Next::Idle => return,
            }
        }
    }

    pub(super) fn dispatch_at(&self, due_at: Timestamp, lane: OutputId) {
        self.dispatch.timers.add(due_at, lane);
    }

    fn pause(&self, lane: &Lane, until: Timestamp) {
        self.dispatch.timers.add(until, lane.output_id);
    }

    /// Brings due deliveries from the store into the lane.
    async fn claim(self: &Arc<Self>, lane: &Arc<Lane>, limits: Limits, limit: usize) {
        let now = self.clock.now();
        let claim = Claim {
            node: self.node,
            output_id: lane.output_id,
            now,
            limit: if self.memory.is_spent() { limit.min(8) } else { limit },
            order: limits.order(),
        };
        let claimed = match self.hold_lease().await {
            Ok(()) => self.stores.deliveries.claim(claim).await,
            Err(error) => Err(error),
        };
        match claimed {
            Ok(claimed) => {
                let held = claimed.deliveries.into_iter().map(|pending| {
                    let share = self.memory.take_anyway(pending.webhook.request.size_bytes());
                    Held::new(pending, Some(Arc::new(share)))
                });
                lane.claimed(held.collect(), claimed.next_due_at, now);
                self.start_workers(lane);
            }
            Err(error) => {
                tracing::warn!(output = %lane.output_id, %error, "deliveries cannot be claimed");
                lane.claim_failed(now + STORE_PAUSE);
            }
        }
    }

    /// Frees what this node holds of the lane's output and has in no queue.
    async fn recover(&self, lane: &Lane) {
        match self.stores.deliveries.release(self.node, Some(lane.output_id)).await {
            Ok(()) => lane.recovered(),
            Err(error) => {
                tracing::warn!(output = %lane.output_id, %error, "deliveries cannot be freed");
                lane.not_recovered(self.clock.now() + STORE_PAUSE);
            }
        }
    }

    /// Looks after `pause` for what this node holds of the lane's output and has in no queue.
    pub(super) fn lost(&self, lane: &Lane, pause: Duration) {
        let again_at = self.clock.now() + pause;
        lane.lost(again_at);
        self.pause(lane, again_at);
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
