//! Deliveries that wait in the store come into their queue.

use std::{sync::Arc, time::Duration};

use super::{
    lease::{Lease, Term},
    queue::{OutputQueue, QueueLimits, QueuedDelivery},
};
use crate::{
    clock::Clock,
    id::NodeId,
    relay::byte_semaphore::ByteSemaphore,
    store::{Claim, DeliveryStore, OwnQueue, QueueStore},
};

/// How long a queue waits when the store did not answer.
pub(super) const STORE_PAUSE: Duration = Duration::from_secs(1);

/// Claims deliveries for this node, and frees them.
#[derive(Debug)]
pub(super) struct Claimer {
    pub(super) node: NodeId,
    pub(super) deliveries: Arc<dyn DeliveryStore>,
    pub(super) queues: Arc<dyn QueueStore>,
    /// Bounds the webhooks that wait in memory.
    pub(super) memory: ByteSemaphore,
    pub(super) clock: Arc<dyn Clock>,
}

impl Claimer {
    /// Brings at most `limit` due deliveries from the store into the queue. `false` when
    /// the store did not answer.
    pub(super) async fn claim(
        &self,
        lease: &Lease,
        queue: &OutputQueue,
        limits: QueueLimits,
        limit: usize,
    ) -> bool {
        let now = self.clock.now();
        let claim = Claim {
            node: self.node,
            output_id: queue.output_id,
            now,
            limit: if self.memory.is_spent() { limit.min(8) } else { limit },
            order: limits.order(),
        };
        let held = lease.hold().await;
        let term = lease.term();
        let claimed = match held {
            Ok(()) => self.deliveries.claim(claim).await,
            Err(error) => Err(error),
        };
        match claimed {
            Ok(claimed) => {
                let deliveries = claimed.deliveries.into_iter().map(|pending| {
                    let bytes = self.memory.take_anyway(pending.webhook.request.size_bytes());
                    QueuedDelivery::new(pending, Some(Arc::new(bytes))).in_term(term)
                });
                queue.claimed(deliveries.collect(), claimed.next_due_at, now);
                true
            }
            Err(error) => {
                tracing::warn!(output = %queue.output_id, %error, "deliveries cannot be claimed");
                queue.claim_failed(now + STORE_PAUSE);
                false
            }
        }
    }

    /// Frees what this node holds of the queue's output and has in no queue.
    pub(super) async fn free(&self, queue: &OutputQueue) {
        match self.deliveries.release(self.node, Some(queue.output_id)).await {
            Ok(()) => queue.recovered(),
            Err(error) => {
                tracing::warn!(output = %queue.output_id, %error, "deliveries cannot be freed");
                queue.not_recovered(self.clock.now() + STORE_PAUSE);
            }
        }
    }

    /// Asks whether this node owns the queue, or says that it still does and what it has started.
    /// Answers how many more deliveries are known of than before.
    pub(super) async fn own(&self, lease: &Lease, queue: &OutputQueue, term: Option<Term>) -> i64 {
        let now = self.clock.now();
        let mut own = OwnQueue::new(self.node, queue.output_id, now);
        own.started = queue.started(term);
        let answer = match lease.hold().await {
            Ok(()) => self.queues.own_queue(own).await,
            Err(error) => Err(error),
        };
        let answer = answer.inspect_err(|error| {
            tracing::warn!(output = %queue.output_id, %error, "who owns the queue is not known");
        });
        // In a term that has begun meanwhile it is not owned.
        queue.owned(answer.ok(), term.unwrap_or_else(|| lease.term()), now)
    }

    /// Gives the queue up. Answers how many more deliveries are known of than before.
    pub(super) async fn leave(&self, queue: &OutputQueue) -> i64 {
        let left = self.queues.leave_queue(self.node, queue.output_id, &queue.starts()).await;
        if let Err(error) = &left {
            tracing::warn!(output = %queue.output_id, %error, "the queue cannot be given up");
        }
        queue.left(left.is_ok(), self.clock.now())
    }
}
