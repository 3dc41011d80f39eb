//! Deliveries whose end senders at other nodes wait for.

use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use crate::wire::id::{DeliveryId, NodeId};
use tokio::time::Instant;

/// How many are known; the oldest make room.
const MAX_AWAITED: usize = 16_384;
/// How long one is known: longer than a sender waits.
const KEPT: Duration = Duration::from_secs(120);

/// What senders at other nodes wait for: the last 16 384 deliveries of two minutes.
#[derive(Debug, Default)]
pub struct Awaited {
    known: Mutex<Known>,
    /// The size of it, so that the many settles nobody waits for take no lock.
    count: AtomicUsize,
}

#[derive(Debug, Default)]
struct Known {
    nodes: HashMap<DeliveryId, NodeId>,
    /// The oldest first; what was taken stays until then.
    order: VecDeque<(Instant, DeliveryId)>,
}

impl Awaited {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A sender at `node` waits for these.
    pub fn add(&self, node: NodeId, deliveries: Vec<DeliveryId>) {
        let mut known = self.known();
        let now = Instant::now();
        for delivery in deliveries {
            if known.nodes.insert(delivery, node).is_none() {
                known.order.push_back((now, delivery));
            }
        }
        while known.order.len() > MAX_AWAITED {
            let oldest = known.order.pop_front();
            oldest.and_then(|(_, oldest)| known.nodes.remove(&oldest));
        }
        self.count.store(known.nodes.len(), Ordering::Release);
    }

    /// Whether a sender at another node waits for it.
    #[must_use]
    pub fn contains(&self, delivery: DeliveryId) -> bool {
        self.count.load(Ordering::Acquire) > 0 && self.known().nodes.contains_key(&delivery)
    }

    /// The node where a sender waits for it; none any more after that, as nobody is answered twice.
    #[must_use]
    pub fn take(&self, delivery: DeliveryId) -> Option<NodeId> {
        if self.count.load(Ordering::Acquire) == 0 {
            return None;
        }
        let mut known = self.known();
        let node = known.nodes.remove(&delivery);
        self.count.store(known.nodes.len(), Ordering::Release);
        node
    }

    /// Forgets those that nobody waits for any more.
    pub fn expire(&self) {
        let mut known = self.known();
        while known.order.front().is_some_and(|(added, _)| added.elapsed() >= KEPT) {
            let oldest = known.order.pop_front();
            oldest.and_then(|(_, oldest)| known.nodes.remove(&oldest));
        }
        self.count.store(known.nodes.len(), Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_is_awaited_is_bounded_in_number_and_time() {
        let (awaited, node) = (Awaited::default(), NodeId::generate());
        let first = DeliveryId::generate();
        awaited.add(node, vec![first]);
        assert!(awaited.contains(first));
        awaited.add(node, (0..MAX_AWAITED).map(|_| DeliveryId::generate()).collect());
        assert!(!awaited.contains(first), "it made room");
        let last = DeliveryId::generate();
        awaited.add(node, vec![last]);
        assert_eq!(awaited.take(last), Some(node));
        assert_eq!(awaited.take(last), None);
        tokio::time::advance(KEPT).await;
        awaited.expire();
        assert_eq!(awaited.known().order.len(), 0);
        assert_eq!(awaited.count.load(Ordering::Acquire), 0);
    }
}
