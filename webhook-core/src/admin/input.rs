//! Inputs.

use super::{Admin, Caller, as_invalid, check};
use crate::{
    error::Error,
    id::{BucketId, DomainId, InputId},
    model::{Bucket, Input, InputSpec, ResponseFromOutput, SignatureCheck, SignatureCheckRequest},
    plan::Limited,
    relay::{Asked, answers},
    store::{ApplyError, Bounds, Change, Refusal, again},
};

impl Admin {
    /// Makes an input. A domain and prefix that another input has is a
    /// [`Conflict`](crate::ErrorKind::Conflict); a bucket that the account does not have is
    /// [`Invalid`](crate::ErrorKind::Invalid) here.
    pub async fn create_input(
        &self,
        caller: &Caller,
        bucket_id: BucketId,
        mut spec: InputSpec,
    ) -> Result<Input, Error> {
        let mut bucket = self.owned_bucket(caller, bucket_id).await.map_err(as_invalid)?;
        let domain_id = self.check_input(caller, &bucket, None, &mut spec).await?;
        let (in_account, no_input) = self.bound_of_all(caller, Limited::Inputs).await?;
        let limit = self.options.max_inputs_per_bucket;

        let mut input = Input::new(self.ids.unguessable(), bucket_id, self.now(), spec);
        input.created_by = caller.label();
        input.domain_id = domain_id;
        let bounds = Bounds { in_bucket: limit as u64, in_account };
        let create = [Change::create(caller.account_id(), &input, bounds)?];
        if let Err(error) = self.stores.documents.apply(&create).await {
            return Err(match error {
                ApplyError::Refused(Refusal::BucketFull(_)) => {
                    Error::conflict(format!("the bucket has all of its {limit} inputs"))
                }
                ApplyError::Refused(Refusal::AccountFull(_)) => no_input,
                error => as_invalid(self.place_refused(error, &input.spec).await.into()),
            });
        }
        bucket.inputs.push(input.clone());
        self.tell(|it| it.bucket_changed(&bucket));
        Ok(input)
    }

    /// One input of a bucket.
    pub async fn input(
        &self,
        caller: &Caller,
        bucket_id: BucketId,
        id: InputId,
    ) -> Result<Input, Error> {
        let bucket = self.owned_bucket(caller, bucket_id).await?;
        let input = owned_input(&bucket, id)?;
        caller.require_version(input.version).map(|()| input.clone())
    }

    /// Replaces what a caller may write of an input; an empty name keeps the old one.
    pub async fn update_input(
        &self,
        caller: &Caller,
        bucket_id: BucketId,
        id: InputId,
        spec: InputSpec,
    ) -> Result<Input, Error> {
        again(|| async {
            let mut bucket = self.owned_bucket(caller, bucket_id).await?;
            let stored = owned_input(&bucket, id)?;
            caller.require_version(stored.version)?;
            let mut spec = spec.clone();
            let domain_id = self.check_input(caller, &bucket, Some(stored), &mut spec).await?;
            let input = bucket.inputs.iter_mut().find(|input| input.id == id);
            let input = input.ok_or_else(|| Error::not_found("input"))?;
            let old = std::mem::replace(&mut input.spec, spec);
            input.domain_id = domain_id;
            input.updated_at = self.now();
            let update = [Change::update(caller.account_id(), input, input.version)?];
            if let Err(error) = self.stores.documents.apply(&update).await {
                return Err(self.place_refused(error, &input.spec).await);
            }
            input.version += 1;
            let input = input.clone();
            self.tell(|it| it.bucket_changed(&bucket));
            if !old.custom_domain.is_empty() {
                self.tell(|it| it.domain_changed(&old.custom_domain));
            }
            Ok(input)
        })
        .await
    }

    /// Removes an input; webhooks sent to it are refused from then on.
    pub async fn delete_input(
        &self,
        caller: &Caller,
        bucket_id: BucketId,
        id: InputId,
    ) -> Result<(), Error> {
        let bucket = self.owned_bucket(caller, bucket_id).await?;
        let version = owned_input(&bucket, id)?.version;
        let delete = Change::delete::<Input>(caller.account_id(), id.as_uuid());
        self.stores.documents.apply(&[delete.pinned(caller.pin(version)?)]).await?;
        self.tell(|it| it.bucket_changed(&bucket));
        Ok(())
    }

    /// What an input says of a request's signature, also while it does not verify: to find out
    /// why webhooks are refused, or before they are. Nothing is stored and nothing is sent on.
    ///
    /// # Errors
    ///
    /// [`Invalid`](crate::ErrorKind::Invalid) names the field that cannot be part of a request;
    /// [`NotFound`](crate::ErrorKind::NotFound) is no such bucket or input, or no such log of the input;
    /// [`Conflict`](crate::ErrorKind::Conflict) a log whose content is erased.
    pub async fn check_signature(
        &self,
        caller: &Caller,
        bucket_id: BucketId,
        id: InputId,
        asked: SignatureCheckRequest,
    ) -> Result<SignatureCheck, Error> {
        let bucket = self.owned_bucket(caller, bucket_id).await?;
        let input = owned_input(&bucket, id)?;
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

    /// Completes what a caller wrote by what is `stored`, and checks it, a new input and a change
    /// alike. Answers the domain of the input.
    async fn check_input(
        &self,
        caller: &Caller,
        bucket: &Bucket,
        stored: Option<&Input>,
        spec: &mut InputSpec,
    ) -> Result<Option<DomainId>, Error> {
        let nothing = InputSpec::default();
        let before = stored.map_or(&nothing, |input| &input.spec);
        spec.keep(before)?;
        check::input(spec, before, self.now())?;
        if let ResponseFromOutput::Output(id) = spec.response_from_output
            && bucket.output(id).is_none()
        {
            let reason = format!("the bucket has no output {id}");
            return Err(Error::invalid("response_from_output", reason));
        }
        let mut replaying = bucket.outputs.iter().filter(|o| o.spec.replay_missing.enabled);
        if let Some(output) = replaying.find(|it| answers(spec.response_from_output, it.id)) {
            let reason = format!("the output {} replays what was missed", output.id);
            return Err(Error::invalid("response_from_output", reason));
        }
        self.check_function(caller, "function_id", spec.function_id).await?;
        self.place_input(caller, stored, spec).await
    }
}

fn owned_input(bucket: &Bucket, id: InputId) -> Result<&Input, Error> {
    bucket.input(id).ok_or_else(|| Error::not_found("input"))
}
