//! Outputs, their rules, and those that would lead webhooks back into their own bucket.

use std::collections::HashSet;

use super::{Admin, Caller, check};
use crate::{
    error::Error,
    id::{BucketId, FunctionId, OutputId},
    model::{Bucket, Function, Output, OutputSpec, PauseChange, ResponseFromOutput},
    plan::Limited,
    relay::answers,
    rule::Rules,
    store::{ApplyError, Bounds, Change, DocumentKind, Refusal, RouteStore, StateChange, again},
};

/// How many inputs a search for a loop reads.
const MAX_INPUTS_OF_A_LOOP: usize = 1_000;

impl Admin {
    /// Makes an output. One that leads back into its own bucket is a
    /// [`Conflict`](crate::ErrorKind::Conflict), unless the caller
    /// [means it](Caller::allowing_loops).
    pub async fn create_output(
        &self,
        caller: &Caller,
        bucket_id: BucketId,
        spec: OutputSpec,
    ) -> Result<Output, Error> {
        let mut bucket = self.owned_bucket(caller, bucket_id).await?;
        let spec = self.checked_output(caller, &bucket, None, spec).await?;
        let (in_account, no_output) = self.bound_of_all(caller, Limited::Outputs).await?;
        let limit = self.options.max_outputs_per_bucket;

        let mut output = Output::new(self.ids.next(), bucket_id, self.now(), spec);
        output.created_by = caller.label();
        let bounds = Bounds { in_bucket: limit as u64, in_account };
        let create = [Change::create(caller.account_id(), &output, bounds)?];
        self.stores.documents.apply(&create).await.map_err(|error| match error {
            ApplyError::Refused(Refusal::BucketFull(_)) => {
                Error::conflict(format!("the bucket has all of its {limit} outputs"))
            }
            ApplyError::Refused(Refusal::AccountFull(_)) => no_output,
            error => function_gone(error).into(),
        })?;
        bucket.outputs.push(output.clone());
        self.tell(|it| it.bucket_changed(&bucket));
        Ok(output)
    }

    /// One output of a bucket.
    pub async fn output(
        &self,
        caller: &Caller,
        bucket_id: BucketId,
        id: OutputId,
    ) -> Result<Output, Error> {
        let bucket = self.owned_bucket(caller, bucket_id).await?;
        owned_output(caller, &bucket, id).cloned()
    }

    /// Replaces what a caller may write of an output; an empty name keeps the old one. A new
    /// destination is checked as that of a new output.
    pub async fn update_output(
        &self,
        caller: &Caller,
        bucket_id: BucketId,
        id: OutputId,
        spec: OutputSpec,
    ) -> Result<Output, Error> {
        again(|| async {
            let bucket = self.owned_bucket(caller, bucket_id).await?;
            let output = owned_output(caller, &bucket, id)?;
            let spec = self.checked_output(caller, &bucket, Some(output), spec.clone()).await?;
            self.store_output(bucket, id, spec).await
        })
        .await
    }

    /// Removes an output; what still waits for it is not attempted any more.
    pub async fn delete_output(
        &self,
        caller: &Caller,
        bucket_id: BucketId,
        id: OutputId,
    ) -> Result<(), Error> {
        let bucket = self.owned_bucket(caller, bucket_id).await?;
        let version = owned_output(caller, &bucket, id)?.version;
        let delete = Change::delete::<Output>(caller.account_id(), id.as_uuid());
        self.stores.documents.apply(&[delete.pinned(caller.pin(version)?)]).await?;
        self.tell(|it| it.bucket_changed(&bucket));
        Ok(())
    }

    /// Replaces the rules of an output and nothing else of it.
    pub async fn put_rules(
        &self,
        caller: &Caller,
        bucket_id: BucketId,
        id: OutputId,
        rules: Rules,
    ) -> Result<Output, Error> {
        again(|| async {
            let bucket = self.owned_bucket(caller, bucket_id).await?;
            let spec = owned_output(caller, &bucket, id)?.spec.clone();
            let spec = OutputSpec { rules: rules.clone(), ..spec };
            self.store_output(bucket, id, spec).await
        })
        .await
    }

    /// Removes the rules of an output: it gets every webhook.
    pub async fn delete_rules(
        &self,
        caller: &Caller,
        bucket_id: BucketId,
        id: OutputId,
    ) -> Result<Output, Error> {
        self.put_rules(caller, bucket_id, id, Rules::default()).await
    }

    /// Stores an output of a bucket that was read, with what follows for its state.
    async fn store_output(
        &self,
        mut bucket: Bucket,
        id: OutputId,
        spec: OutputSpec,
    ) -> Result<Output, ApplyError> {
        let now = self.now();
        let output = bucket.outputs.iter_mut().find(|output| output.id == id);
        let output = output.ok_or_else(|| Error::not_found("output"))?;
        let was_disabled = std::mem::replace(&mut output.spec, spec).disabled;
        output.updated_at = now;
        let mut changes = vec![Change::update(bucket.account_id, output, output.version)?];
        if output.spec.disabled != was_disabled {
            let disable = PauseChange::Disable(output.spec.disabled, now);
            output.pauses.change(disable.clone());
            changes.push(Change::State(StateChange::Pauses(id, disable)));
        }
        let is_healthy = output.spec.health.set().is_none_or(|health| !health.enabled);
        if is_healthy && output.failing_since.take().is_some() {
            changes.push(Change::State(StateChange::Working(id)));
        }
        output.version += 1;
        let output = output.clone();
        self.stores.documents.apply(&changes).await.map_err(function_gone)?;
        self.tell(|it| it.bucket_changed(&bucket));
        Ok(output)
    }

