//! Crons: webhooks that come from a clock.
//!
//! A run takes the way of any webhook: the input's function, the rules, one
//! transaction, the queues. It happens once because its webhook has an
//! identifier that follows from the cron and the moment it is scheduled for
//! ([`run_id`]): first the webhook is stored, then the cron advances to its
//! next run, and whoever crashes between the two stores it again in vain. The
//! hold of the claim is there so that several nodes do not do the work of one.

use std::{sync::Arc, time::Duration};

use http::{HeaderMap, HeaderName, HeaderValue, header::CONTENT_TYPE};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

use crate::{
    clock::{Clock, Timestamp, sleep_until},
    cron::Timetable,
    error::Error,
    id::{CronId, NodeId, WebhookId},
    model::{Bucket, Cron, CronSpec, Request, Webhook},
    relay::{
        RelayOptions, RelayParts,
        deliver::Workers,
        intake::{accept::Intake, inject},
    },
    store::{AdvanceCron, BucketStore, ClaimWork, CronStore, DocumentStore},
};

/// How long a run waits when it could not be stored, and the loop when the
/// store did not answer.
const STORE_PAUSE: Duration = Duration::from_secs(1);

/// Names the cron in the headers of its webhooks.
const CRON_ID: HeaderName = HeaderName::from_static("x-webhook-cron-id");
/// The moment that the run was scheduled for, in the form of RFC 3339.
const CRON_TIME: HeaderName = HeaderName::from_static("x-webhook-cron-time");

/// Runs crons.
#[derive(Debug)]
pub(in crate::relay) struct Crons {
    node: NodeId,
    store: Arc<dyn CronStore>,
    documents: Arc<dyn DocumentStore>,
    intake: Arc<Intake>,
    workers: Arc<Workers>,
    clock: Arc<dyn Clock>,
    options: Arc<RelayOptions>,
    /// Told when a cron runs at another time than before.
    changed: Notify,
    /// One permit for each run that may be under way.
    permits: Arc<Semaphore>,
}

impl Crons {
    pub(in crate::relay) fn new(
        parts: &RelayParts,
        intake: &Arc<Intake>,
        workers: &Arc<Workers>,
    ) -> Self {
        let permits = parts.options.cron_concurrency.clamp(1, Semaphore::MAX_PERMITS);
        Self {
            node: parts.node,
            store: parts.stores.crons.clone(),
            documents: parts.stores.documents.clone(),
            intake: intake.clone(),
            workers: workers.clone(),
            clock: parts.clock.clone(),
            options: parts.options.clone(),
            changed: Notify::new(),
            permits: Arc::new(Semaphore::new(permits)),
        }
    }

    /// Says that a cron runs at another time than before.
    pub(in crate::relay) fn changed(&self) {
        self.changed.notify_one();
    }

    /// Leaves the crons that this node has begun to run, in a former life or in this
    /// one, to any node.
    pub(in crate::relay) async fn release(&self) -> Result<(), Error> {
        self.store.release_crons(self.node).await
    }

    /// Runs crons when they are due, for as long as this is awaited. Between
    /// two runs, and without any cron, the store is asked nothing, unless
    /// others may change it ([`RelayOptions::crons_max_age`](crate::relay::RelayOptions)).
    pub(in crate::relay) async fn run(self: &Arc<Self>) {
        loop {
            let wake = self.start_due().await.unwrap_or_else(|error| {
                tracing::error!(%error, "crons cannot be read");
                Some(self.clock.now() + STORE_PAUSE)
            });
            let look_again = self.options.crons_max_age.map(|age| self.clock.now() + age);
            let next = wake.into_iter().chain(look_again).min();
            tokio::select! {
                () = sleep_until(&*self.clock, next) => {}
                () = self.changed.notified() => {}
            }
        }
    }

    /// Starts the runs that are due; when the next ones are.
    pub(in crate::relay) async fn start_due(self: &Arc<Self>) -> Result<Option<Timestamp>, Error> {
        loop {
            let wake = self.store.crons_wake_at().await?;
            if wake.is_none_or(|wake| wake > self.clock.now()) {
                return Ok(wake);
            }
            let permits = self.free_permits().await?;
            let now = self.clock.now();
            let until = now + self.options.cron_hold;
            let claim = ClaimWork { node: self.node, now, until, limit: permits.len() };
            let claimed = self.store.claim_crons(claim).await?;
            if claimed.is_empty() {
                // Another node was quicker, and makes the runs.
                return Ok(Some(now + STORE_PAUSE));
            }
            for (cron, permit) in claimed.into_iter().zip(permits) {
                let crons = Arc::clone(self);
                self.workers.spawn(async move { crons.run_one(cron, permit).await });
            }
        }
    }

    /// All permits that are free, at least one.
    async fn free_permits(&self) -> Result<Vec<OwnedSemaphorePermit>, Error> {
        let first = Arc::clone(&self.permits).acquire_owned().await;
        let mut permits = vec![first.map_err(Error::internal)?];
        while let Ok(permit) = Arc::clone(&self.permits).try_acquire_owned() {
            permits.push(permit);
        }
        Ok(permits)
    }

