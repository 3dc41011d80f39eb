//! Deliveries that wait here and whose webhooks are to be erased.

use std::sync::Arc;

use foldhash::{HashMap, HashSet};

use super::{
    dispatch::Deliverer,
    queue::{OutputQueue, QueuedDelivery},
};
use crate::{
    clock::Timestamp,
    id::WebhookId,
    store::{EraseWebhook, ErasedWebhook},
};

/// Deliveries of one webhook that were taken out of their queues.
#[derive(Debug, Default)]
pub(crate) struct Taken(Vec<(Arc<OutputQueue>, QueuedDelivery)>);

impl Deliverer {
    /// Takes the waiting deliveries of these webhooks out of the queues. None is attempted until it
    /// is [put back](Self::put_back).
    pub(crate) fn take_webhooks(&self, webhooks: &HashSet<WebhookId>) -> HashMap<WebhookId, Taken> {
        let queues: Vec<_> = self.queues.by_output.lock().values().cloned().collect();
        let mut taken = HashMap::<_, Taken>::default();
        for queue in queues {
            for delivery in queue.take_webhooks(webhooks) {
                let webhook = taken.entry(delivery.pending.webhook.id).or_default();
                webhook.0.push((Arc::clone(&queue), delivery));
            }
        }
        taken
    }

    /// A request to erase the webhook. This node has given up the deliveries that were taken.
    pub(crate) fn to_erase(
        &self,
        webhook: WebhookId,
        taken: Option<&Taken>,
        now: Timestamp,
    ) -> EraseWebhook {
        let mut erase = EraseWebhook::new(webhook, self.node, now);
        let taken = taken.into_iter().flat_map(|taken| &taken.0);
        erase.given_up = taken.map(|(_, delivery)| delivery.pending.id).collect();
        erase
    }

    /// A webhook is erased. Its deliveries are forgotten, and senders that wait for its answer
    /// stop waiting.
    pub(crate) fn forget(&self, taken: Option<Taken>, erased: &ErasedWebhook) {
        for (queue, _) in taken.into_iter().flat_map(|taken| taken.0) {
            self.observer.pending(queue.ended());
            self.queues.leave(&queue);
        }
        erased.logs.iter().for_each(|id| self.settler.waiters.resolve(*id, None));
    }

    /// A webhook stays. Its deliveries wait in their places again.
    pub(crate) fn put_back(self: &Arc<Self>, taken: Option<Taken>) {
        for (queue, delivery) in taken.into_iter().flat_map(|taken| taken.0) {
            queue.return_taken(delivery);
            self.start_workers(&queue);
        }
    }

    /// The store did not say whether a webhook is erased. Its deliveries are claimed again, if they
    /// exist.
    pub(crate) fn look_for(&self, taken: Option<Taken>) {
        for (queue, _) in taken.into_iter().flat_map(|taken| taken.0) {
            self.timers.recover(&queue, self.clock.now());
        }
    }
}
