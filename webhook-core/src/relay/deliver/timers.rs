//! When which queue is looked at again: it is time, or its output has changed.

use std::{collections::BTreeSet, sync::Arc};

use tokio::sync::Notify;

use super::{attempt::Report, claim::STORE_PAUSE, dispatch::Deliverer, queue::OutputQueue};
use crate::{
    clock::{Clock, Timestamp},
    id::{OutputId, ReplayId},
    lock::Lock,
    model::{CircuitState, ReplayTotals},
};

/// Wake-ups of queues, the earliest first. Nothing runs while none is due.
#[derive(Debug, Default)]
pub(super) struct Timers {
    moments: Lock<BTreeSet<(Timestamp, OutputId)>>,
    earlier: Notify,
}

impl Timers {
    /// Wakes the queue of `output` at `moment`.
    pub(super) fn add(&self, moment: Timestamp, output: OutputId) {
        let mut moments = self.moments.lock();
        let first = moments.first().is_none_or(|(known, _)| moment < *known);
        moments.insert((moment, output));
        drop(moments);
        if first {
            self.earlier.notify_one();
        }
    }

    /// From `moment` on, looks for what this node holds of the output and has in no queue.
    pub(super) fn recover(&self, queue: &OutputQueue, moment: Timestamp) {
        queue.lost(moment);
        self.add(moment, queue.output_id);
    }

    /// Waits until a wake-up is due and takes all that are.
    pub(super) async fn due(&self, clock: &dyn Clock) -> Vec<OutputId> {
        loop {
            let next = {
                let mut moments = self.moments.lock();
                let now = clock.now();
                let mut due = Vec::new();
                while let Some((moment, output)) = moments.first().copied()
                    && moment <= now
                {
                    moments.pop_first();
                    due.push(output);
                }
                if !due.is_empty() {
                    due.sort_unstable();
                    due.dedup();
                    return due;
                }
                moments.first().map(|(moment, _)| *moment)
            };
            match next {
                Some(moment) => tokio::select! {
                    () = clock.sleep_until(moment) => {}
                    () = self.earlier.notified() => {}
                },
                None => self.earlier.notified().await,
            }
        }
    }
}

impl Deliverer {
    /// Looks again at the queues of these outputs.
    pub(crate) fn wake(self: &Arc<Self>, outputs: impl IntoIterator<Item = OutputId>) {
        for queue in outputs.into_iter().filter_map(|id| self.queues.known(id)) {
            queue.unpark();
            if queue.has_expired(self.clock.now()) {
                let (deliverer, queue) = (Arc::clone(self), Arc::clone(&queue));
                self.workers.spawn(async move { deliverer.expire(&queue).await });
            } else {
                self.watch_deadline(&queue);
            }
            self.start_workers(&queue);
        }
    }

    /// Sets a timer for the deadline of the first delivery of a queue. One for each delivery would
    /// stay for as long as the deadline is away, a day by default.
    pub(super) fn watch_deadline(&self, queue: &OutputQueue) {
        if let Some(deadline) = queue.unwatched_deadline(self.clock.now()) {
            self.timers.add(deadline, queue.output_id);
        }
    }

    /// How many timers are set.
    #[cfg(test)]
    pub(crate) fn timers(&self) -> usize {
        self.timers.moments.lock().len()
    }

    /// Ends what waits here for its first attempt and was queued by this replay, which was
    /// cancelled.
    pub(crate) async fn withdraw(&self, replay: ReplayId) {
        let queues: Vec<_> = self.queues.by_output.lock().values().cloned().collect();
        for queue in queues {
            for delivery in queue.take_replayed(replay) {
                let report = Report::withdrawn(ReplayTotals::WITHDRAWN);
                self.settler.settle(&queue, None, &delivery.pending, report).await;
            }
        }
    }

    /// How the circuit of an output stands here, and when it is open no more.
    #[cfg_attr(not(feature = "admin"), expect(dead_code, reason = "the management calls it"))]
    pub(crate) fn circuit(&self, id: OutputId) -> (CircuitState, Option<Timestamp>) {
        let queue = self.queues.known(id);
        queue.map(|queue| queue.circuit(self.clock.now())).unwrap_or_default()
    }

    /// Since when the attempts of an output are seldom here, because its destination fails.
    #[cfg_attr(not(feature = "admin"), expect(dead_code, reason = "the management calls it"))]
    pub(crate) fn slow_since(&self, id: OutputId) -> Option<Timestamp> {
        self.queues.known(id).and_then(|queue| queue.slow_since())
    }

    /// How many outputs have seldom attempts here, because their destinations fail.
    pub(crate) fn slow_outputs(&self) -> usize {
        let queues: Vec<_> = self.queues.by_output.lock().values().cloned().collect();
        queues.iter().filter(|queue| queue.slow_since().is_some()).count()
    }

    /// Ends what has waited past its deadline, by the limits of now.
    async fn expire(&self, queue: &OutputQueue) {
        let Ok(bucket) = self.buckets.of_output(queue.output_id).await else {
            return self.pause(queue, self.clock.now() + STORE_PAUSE);
        };
        let output = bucket.as_ref().and_then(|bucket| bucket.output(queue.output_id));
        let limits = self.limits_of(output);
        let at = bucket.as_deref().zip(output);
        let expired = queue.take_expired(limits, self.clock.now());
        self.watch_deadline(queue);
        for delivery in expired {
            let report = queue.unsent(&delivery.pending, self.clock.now());
            self.settler.settle(queue, at, &delivery.pending, report).await;
        }
    }
}
