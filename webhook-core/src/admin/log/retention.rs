//! How long logs are kept.

use std::time::Duration;

use super::{Admin, count::before};
use crate::error::Error;

/// Logs that go in one transaction: few, so that nobody waits long behind it.
const BATCH: usize = 500;
/// How long ingest has the store to itself between two batches.
const PAUSE: Duration = Duration::from_millis(20);
/// How often it is looked whether logs have become too old, at most.
const SHORTEST_INTERVAL: Duration = Duration::from_secs(1);
/// And at least.
const LONGEST_INTERVAL: Duration = Duration::from_secs(60 * 60);

impl Admin {
    /// Removes the logs of all accounts that are older than `keep`, in small
    /// batches, and returns how many went. Webhooks that a relay has still to
    /// deliver stay, however old.
    pub async fn purge(&self, keep: Duration) -> Result<u64, Error> {
        let oldest = before(self.now(), keep);
        let mut gone = 0;
        loop {
            let batch = self.stores.logs.purge(oldest, BATCH).await?;
            gone += batch;
            if batch < BATCH as u64 {
                return Ok(gone);
            }
            self.clock.sleep_until(self.now() + PAUSE).await;
        }
    }

    /// Does [`purge`](Self::purge) at once and then from time to time: when a
    /// tenth of `keep` has passed, but at most every second and at least every
    /// hour. Between that it does nothing. It never returns: drop it to end it.
    pub async fn keep_logs_for(&self, keep: Duration) {
        let interval = (keep / 10).clamp(SHORTEST_INTERVAL, LONGEST_INTERVAL);
        loop {
            match self.purge(keep).await {
                Ok(0) => {}
                Ok(gone) => tracing::info!(gone, "removed old logs"),
                Err(error) => {
                    let cause = std::error::Error::source(&error).map(ToString::to_string);
                    tracing::warn!(%error, cause, "cannot remove old logs; trying again later");
                }
            }
            self.clock.sleep_until(self.now() + interval).await;
        }
    }
}
