//! Pausing outputs, and resuming them.

use super::{Admin, Caller, check};
use crate::{
    clock::Timestamp,
    error::Error,
    id::{BucketId, OutputId},
    model::{Output, Pause, PauseRequest, PausedBy, ResumeRequest},
    relay::GoneOutput,
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

    /// Pauses an output whose destination is gone, unless it is paused.
    pub(crate) async fn pause_gone(&self, gone: GoneOutput) -> Result<(), Error> {
        let GoneOutput { account, bucket, output } = gone;
        let caller = Caller::for_account(account);
        let _guard = self.lock(bucket.as_uuid()).await;
        let bucket = self.owned_bucket(&caller, bucket).await?;
        let now = self.now();
        let known = bucket.outputs.iter().find(|known| known.id == output);
        if known.is_none_or(|known| known.pauses.current(now).is_some()) {
            return Ok(());
        }
        tracing::warn!(%output, "the destination is gone (410): paused");
        let reason = "the destination answered 410 (Gone)".to_owned();
        let mut pause = Pause::new(now, None, reason);
        pause.by = PausedBy::Gone;
        self.change_output(&caller, bucket, output, |output| output.pauses.pause(pause)).await?;
        Ok(())
    }

    /// Ends the pause of an output, if there is one. See [`ResumeRequest`] for how fast what
    /// waited leaves.
    ///
    /// # Errors
    /// `Invalid` when the rate is too high.
    pub async fn resume_output(
        &self,
        caller: &Caller,
        bucket_id: BucketId,
        id: OutputId,
        request: ResumeRequest,
    ) -> Result<Output, Error> {
        let ResumeRequest { rate, interval } = request;
        if rate > MAX_RATE {
            return Err(Error::invalid("rate", format_args!("must be at most {MAX_RATE}")));
        }
        let (rate, now) = ((rate > 0).then_some((rate, interval)), self.now());
        let _guard = self.lock(bucket_id.as_uuid()).await;
        let bucket = self.owned_bucket(caller, bucket_id).await?;
        self.change_output(caller, bucket, id, |output| output.pauses.resume(now, rate)).await
    }
}
