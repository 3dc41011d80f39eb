//! The lease of this node: for as long as it lasts, what the node holds is its own.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use tokio::sync::Mutex;

use crate::{
    clock::{Clock, Timestamp},
    error::Error,
    id::NodeId,
    store::{DeliveryStore, Extended},
};

#[derive(Debug)]
pub(super) struct Lease {
    node: NodeId,
    length: Duration,
    deliveries: Arc<dyn DeliveryStore>,
    clock: Arc<dyn Clock>,
    /// Until when it lasts, in milliseconds since 1970.
    until: AtomicI64,
    extending: Mutex<()>,
}

impl Lease {
    pub(super) fn new(
        node: NodeId,
        length: Duration,
        deliveries: Arc<dyn DeliveryStore>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let (until, extending) = (AtomicI64::new(0), Mutex::new(()));
        Self { node, length, deliveries, clock, until, extending }
    }

    /// Makes sure that what this node holds stays its own for a while.
    pub(super) async fn hold(&self) -> Result<(), Error> {
        let low = self.length.as_millis() as i64 / 3;
        let lasts = |now: Timestamp| self.until.load(Ordering::Acquire) - now.as_millis() > low;
        if lasts(self.clock.now()) {
            return Ok(());
        }
        let _one_at_a_time = self.extending.lock().await;
        if lasts(self.clock.now()) {
            return Ok(());
        }
        self.renew().await.map(|_| ())
    }

    /// Makes it last for its whole length from now on.
    pub(super) async fn extend(&self) -> Result<Extended, Error> {
        let _one_at_a_time = self.extending.lock().await;
        self.renew().await
    }

    async fn renew(&self) -> Result<Extended, Error> {
        let until = self.clock.now() + self.length;
        let extended = self.deliveries.extend_lease(self.node, until).await?;
        self.until.store(until.as_millis(), Ordering::Release);
        Ok(extended)
    }

    /// Returns when it is time to see whether the lease has to be renewed.
    pub(super) async fn check_interval(&self) {
        tokio::time::sleep(self.length / 3).await;
    }

    /// Nothing is held any more.
    pub(super) fn end(&self) {
        self.until.store(0, Ordering::Release);
    }
}