    /// Makes the run that is due of a cron that this node holds.
    async fn run_one(self: Arc<Self>, cron: Cron, _permit: OwnedSemaphorePermit) {
        let Some(due) = cron.next_run else { return };
        let (id, spec) = (cron.id, &cron.spec);
        let advance = match self.make_run(&cron, due).await {
            Ok(next) => {
                let is_over = !spec.recurring && next.is_none();
                AdvanceCron { id, from: due, to: next, is_over }
            }
            Err(error) => {
                tracing::warn!(cron = %id, %error, "the run waits");
                self.clock.sleep_until(self.clock.now() + STORE_PAUSE).await;
                AdvanceCron { id, from: due, to: Some(due), is_over: false }
            }
        };
        match self.store.advance_cron(advance).await {
            Ok(true) => {}
            Ok(false) => tracing::debug!(cron = %id, "changed or deleted during its run"),
            // It is claimed again when the hold ends, and stored in vain.
            Err(error) => tracing::error!(cron = %id, %error, "the cron cannot advance"),
        }
        self.changed();
    }

    /// Stores the webhook of the run that is to be made for `due`, if there is
    /// one; the run that follows.
    async fn make_run(
        self: &Arc<Self>,
        cron: &Cron,
        due: Timestamp,
    ) -> Result<Option<Timestamp>, Error> {
        let timetable = match Timetable::new(&cron.spec, cron.created_at) {
            Ok(timetable) => timetable,
            // It was valid when it was saved: a time zone is no longer known.
            Err(error) => {
                tracing::error!(cron = %cron.id, %error, "it cannot run any more");
                return Ok(None);
            }
        };
        let run = timetable.catch_up(due, self.clock.now());
        if let Some(run) = run {
            self.inject(cron, run).await?;
        }
        let after = run.unwrap_or(due);
        Ok(timetable.next_after(after).filter(|_| cron.spec.recurring))
    }

    /// Puts the webhook of a run into the cron's bucket.
    async fn inject(self: &Arc<Self>, cron: &Cron, run: Timestamp) -> Result<(), Error> {
        // Read anew each time: another node may have changed it.
        let bucket = self.documents.bucket(cron.account_id, cron.bucket_id).await?;
        let Some(bucket) = bucket else { return Ok(()) };
        if bucket.suspended {
            tracing::debug!(cron = %cron.id, "its bucket is suspended");
            return Ok(());
        }
        let bucket = Arc::new(bucket);
        let webhook = self.webhook_of(cron, run, &bucket);
        let input = bucket.input(cron.input_id);
        self.intake.inject(webhook, &bucket, input).await
    }

    fn webhook_of(&self, cron: &Cron, run: Timestamp, bucket: &Bucket) -> Webhook {
        let CronSpec { method, payload, .. } = &cron.spec;
        let request = Request::new(method.clone(), headers(cron, run), payload.clone().into());
        let place = (cron.account_id, cron.bucket_id, cron.input_id);
        let webhook = Webhook::new(run_id(cron.id, run), place, request, self.clock.now());
        Webhook { ephemeral: bucket.spec.ephemeral, ..webhook }
    }
}

/// The headers of a run's webhook: the cron's own, and which cron and run it is.
fn headers(cron: &Cron, run: Timestamp) -> HeaderMap {
    let CronSpec { headers, payload, .. } = &cron.spec;
    let mut headers = headers.0.clone();
    if !payload.is_empty() && !headers.contains_key(CONTENT_TYPE) {
        let is_json = serde_json::from_str::<serde::de::IgnoredAny>(payload).is_ok();
        let kind = if is_json { "application/json" } else { "text/plain; charset=utf-8" };
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    }
    let moment = jiff::Timestamp::from_millisecond(run.as_millis()).unwrap_or_default();
    for (name, value) in [(CRON_ID, cron.id.to_string()), (CRON_TIME, moment.to_string())] {
        if let Ok(value) = HeaderValue::try_from(value) {
            headers.insert(name, value);
        }
    }
    headers
}

/// The identifier of a run's webhook, the same whoever makes it.
fn run_id(cron: CronId, run: Timestamp) -> WebhookId {
    let name = [cron.as_uuid().as_bytes().as_slice(), &run.as_millis().to_be_bytes()].concat();
    inject::derived_id(&name, run)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_has_one_identifier() {
        let (cron, run) = (CronId::generate(), Timestamp::from_millis(1_774_746_000_123));
        let id = run_id(cron, run);
        assert_eq!(id, run_id(cron, run));
        assert_ne!(id, run_id(CronId::generate(), run));
        assert_ne!(id, run_id(cron, run + Duration::from_millis(1)));
        assert_eq!(id.as_uuid().get_version_num(), 7);
        let (secs, nanos) = id.as_uuid().get_timestamp().expect("version 7").to_unix();
        assert_eq!((secs, nanos), (1_774_746_000, 123_000_000));
    }
}
