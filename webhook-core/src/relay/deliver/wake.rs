//! Queues are looked at again: it is time, or their outputs have changed.

use std::sync::Arc;

use super::{attempt::Report, claim::STORE_PAUSE, dispatch::Deliverer, queue::OutputQueue};
use crate::{
    clock::Timestamp,
    id::{OutputId, ReplayId},
    model::{CircuitState, ReplayTotals},
};

impl Deliverer {
    /// Looks again at the queues of these outputs.
    pub(in crate::relay) fn wake(self: &Arc<Self>, outputs: impl IntoIterator<Item = OutputId>) {
        for queue in outputs.into_iter().filter_map(|id| self.queues.known(id)) {
            queue.unpark();
            if queue.has_expired(self.clock.now()) {
                let (deliverer, queue) = (Arc::clone(self), Arc::clone(&queue));
                self.workers.spawn(async move { deliverer.expire(&queue).await });
            }
            self.start_workers(&queue);
        }
    }

    /// Ends what waits here for its first attempt and was queued by this replay, which was
    /// cancelled.
    pub(in crate::relay) async fn withdraw(&self, replay: ReplayId) {
        let queues: Vec<_> = self.queues.by_output.lock().values().cloned().collect();
        for queue in queues {
            for delivery in queue.take_replayed(replay) {
                let report = Report::withdrawn(ReplayTotals::WITHDRAWN);
                self.settler.settle(&queue, None, &delivery.pending, report).await;
            }
        }
    }

    /// How the circuit of an output stands here, and when it is open no more.
    pub(in crate::relay) fn circuit(&self, id: OutputId) -> (CircuitState, Option<Timestamp>) {
        let queue = self.queues.known(id);
        queue.map(|queue| queue.circuit(self.clock.now())).unwrap_or_default()
    }

    /// Ends what has waited past its deadline, by the limits of now.
    async fn expire(&self, queue: &OutputQueue) {
        let Ok(bucket) = self.buckets.of_output(queue.output_id).await else {
            return self.pause(queue, self.clock.now() + STORE_PAUSE);
        };
        let output = bucket.as_ref().and_then(|bucket| bucket.output(queue.output_id));
        let limits = self.limits_of(output);
        let (expired, next) = queue.take_expired(limits, self.clock.now());
        if let Some(next) = next {
            self.pause(queue, next);
        }
        for delivery in expired {
            let report = queue.unsent(&delivery.pending);
            self.settler.settle(queue, None, &delivery.pending, report).await;
        }
    }
}
