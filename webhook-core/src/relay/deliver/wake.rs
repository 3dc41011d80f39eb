//! Queues are looked at again: it is time, or their outputs have changed.

use std::sync::Arc;

use super::{attempt::Report, claim::STORE_PAUSE, dispatch::Deliverer, queue::OutputQueue};
use crate::id::OutputId;

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
            self.settler.settle(queue, None, &delivery.pending, Report::expired()).await;
        }
    }
}