    /// Completes the specification of a caller by the `stored` output, and checks it. A new output
    /// and a change are checked alike.
    async fn checked_output(
        &self,
        caller: &Caller,
        bucket: &Bucket,
        stored: Option<&Output>,
        mut spec: OutputSpec,
    ) -> Result<OutputSpec, Error> {
        match stored {
            Some(output) => spec.keep(&output.spec)?,
            None => spec.keep(&OutputSpec::default())?,
        }
        check::output(&spec, self.now(), &self.relay.destinations)?;
        self.check_function(caller, "function_id", spec.function_id).await?;
        self.check_function(caller, "response_function_id", spec.response_function_id).await?;
        check_replay(bucket, stored.map(|output| output.id), &spec)?;
        let before = stored.map(|output| &*output.spec.destination);
        self.check_loop(caller, bucket.id, &spec, before).await?;
        Ok(spec)
    }

    /// A function that is named must be the account's.
    pub(super) async fn check_function(
        &self,
        caller: &Caller,
        field: &str,
        id: Option<FunctionId>,
    ) -> Result<(), Error> {
        let Some(id) = id else { return Ok(()) };
        let found =
            self.stores.documents.get::<Function>(caller.account_id(), id.as_uuid()).await?;
        match found {
            Some(_) => Ok(()),
            None => Err(Error::invalid(field, format!("the account has no function {id}"))),
        }
    }
}

/// The output of a bucket, in a version that the caller expects.
pub(super) fn owned_output<'a>(
    caller: &Caller,
    bucket: &'a Bucket,
    id: OutputId,
) -> Result<&'a Output, Error> {
    let output = bucket.output(id).ok_or_else(|| Error::not_found("output"))?;
    caller.require_version(output.version).map(|()| output)
}

/// The error of an output whose function was removed at this moment.
pub(super) fn function_gone(error: ApplyError) -> ApplyError {
    match error {
        ApplyError::Refused(Refusal::Missing(DocumentKind::Function)) => {
            Error::invalid("function_id", "the account has no such function").into()
        }
        error => error,
    }
}

/// What is handed over late answers nobody: the sender has waited for seconds.
fn check_replay(bucket: &Bucket, id: Option<OutputId>, spec: &OutputSpec) -> Result<(), Error> {
    let answers = |response| match id {
        Some(id) => answers(response, id),
        // An input can name an output that does not exist yet only by naming all of them.
        None => response == ResponseFromOutput::Any,
    };
    let answered = bucket.inputs.iter().find(|input| answers(input.spec.response_from_output));
    match answered {
        Some(input) if spec.replay_missing.enabled => {
            let reason = format!("the input {} answers with this output's response", input.id);
            Err(Error::invalid("replay_missing", reason))
        }
        _ => Ok(()),
    }
}

impl Admin {
    /// Fails when an enabled output of `bucket` with a new destination closes a loop, unless the
    /// caller says that it is meant. `before` is the destination that it had. The search follows
    /// the enabled outputs of the account through 1 000 inputs; other loops end after some hops
    /// ([`RelayOptions::max_hops`](crate::relay::RelayOptions)).
    pub(super) async fn check_loop(
        &self,
        caller: &Caller,
        bucket: BucketId,
        spec: &OutputSpec,
        before: Option<&str>,
    ) -> Result<(), Error> {
        let sends = !spec.disabled && !spec.internal && before != Some(&spec.destination);
        if !sends || caller.allows_loops() {
            return Ok(());
        }
        // Nearly all destinations are elsewhere: nothing is read for them.
        let Some(input) = self.relay.receiver.input_at(&spec.destination).await? else {
            return Ok(());
        };
        let (mut seen, mut next) = (HashSet::new(), vec![input]);
        while let Some(input) = next.pop().filter(|_| seen.len() < MAX_INPUTS_OF_A_LOOP) {
            if !seen.insert(input) {
                continue;
            }
            let reached = self.stores.documents.bucket_of_input(input).await?;
            let reached = reached.filter(|it| it.account_id == caller.account_id());
            let Some(reached) = reached else { continue };
            if reached.id == bucket {
                return Err(Error::conflict(
                    "destination: it leads back into this bucket, so that each webhook would \
                     come again and again; choose another one, or say that the loop is meant \
                     with ?allow_loop=true",
                ));
            }
            for output in &reached.outputs {
                if output.spec.takes_webhooks() && !output.spec.internal {
                    next.extend(self.relay.receiver.input_at(&output.spec.destination).await?);
                }
            }
        }
        Ok(())
    }
}
