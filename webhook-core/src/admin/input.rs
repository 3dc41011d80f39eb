//! Inputs.

use super::{Admin, Caller, check};
use crate::{
    error::{Error, ErrorKind},
    id::{BucketId, InputId},
    model::{
        Bucket, Input, InputSpec, Output, ResponseFromOutput, SignatureCheck, SignatureCheckRequest,
    },
    plan::Limited,
    relay::Asked,
};

impl Admin {
    /// Makes an input. A domain and prefix that another input has is a
    /// [`Conflict`](ErrorKind::Conflict); a bucket that the account does not have is
    /// [`Invalid`](ErrorKind::Invalid) here.
    pub async fn create_input(
        &self,
        caller: &Caller,
        bucket_id: BucketId,
        mut spec: InputSpec,
    ) -> Result<Input, Error> {
        check::input(&spec, &self.options)?;
        spec.keep_extensions(None)?;
        check::input_extensions(&spec, None, self.now())?;
        let _guard = self.lock(bucket_id.as_uuid()).await;
        let mut bucket = self.owned_bucket(caller, bucket_id).await.map_err(as_invalid)?;
        let limit = self.options.max_inputs_per_bucket;
        if bucket.inputs.len() >= limit {
            return Err(Error::conflict(format!("the bucket has all of its {limit} inputs")));
        }
        self.check_input_references(caller, &bucket, &spec).await?;
        let _place = self.place_input(caller, None, &mut spec).await?;
        let counts = self.stores.buckets.bucket_counts(caller.account_id());
        let count = async { Ok(counts.await?.inputs) };
        let _room = self.room(caller, Limited::Inputs, count).await?;

        let now = self.now();
        let input = Input {
            id: self.ids.unguessable(),
            bucket_id,
            created_at: now,
            updated_at: now,
            created_by: caller.label(),
            spec,
        };
        self.stores.inputs.create_input(caller.account_id(), &input).await.map_err(as_invalid)?;
        bucket.inputs.push(input.clone());
        self.listeners.bucket_changed(&bucket);
        Ok(input)
    }

    /// Replaces what a caller may write of an input; an empty name keeps the old one.
    pub async fn update_input(
        &self,
        caller: &Caller,
        bucket_id: BucketId,
        id: InputId,
        mut spec: InputSpec,
    ) -> Result<Input, Error> {
        check::input(&spec, &self.options)?;
        let _guard = self.lock(bucket_id.as_uuid()).await;
        let mut bucket = self.owned_bucket(caller, bucket_id).await?;
        self.check_input_references(caller, &bucket, &spec).await?;
        let input = bucket.inputs.iter_mut().find(|input| input.id == id);
        let input = input.ok_or_else(|| Error::not_found("input"))?;

        spec.keep_extensions(Some(&input.spec))?;
        check::input_extensions(&spec, Some(&input.spec), self.now())?;
        let _place = self.place_input(caller, Some(input), &mut spec).await?;
        let old = std::mem::replace(&mut input.spec, spec);
        if input.spec.name.is_empty() {
            input.spec.name = old.name;
        }
        input.updated_at = self.now();
        let input = input.clone();
        self.stores.inputs.update_input(caller.account_id(), &input).await?;
        self.listeners.bucket_changed(&bucket);
        if !old.custom_domain.is_empty() {
            self.listeners.domain_changed(&old.custom_domain);
        }
        Ok(input)
    }

    /// Removes an input; webhooks sent to it are refused from then on.
    pub async fn delete_input(
        &self,
        caller: &Caller,
        bucket_id: BucketId,
        id: InputId,
    ) -> Result<(), Error> {
        let _guard = self.lock(bucket_id.as_uuid()).await;
        let bucket = self.owned_bucket(caller, bucket_id).await?;
        self.stores.inputs.delete_input(caller.account_id(), bucket_id, id).await?;
        self.listeners.bucket_changed(&bucket);
        Ok(())
    }

    /// What an input says of a request's signature, also while it does not verify: to find out
    /// why webhooks are refused, or before they are. Nothing is stored and nothing is sent on.
    ///
    /// # Errors
    ///
    /// [`Invalid`](ErrorKind::Invalid) names the field that cannot be part of a request;
    /// [`NotFound`](ErrorKind::NotFound) is no such bucket or input, or no such log of the input;
    /// [`Conflict`](ErrorKind::Conflict) a log whose content is erased.
    pub async fn check_signature(
        &self,
        caller: &Caller,
        bucket_id: BucketId,
        id: InputId,
        asked: SignatureCheckRequest,
    ) -> Result<SignatureCheck, Error> {
        let bucket = self.owned_bucket(caller, bucket_id).await?;
        let input = bucket
            .inputs
            .iter()
            .find(|input| input.id == id)
            .ok_or_else(|| Error::not_found("input"))?;
        match asked {
            SignatureCheckRequest { log_id: Some(log), request: None } => {
                let log = self.bucket_log(caller, bucket_id, log).await?;
                if log.webhook.input_id != id {
                    return Err(Error::not_found("log"));
                }
                if log.webhook.ephemeral {
                    return Err(Error::conflict("the webhook is ephemeral: its content is erased"));
                }
                self.relay.check_signature(input, Asked::Stored(&log.webhook)).await
            }
            SignatureCheckRequest { log_id: None, request: Some(request) } => {
                let request = request.into_request()?;
                self.relay.check_signature(input, Asked::Given(&request)).await
            }
            _ => Err(Error::invalid("log_id", "either it or request must be given")),
        }
    }

    /// What an input refers to must be there.
    async fn check_input_references(
        &self,
        caller: &Caller,
        bucket: &Bucket,
        spec: &InputSpec,
    ) -> Result<(), Error> {
        if let ResponseFromOutput::Output(id) = spec.response_from_output
            && !bucket.outputs.iter().any(|output| output.id == id)
        {
            let reason = format!("the bucket has no output {id}");
            return Err(Error::invalid("response_from_output", reason));
        }
        let answers = |output: &&Output| match spec.response_from_output {
            ResponseFromOutput::Static => false,
            ResponseFromOutput::Any => true,
            ResponseFromOutput::Output(id) => output.id == id,
        };
        let mut replaying = bucket.outputs.iter().filter(|o| o.spec.replay_missing.enabled);
        if let Some(output) = replaying.find(answers) {
            let reason = format!("the output {} replays what was missed", output.id);
            return Err(Error::invalid("response_from_output", reason));
        }
        self.check_function(caller, "function_id", spec.function_id).await
    }
}

/// The status that the interface gives a missing bucket when an input is made.
fn as_invalid(error: Error) -> Error {
    match error.kind() {
        ErrorKind::NotFound => error.with_kind(ErrorKind::Invalid),
        _ => error,
    }
}
