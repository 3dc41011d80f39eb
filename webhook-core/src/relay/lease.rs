//! The lease of this node: for as long as it lasts, what the node holds is its own.

use std::sync::atomic::Ordering;

use super::Inner;
use crate::{clock::Timestamp, error::Error};

impl Inner {
    /// Makes sure that what this node holds stays its own for a while.
    pub(super) async fn hold_lease(&self) -> Result<(), Error> {
        let low = self.options.lease.as_millis() as i64 / 3;
        let lasts = |now: Timestamp| {
            self.dispatch.leased_until.load(Ordering::Acquire) - now.as_millis() > low
        };
        if lasts(self.clock.now()) {
            return Ok(());
        }
        let _one_at_a_time = self.dispatch.leasing.lock().await;
        let now = self.clock.now();
        if lasts(now) {
            return Ok(());
        }
        let until = now + self.options.lease;
        self.stores.deliveries.extend_lease(self.node, until).await?;
        self.dispatch.leased_until.store(until.as_millis(), Ordering::Release);
        Ok(())
    }

    /// Returns when the lease should be renewed because something is held; an
    /// idle relay lets it run out.
    pub(super) async fn lease_runs_low(&self) {
        loop {
            tokio::time::sleep(self.options.lease / 3).await;
            if !self.dispatch.workers.is_empty() {
                return;
            }
        }
    }

    pub(super) async fn renew_lease(&self) {
        if let Err(error) = self.hold_lease().await {
            tracing::error!(%error, "the lease cannot be renewed");
        }
    }
}
