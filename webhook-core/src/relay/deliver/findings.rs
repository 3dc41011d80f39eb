//! What attempts told of destinations: it pauses and resumes outputs.

use std::{collections::VecDeque, sync::Arc};

use tokio::sync::Notify;

use crate::{
    clock::{Clock, Timestamp},
    error::Error,
    id::{AccountId, BucketId, OutputId},
    lock::Lock,
    model::{Bucket, Output, Pause, PauseChange, PausedBy},
    relay::RelayParts,
    store::{BucketStore, Change, DocumentStore, StateChange},
};

/// How many are remembered; one more is told of with its next answer.
const REMEMBERED: usize = 256;

/// What an attempt told of the destination of an output with `health`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) account: AccountId,
    pub(crate) bucket: BucketId,
    pub(crate) output: OutputId,
    pub(crate) found: Found,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// It answered 410.
    Gone,
    /// It fails since then, and that is to be noted.
    Failing(Timestamp),
    /// It failed before, and works.
    Working,
}

/// The findings that wait for the relay to act on them.
#[derive(Debug)]
pub(crate) struct Findings {
    queue: Lock<VecDeque<Finding>>,
    told: Notify,
    documents: Arc<dyn DocumentStore>,
    clock: Arc<dyn Clock>,
}

impl Findings {
    pub(in crate::relay) fn new(parts: &RelayParts) -> Self {
        let documents = parts.stores.documents.clone();
        Self { queue: Lock::default(), told: Notify::new(), documents, clock: parts.clock.clone() }
    }

    pub(in crate::relay) fn tell(&self, bucket: &Bucket, output: &Output, found: Found) {
        let (account, bucket, output) = (bucket.account_id, bucket.id, output.id);
        let finding = Finding { account, bucket, output, found };
        let mut queue = self.queue.lock();
        if queue.len() < REMEMBERED && !queue.contains(&finding) {
            queue.push_back(finding);
            self.told.notify_one();
        }
    }

    /// The next of them.
    pub(crate) async fn next(&self) -> Finding {
        loop {
            let next = self.queue.lock().pop_front();
            match next {
                Some(finding) => return finding,
                None => self.told.notified().await,
            }
        }
    }

    /// Pauses an output whose destination is gone or has failed for long, resumes one that was
    /// paused because it failed and works, and notes since when it fails: a change that was made
    /// before is not made again. Answers the bucket after a change.
    pub(in crate::relay) async fn act_on(&self, finding: Finding) -> Result<Option<Bucket>, Error> {
        let Finding { account, bucket: bucket_id, output: id, found } = finding;
        let now = self.clock.now();
        let read = async || -> Result<Option<Bucket>, Error> {
            let mut bucket = self.documents.bucket(account, bucket_id).await?;
            bucket.iter_mut().for_each(|bucket| bucket.end_pauses(now));
            Ok(bucket)
        };
        let bucket = read().await?.ok_or_else(|| Error::not_found("bucket"))?;
        let Some(output) = bucket.output(id) else { return Ok(None) };
        let Some(health) = output.spec.health.set().filter(|health| health.enabled) else {
            return Ok(None);
        };
        let is_paused = output.pauses.current(now).is_some();
        let pauses = |change| Change::State(StateChange::Pauses(id, change));
        let pause =
            |by, reason| pauses(PauseChange::Pause(Pause { by, ..Pause::new(now, None, reason) }));
        let mut changes = Vec::new();
        match found {
            Found::Gone if is_paused => {}
            Found::Gone => {
                tracing::warn!(output = %id, "the destination is gone (410): paused");
                let reason = "the destination answered 410 (Gone)".to_owned();
                changes.push(pause(PausedBy::Gone, reason));
            }
            Found::Failing(since) => {
                // Failures before the output was resumed do not count.
                let since = output.pauses.resumed_at().map_or(since, |at| since.max(at));
                if output.failing_since.is_none() {
                    changes.push(Change::State(StateChange::Failing(id, since)));
                }
                let failed_for = output.has_failed_for(output.failing_since.unwrap_or(since), now);
                if health.gives_up_after(failed_for) && !is_paused {
                    tracing::warn!(output = %id, ?failed_for, "the destination fails: paused");
                    let hours = failed_for.as_secs() / 3600;
                    let reason = format!("the destination has failed for {hours} h");
                    changes.push(pause(PausedBy::Failing, reason));
                }
            }
            Found::Working => {
                if output.failing_since.is_some() {
                    changes.push(Change::State(StateChange::Working(id)));
                }
                if output.is_probed(now) {
                    tracing::info!(output = %id, "the destination works again: resumed");
                    changes.push(pauses(PauseChange::Recover(now)));
                }
            }
        }
        if changes.is_empty() {
            return Ok(None);
        }
        self.documents.apply(&changes).await?;
        read().await
    }
}
