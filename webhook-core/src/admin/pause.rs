//! How it stands with outputs, pausing them and resuming them.

use std::time::Duration;

use super::{Admin, Caller, check, log::before, output::owned_output};
use crate::{
    clock::Timestamp,
    error::{Error, invalid_if},
    id::{BucketId, OutputId},
    model::{
        DeliveryStatus, Output, OutputState, Pause, PauseChange, PauseRequest, PausedBy,
        ResumeRequest,
    },
    store::{Change, CountQuery, StateChange},
};

/// The highest rate at which what waited may leave.
const MAX_RATE: u32 = 1_000_000;

impl Admin {
    /// Pauses an output: what waits for it and what is accepted for it waits until it is
    /// resumed, and no deadline comes nearer. Of what is paused the end and the reason change.
    ///
    /// # Errors
    /// `Invalid` when `until` has passed, the reason is too long, or the output is internal.
    pub async fn pause_output(
        &self,
        caller: &Caller,
        bucket_id: BucketId,
        id: OutputId,
        request: PauseRequest,
    ) -> Result<Output, Error> {
        let PauseRequest { reason, until } = request;
        let now = self.now();
        check::text("reason", &reason)?;
        let until = (until != Timestamp::default()).then_some(until);
        let has_passed = until.is_some_and(|until| until <= now);
        invalid_if(has_passed, "until", "has passed (it is in unix seconds; 0 for no end)")?;
        let bucket = self.owned_bucket(caller, bucket_id).await?;
        let is_internal = owned_output(caller, &bucket, id)?.spec.internal;
        let why = "is for outputs that are sent from here; this one is internal";
        invalid_if(is_internal, "pause", why)?;
        let pause = Pause::new(now, until, reason);
        self.change_state(caller, bucket_id, id, &[pauses(id, PauseChange::Pause(pause))]).await
    }

    /// Changes the state of an output; the output with its state.
    async fn change_state(
        &self,
        caller: &Caller,
        bucket_id: BucketId,
        id: OutputId,
        changes: &[Change],
    ) -> Result<Output, Error> {
        self.stores.documents.apply(changes).await?;
        let bucket = self.owned_bucket(caller, bucket_id).await?;
        let output = bucket.output(id).cloned();
        self.tell(|it| it.bucket_changed(&bucket));
        output.ok_or_else(|| Error::not_found("output"))
    }

    /// Ends the pause of an output, if there is one. See [`ResumeRequest`] for how fast what
    /// waited leaves.
    ///
    /// # Errors
    /// `Invalid` when the rate is too high, or `discard_before` has not come.
    pub async fn resume_output(
        &self,
        caller: &Caller,
        bucket_id: BucketId,
        id: OutputId,
        request: ResumeRequest,
    ) -> Result<Output, Error> {
        let ResumeRequest { rate, interval, discard_before } = request;
        invalid_if(rate > MAX_RATE, "rate", format_args!("must be at most {MAX_RATE}"))?;
        let (rate, now) = ((rate > 0).then_some((rate, interval)), self.now());
        let reason = "must not be after now (it is in unix seconds; 0 for nothing)";
        invalid_if(discard_before > now, "discard_before", reason)?;
        let bucket = self.owned_bucket(caller, bucket_id).await?;
        let output = owned_output(caller, &bucket, id)?;
        let mut changes = Vec::new();
        // What failed before counts no more: otherwise its next failure would pause it again.
        if output.pauses.all().iter().any(|pause| pause.by == PausedBy::Failing) {
            changes.push(Change::State(StateChange::Working(id)));
        }
        changes.push(pauses(id, PauseChange::Resume { at: now, rate, discard_before }));
        self.change_state(caller, bucket_id, id, &changes).await
    }
}

const fn pauses(output: OutputId, change: PauseChange) -> Change {
    Change::State(StateChange::Pauses(output, change))
}

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// How far back logs are counted that have no end.
const DAYS: u32 = 366;

impl Admin {
    /// How it stands with an output. It is read off the counts of logs, a row for each day of
    /// an output and a status, so that it costs the same with few webhooks and with many.
    pub async fn output_state(
        &self,
        caller: &Caller,
        bucket_id: BucketId,
        id: OutputId,
    ) -> Result<OutputState, Error> {
        let bucket = self.owned_bucket(caller, bucket_id).await?;
        if bucket.output(id).is_none() {
            return Err(Error::not_found("output"));
        }
        let (account, now) = (caller.account_id(), self.now());
        let open = CountQuery {
            bucket_id: Some(bucket_id),
            output_id: Some(id),
            status: Some(DeliveryStatus::Received),
            from: Some(before(now, DAY * DAYS)),
            ..CountQuery::default()
        };
        let days = self.stores.logs.days(account, &open).await?;
        let mut oldest_waiting_at = None;
        if let Some(first) = days.iter().find(|day| day.received > 0) {
            let of_day = CountQuery { from: Some(first.day), to: Some(first.day + DAY), ..open };
            let minutes = self.stores.logs.minutes(account, &of_day).await?;
            let first = minutes.iter().find(|minute| minute.counts.values().any(|logs| *logs > 0));
            oldest_waiting_at = first.map(|first| first.minute);
        }
        let (circuit, circuit_tries_at) = self.relay.deliverer.circuit(id);
        let waiting = days.iter().map(|day| day.received).sum();
        let slow_since = self.relay.deliverer.slow_since(id);
        Ok(OutputState { waiting, oldest_waiting_at, circuit, circuit_tries_at, slow_since })
    }
}
