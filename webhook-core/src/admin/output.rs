//! Outputs and their rules.

use super::{Admin, Caller, check};
use crate::{
    error::Error,
    id::{BucketId, FunctionId, OutputId},
    model::{Bucket, Output, OutputSpec, ResponseFromOutput},
    plan::Limited,
    rule::Rules,
};

impl Admin {
    /// Makes an output. One that leads back into its own bucket is a
    /// [`Conflict`](crate::ErrorKind::Conflict), unless the caller
    /// [means it](Caller::allowing_loops).
    pub async fn create_output(
        &self,
        caller: &Caller,
        bucket_id: BucketId,
        mut spec: OutputSpec,
    ) -> Result<Output, Error> {
        check::output(&spec, &self.options)?;
        spec.keep_extensions(None)?;
        check::output_extensions(&spec, self.now(), &self.options)?;
        let _guard = self.lock(bucket_id.as_uuid()).await;
        let mut bucket = self.owned_bucket(caller, bucket_id).await?;
        let limit = self.options.max_outputs_per_bucket;
        if bucket.outputs.len() >= limit {
            return Err(Error::conflict(format!("the bucket has all of its {limit} outputs")));
        }
        self.check_output_functions(caller, &spec).await?;
        self.check_loop(caller, bucket_id, &spec, None).await?;
        check_replay(&bucket, None, &spec)?;
        let counts = self.stores.buckets.bucket_counts(caller.account_id());
        let count = async { Ok(counts.await?.outputs) };
        let _room = self.room(caller, Limited::Outputs, count).await?;

        let now = self.now();
        let mut output = Output::new(self.ids.next(), bucket_id, now, spec);
        output.created_by = caller.label();
        self.stores.outputs.create_output(caller.account_id(), &output).await?;
        bucket.outputs.push(output.clone());
        self.listeners.bucket_changed(&bucket);
        Ok(output)
    }

    /// Replaces what a caller may write of an output; an empty name keeps the old one. A new
    /// destination is checked as that of a new output.
    pub async fn update_output(
        &self,
        caller: &Caller,
        bucket_id: BucketId,
        id: OutputId,
        mut spec: OutputSpec,
    ) -> Result<Output, Error> {
        check::output(&spec, &self.options)?;
        let _guard = self.lock(bucket_id.as_uuid()).await;
        let bucket = self.owned_bucket(caller, bucket_id).await?;
        self.check_output_functions(caller, &spec).await?;
        check_replay(&bucket, Some(id), &spec)?;
        let output = bucket.outputs.iter().find(|output| output.id == id);
        let output = output.ok_or_else(|| Error::not_found("output"))?;
        spec.keep_extensions(Some(&output.spec))?;
        check::output_extensions(&spec, self.now(), &self.options)?;
        self.check_loop(caller, bucket_id, &spec, Some(&output.spec.destination)).await?;
        let now = self.now();
        self.change_output(caller, bucket, id, |output| {
            let old_name = std::mem::replace(&mut output.spec, spec).name;
            output.pauses.set_disabled(output.spec.disabled, now);
            if output.spec.health.set().is_none_or(|health| !health.enabled) {
                output.failing_since = None;
            }
            if output.spec.name.is_empty() {
                output.spec.name = old_name;
            }
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
        let _guard = self.lock(bucket_id.as_uuid()).await;
        let bucket = self.owned_bucket(caller, bucket_id).await?;
        self.stores.outputs.delete_output(caller.account_id(), bucket_id, id).await?;
        self.listeners.bucket_changed(&bucket);
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
        let _guard = self.lock(bucket_id.as_uuid()).await;
        let bucket = self.owned_bucket(caller, bucket_id).await?;
        self.change_output(caller, bucket, id, |output| output.spec.rules = rules).await
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

    /// Changes and stores an output of a bucket that is locked.
    pub(super) async fn change_output(
        &self,
        caller: &Caller,
        mut bucket: Bucket,
        id: OutputId,
        change: impl FnOnce(&mut Output),
    ) -> Result<Output, Error> {
        let output = bucket.outputs.iter_mut().find(|output| output.id == id);
        let output = output.ok_or_else(|| Error::not_found("output"))?;
        change(output);
        output.updated_at = self.now();
        let output = output.clone();
        self.stores.outputs.update_output(caller.account_id(), &output).await?;
        self.listeners.bucket_changed(&bucket);
        Ok(output)
    }

    async fn check_output_functions(
        &self,
        caller: &Caller,
        spec: &OutputSpec,
    ) -> Result<(), Error> {
        self.check_function(caller, "function_id", spec.function_id).await?;
        self.check_function(caller, "response_function_id", spec.response_function_id).await
    }

    /// A function that is named must be the account's.
    pub(super) async fn check_function(
        &self,
        caller: &Caller,
        field: &str,
        id: Option<FunctionId>,
    ) -> Result<(), Error> {
        let Some(id) = id else { return Ok(()) };
        match self.stores.functions.function(caller.account_id(), id).await? {
            Some(_) => Ok(()),
            None => Err(Error::invalid(field, format!("the account has no function {id}"))),
        }
    }
}

/// What is handed over late answers nobody: the sender has waited for seconds.
fn check_replay(bucket: &Bucket, id: Option<OutputId>, spec: &OutputSpec) -> Result<(), Error> {
    let answers = |response: ResponseFromOutput| match response {
        ResponseFromOutput::Static => false,
        ResponseFromOutput::Any => true,
        ResponseFromOutput::Output(other) => Some(other) == id,
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
