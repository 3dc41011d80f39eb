//! Senders that wait for what a destination answers.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use foldhash::HashMap;
use tokio::sync::oneshot;

use super::cluster::{Cluster, DestinationResponse};
use crate::{id::DeliveryId, lock::Lock};

/// The senders that wait, by the delivery that they wait for.
#[derive(Debug, Default)]
pub(crate) struct Waiters {
    waiting: Lock<HashMap<DeliveryId, Arc<Waiting>>>,
    /// The size of `waiting`, so that the many settles nobody waits for take no lock.
    count: AtomicUsize,
    /// The other nodes, where senders may wait for what ends here.
    cluster: Option<Arc<Cluster>>,
}

/// One sender, known by each delivery that it waits for: it gets the first
/// response, or learns that there is none when the last of them has let go of it.
type Waiting = Lock<Option<oneshot::Sender<DestinationResponse>>>;

impl Waiters {
    pub(super) fn new(cluster: Option<Arc<Cluster>>) -> Self {
        Self { cluster, ..Self::default() }
    }

    /// Waits for the first response to any of `deliveries`, which must not have
    /// been stored yet, or else one of them could end before.
    pub(super) fn wait_for(&self, deliveries: Vec<DeliveryId>) -> Waiter<'_> {
        if let Some(cluster) = &self.cluster {
            cluster.wait_for(&deliveries);
        }
        let (sender, receiver) = oneshot::channel();
        let one: Arc<Waiting> = Arc::new(Lock::new(Some(sender)));
        let mut waiting = self.waiting.lock();
        waiting.extend(deliveries.iter().map(|id| (*id, Arc::clone(&one))));
        self.count.store(waiting.len(), Ordering::Release);
        drop(waiting);
        Waiter { waiters: self, deliveries, receiver }
    }

    /// Whether somebody waits for this delivery.
    pub(super) fn is_awaited(&self, id: DeliveryId) -> bool {
        let is_awaited_here =
            self.count.load(Ordering::Acquire) > 0 && self.waiting.lock().contains_key(&id);
        is_awaited_here || self.cluster.as_ref().is_some_and(|cluster| cluster.is_awaited(id))
    }

    /// The delivery has ended, with `response` or without one: tells whoever waits for it.
    pub(super) fn resolve(&self, id: DeliveryId, response: Option<DestinationResponse>) {
        if let Err(response) = self.resolve_here(id, response)
            && let Some(cluster) = &self.cluster
        {
            cluster.answer(id, response);
        }
    }

    /// The same for who waits here; gives the response back when nobody does.
    #[expect(clippy::result_large_err, reason = "what was handed in is handed back")]
    pub(super) fn resolve_here(
        &self,
        id: DeliveryId,
        response: Option<DestinationResponse>,
    ) -> Result<(), Option<DestinationResponse>> {
        if self.count.load(Ordering::Acquire) == 0 {
            return Err(response);
        }
        let mut waiting = self.waiting.lock();
        let Some(one) = waiting.remove(&id) else { return Err(response) };
        self.count.store(waiting.len(), Ordering::Release);
        drop(waiting);
        if let Some(response) = response
            && let Some(sender) = one.lock().take()
        {
            // It may have stopped waiting a moment ago.
            let _ = sender.send(response);
        }
        Ok(())
    }
}

/// A sender that waits; it stops when this is dropped.
#[derive(Debug)]
pub(super) struct Waiter<'a> {
    waiters: &'a Waiters,
    deliveries: Vec<DeliveryId>,
    receiver: oneshot::Receiver<DestinationResponse>,
}

impl Waiter<'_> {
    /// The first response; none when every delivery has ended without one. It
    /// must not be asked again.
    pub(super) async fn first(&mut self) -> Option<DestinationResponse> {
        (&mut self.receiver).await.ok()
    }
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        let mut waiting = self.waiters.waiting.lock();
        for id in &self.deliveries {
            waiting.remove(id);
        }
        self.waiters.count.store(waiting.len(), Ordering::Release);
    }
}
