//! Pausing outputs, and resuming them.

use super::{Admin, Caller, check};
use crate::{
    clock::Timestamp,
    error::Error,
    id::{BucketId, OutputId},
    model::{Output, Pause, PauseRequest, PausedBy, ResumeRequest},
    relay::{Finding, Found},
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
        check::text("reason", &reason, &self.options)?;
        let until = (until != Timestamp::default()).then_some(until);
        if until.is_some_and(|until| until <= now) {
            let reason = "has passed (it is in unix seconds; 0 for no end)";
            return Err(Error::invalid("until", reason));
        }
        let _guard = self.lock(bucket_id.as_uuid()).await;
        let bucket = self.owned_bucket(caller, bucket_id).await?;
        if bucket.outputs.iter().any(|output| output.id == id && output.spec.internal) {
            let reason = "is for outputs that are sent from here; this one is internal";
            return Err(Error::invalid("pause", reason));
        }
        let pause = Pause::new(now, until, reason);
        self.change_output(caller, bucket, id, |output| output.pauses.pause(pause)).await
    }

    /// Pauses an output whose destination is gone or has failed for long, resumes one that was
    /// paused because it failed and works, and notes since when it fails: what has been done
    /// already is not done again.
    pub(crate) async fn act_on(&self, finding: Finding) -> Result<(), Error> {
        let Finding { account, bucket, output: id, found } = finding;
        let caller = Caller::for_account(account);
        let _guard = self.lock(bucket.as_uuid()).await;
        let bucket = self.owned_bucket(&caller, bucket).await?;
        let now = self.now();
        let Some(output) = bucket.outputs.iter().find(|output| output.id == id).cloned() else {
            return Ok(());
        };
        let Some(health) = output.spec.health.set().filter(|health| health.enabled) else {
            return Ok(());
        };
        let is_paused = output.pauses.current(now).is_some();
        let mut changed = output.clone();
        match found {
            Found::Gone if is_paused => {}
            Found::Gone => {
                tracing::warn!(output = %id, "the destination is gone (410): paused");
                let reason = "the destination answered 410 (Gone)".to_owned();
                changed.pauses.pause(Pause { by: PausedBy::Gone, ..Pause::new(now, None, reason) });
            }
            Found::Failing(since) => {
                // What failed before somebody resumed it has been acted on.
                let since = output.pauses.resumed_at().map_or(since, |at| since.max(at));
                let since = *changed.failing_since.get_or_insert(since);
                let failed_for = output.has_failed_for(since, now);
                if health.gives_up_after(failed_for) && !is_paused {
                    tracing::warn!(output = %id, ?failed_for, "the destination fails: paused");
                    let hours = failed_for.as_secs() / 3600;
                    let reason = format!("the destination has failed for {hours} h");
                    let pause = Pause::new(now, None, reason);
                    changed.pauses.pause(Pause { by: PausedBy::Failing, ..pause });
                }
            }
            Found::Working => {
                changed.failing_since = None;
                if output.is_probed(now) {
                    tracing::info!(output = %id, "the destination works again: resumed");
                    changed.pauses.resume(now, None);
                }
            }
        }
        if changed != output {
            self.change_output(&caller, bucket, id, |output| *output = changed).await?;
        }
        Ok(())
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
        if rate > MAX_RATE {
            return Err(Error::invalid("rate", format_args!("must be at most {MAX_RATE}")));
        }
        let (rate, now) = ((rate > 0).then_some((rate, interval)), self.now());
        if discard_before > now {
            let reason = "must not be after now (it is in unix seconds; 0 for nothing)";
            return Err(Error::invalid("discard_before", reason));
        }
        let _guard = self.lock(bucket_id.as_uuid()).await;
        let bucket = self.owned_bucket(caller, bucket_id).await?;
        self.change_output(caller, bucket, id, |output| {
            // What failed before counts no more: otherwise its next failure would pause it again.
            if output.is_probed(now) {
                output.failing_since = None;
            }
            output.pauses.discard(discard_before, now);
            output.pauses.resume(now, rate);
        })
        .await
    }
}
