//! Cancels the deliveries that wait for deleted outputs.

use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};

use super::dispatch::Deliverer;
use crate::error::Error;

/// The deliveries of one transaction, and the rest after it. Other writers wait for one
/// transaction at most.
const AT_ONCE: usize = 256;
const REST: Duration = Duration::from_millis(10);
/// After an error, or for deletions of other nodes.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

impl Deliverer {
    /// Cancels for as long as this is awaited. A relay that is alone with its store asks it only
    /// after a change.
    pub(super) async fn keep_cancelling(&self) {
        loop {
            let started = Instant::now();
            match self.cancel_some().await {
                Ok(true) => sleep(REST.max(started.elapsed())).await,
                Ok(false) if self.options.sweep_interval.is_none() => self.changed.notified().await,
                Ok(false) => drop(timeout(LOOK_AGAIN, self.changed.notified()).await),
                Err(error) => {
                    tracing::warn!(%error, "deliveries of deleted outputs wait to be cancelled");
                    sleep(LOOK_AGAIN).await;
                }
            }
        }
    }

    /// Cancels some of the deliveries. Answers whether more may be left.
    pub(crate) async fn cancel_some(&self) -> Result<bool, Error> {
        Ok(self.deliveries.cancel_deleted(AT_ONCE).await?.is_some())
    }
}
