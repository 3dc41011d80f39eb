//! How long logs are kept.

use std::time::Duration;

use super::{Admin, count::before};
use crate::{
    error::{Error, invalid_if},
    id::AccountId,
    model::{Bucket, LogRetention},
    store::{DocumentKind, Find, OldLogs},
};

/// Logs that go in one transaction: few, so that nobody waits long behind it.
const BATCH: usize = 500;
/// How long ingest has the store to itself between two batches.
const PAUSE: Duration = Duration::from_millis(20);
/// How many buckets are asked at once how long they keep their logs.
const BUCKETS: usize = 256;
/// How often it is looked whether logs have become too old, at most.
const SHORTEST_INTERVAL: Duration = Duration::from_secs(1);
/// And at least.
const LONGEST_INTERVAL: Duration = Duration::from_secs(60 * 60);

impl Admin {
    /// Removes the logs that are older than `keep`, those of webhooks and those
    /// of functions, in small batches, and returns how many went; without
    /// `keep` logs are kept for ever. Where the account's plan says how long its
    /// logs of webhooks are kept, that counts instead, and so does a shorter time that a
    /// bucket says. Webhooks that a relay has still to deliver stay, however old.
    pub async fn purge(&self, keep: Option<Duration>) -> Result<u64, Error> {
        Ok(self.purge_all(keep).await?.0)
    }

    /// How many went, and the shortest time for which a bucket keeps logs.
    async fn purge_all(&self, keep: Option<Duration>) -> Result<(u64, Option<Duration>), Error> {
        let mut gone = 0;
        self.stores.logs.maintain(self.now()).await?;
        if self.quotas.limits_logs() {
            let mut keeps = Vec::new();
            for account in self.stores.accounts.accounts().await? {
                let plan = self.quotas.plan(account.id).await?;
                keeps.push((account.id, plan.limits.keep_logs_for().or(keep)));
            }
            // What nobody keeps may go all at once.
            let all: Option<Vec<_>> = keeps.iter().map(|(_, keep)| *keep).collect();
            let longest = all.and_then(|all| all.into_iter().max());
            gone += self.purge_webhooks(None, longest).await?;
            for (account, keep) in keeps {
                gone += self.purge_webhooks(Some(account), keep).await?;
            }
        } else {
            gone += self.purge_webhooks(None, keep).await?;
        }
        let functions = &self.stores.functions;
        let now = self.now();
        self.batches(|| functions.purge_kv(now, BATCH)).await?;
        self.batches(|| self.stores.logs.forget_seen(now, BATCH)).await?;
        if let Some(keep) = keep {
            let oldest = before(self.now(), keep);
            gone += self.batches(|| functions.purge_executions(oldest, BATCH)).await?;
        }
        let (of_buckets, shortest) = self.purge_buckets().await?;
        Ok((gone + of_buckets, shortest))
    }

    /// Removes what buckets keep for a shorter time than their accounts.
    async fn purge_buckets(&self) -> Result<(u64, Option<Duration>), Error> {
        let (mut gone, mut shortest, mut after) = (0, None::<Duration>, None);
        loop {
            let some = Find::Watched(DocumentKind::Bucket, after, BUCKETS);
            let some = self.stores.documents.search::<Bucket>(some).await?;
            for bucket in &some {
                let retention = bucket.spec.retention.set();
                for (failed, keep) in retention.into_iter().flat_map(LogRetention::parts) {
                    let mut old = OldLogs::new(before(self.now(), keep));
                    old.account_id = Some(bucket.account_id);
                    old.bucket_id = Some(bucket.id);
                    old.failed = failed;
                    gone += self.batches(|| self.stores.logs.purge(&old, BATCH)).await?;
                    shortest = Some(shortest.map_or(keep, |shortest| shortest.min(keep)));
                }
            }
            after = some.last().map(|last| last.id.as_uuid());
            if some.len() < BUCKETS {
                return Ok((gone, shortest));
            }
        }
    }

    async fn purge_webhooks(
        &self,
        account: Option<AccountId>,
        keep: Option<Duration>,
    ) -> Result<u64, Error> {
        let Some(keep) = keep else { return Ok(0) };
        let mut old = OldLogs::new(before(self.now(), keep));
        old.account_id = account;
        self.batches(|| self.stores.logs.purge(&old, BATCH)).await
    }

    /// Does `remove` until there is less than a batch left.
    async fn batches<F>(&self, remove: impl Fn() -> F) -> Result<u64, Error>
    where
        F: Future<Output = Result<u64, Error>>,
    {
        let mut gone = 0;
        loop {
            let batch = remove().await?;
            gone += batch;
            if batch < BATCH as u64 {
                return Ok(gone);
            }
            self.clock.sleep_until(self.now() + PAUSE).await;
        }
    }

    /// Does [`purge`](Self::purge) at once and then from time to time: when a
    /// tenth of `keep`, or of what a bucket says, has passed, but at most every second and at
    /// least every hour: what functions and inputs remember for a time goes whether logs do or not.
    /// It also does so within a second when a bucket or a plan says another time. Between that it
    /// does nothing. It never returns: drop it to end it.
    pub async fn keep_logs_for(&self, keep: Option<Duration>) {
        let mut shortest = None;
        loop {
            match self.purge_all(keep).await {
                Ok((gone, of_buckets)) => {
                    shortest = of_buckets;
                    if gone > 0 {
                        tracing::info!(gone, "removed old logs");
                    }
                }
                Err(error) => {
                    let cause = std::error::Error::source(&error).map(ToString::to_string);
                    tracing::warn!(%error, cause, "cannot remove old logs; trying again later");
                }
            }
            let interval = keep.into_iter().chain(shortest).min();
            let interval = interval.map_or(LONGEST_INTERVAL, |keep| keep / 10);
            let interval = interval.clamp(SHORTEST_INTERVAL, LONGEST_INTERVAL);
            let (soonest, latest) = (self.now() + SHORTEST_INTERVAL, self.now() + interval);
            // Several changes share one pass.
            self.clock.sleep_until(soonest).await;
            tokio::select! {
                () = self.clock.sleep_until(latest) => {}
                () = self.retention_changed.notified() => {}
            }
        }
    }
}

impl LogRetention {
    /// Whether it says something, and nothing that is longer than the account's logs are kept.
    pub(crate) fn check(&self, longest: Option<Duration>) -> Result<(), Error> {
        invalid_if(*self == Self::default(), "retention", "must say logs, failed or both")?;
        let Some(longest) = longest else { return Ok(()) };
        for (field, time) in [("logs", self.logs), ("failed", self.failed)] {
            let reason = format_args!(
                "must be at most {} nanoseconds, which is how long the account's logs are kept",
                longest.as_nanos()
            );
            invalid_if(time > longest, &format!("retention.{field}"), reason)?;
        }
        Ok(())
    }

    /// How long each kind of log is kept: `Some(true)` means failed logs, `Some(false)` the others.
    pub(crate) fn parts(&self) -> impl Iterator<Item = (Option<bool>, Duration)> {
        let parts = match (self.logs, self.failed) {
            (logs, failed) if failed.is_zero() || logs == failed => [(None, logs); 2],
            (logs, failed) => [(Some(false), logs), (Some(true), failed)],
        };
        let count = if parts[0] == parts[1] { 1 } else { 2 };
        parts.into_iter().take(count).filter(|(_, keep)| !keep.is_zero())
    }
}
