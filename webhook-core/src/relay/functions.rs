//! Functions on the way of a webhook (functions.md, "Order of use").

use std::{
    collections::{BTreeMap, hash_map::DefaultHasher},
    hash::{Hash, Hasher},
    sync::Arc,
};

use super::{Inner, attempt::FunctionFailed, ingest::InputVerdict};
use crate::{
    clock::Timestamp,
    error::{Error, ErrorKind},
    function::{Completion, FunctionError, Invocation, ScriptOutcome, ScriptResponse, record},
    id::{AccountId, ExecutionId, FunctionId},
    model::{
        Attempt, Bucket, Execution, ExecutionStatus, Function, Input, Output, Request, Webhook,
    },
};

/// What an output's function made of a webhook.
#[derive(Debug)]
pub(super) struct Transformed {
    pub(super) execution_id: ExecutionId,
    pub(super) request: Request,
    pub(super) stop: bool,
}

/// A run that has been recorded.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) execution: Execution,
    pub(crate) result: Result<ScriptOutcome, FunctionError>,
}

impl Inner {
    /// Runs the input's function on `webhook` before it is routed.
    pub(super) async fn run_input_function(
        &self,
        function: FunctionId,
        bucket: &Bucket,
        input: &Input,
        webhook: &mut Webhook,
    ) -> Result<InputVerdict, Error> {
        let metadata = metadata(bucket, Some(input), None);
        let ran = self
            .run_function(bucket.account_id, function, webhook.request.clone(), None, metadata)
            .await?;
        webhook.input_execution_id = Some(ran.execution.id);
        match ran.result {
            Ok(outcome) => {
                webhook.request = outcome.request;
                let response = outcome.response.filter(|_| outcome.response_modified);
                Ok(InputVerdict { response, stop: outcome.stop_forwarding })
            }
            Err(error) if error.is_retryable() => {
                Err(Error::unavailable(error.to_string(), std::time::Duration::from_secs(1)))
            }
            // The sender learns that it failed; the reason is the account's.
            Err(error) => {
                Err(Error::new(ErrorKind::Internal, "the input's function failed").caused_by(error))
            }
        }
    }

    /// Runs an output's function on its copy of the webhook.
    pub(super) async fn run_output_function(
        &self,
        function: FunctionId,
        bucket: &Bucket,
        output: &Output,
        webhook: &Webhook,
    ) -> Result<Transformed, FunctionFailed> {
        let input = bucket.inputs.iter().find(|input| input.id == webhook.input_id);
        let metadata = metadata(bucket, input, Some(output));
        let ran = self
            .run_function(bucket.account_id, function, webhook.request.clone(), None, metadata)
            .await
            .map_err(|error| FunctionFailed {
                reason: error.to_string(),
                execution_id: None,
                retryable: error.kind() == ErrorKind::Unavailable,
            })?;
        let execution_id = ran.execution.id;
        match ran.result {
            Ok(outcome) => Ok(Transformed {
                execution_id,
                request: outcome.request,
                stop: outcome.stop_forwarding,
            }),
            Err(error) => Err(FunctionFailed {
                reason: format!("the output's function failed: {error}"),
                execution_id: Some(execution_id),
                retryable: error.is_retryable(),
            }),
        }
    }

    /// Runs a response function after the final outcome; it may change what is recorded.
    pub(super) async fn run_response_function(
        &self,
        function: FunctionId,
        bucket: &Bucket,
        output: &Output,
        webhook: &Webhook,
        sent: &Request,
        attempt: &mut Attempt,
    ) {
        let input = bucket.inputs.iter().find(|input| input.id == webhook.input_id);
        let response = ScriptResponse {
            status: attempt.status_code,
            headers: attempt.response_headers.clone(),
            body: attempt.response_body.clone(),
        };
        let metadata = metadata(bucket, input, Some(output));
        let account = bucket.account_id;
        let ran =
            self.run_function(account, function, sent.clone(), Some(response), metadata).await;
        let failed = match ran {
            Ok(Ran { result: Ok(outcome), .. }) => {
                if let Some(set) = outcome.response.filter(|_| outcome.response_modified) {
                    attempt.status_code = set.status;
                    attempt.response_headers = set.headers;
                    attempt.response_body = set.body;
                }
                return;
            }
            Ok(Ran { result: Err(error), .. }) => error.to_string(),
            Err(error) => error.to_string(),
        };
        attempt.error = Some(format!("the response function failed: {failed}"));
    }

    /// Runs a function of the account once and records the run.
    pub(crate) async fn run_function(
        &self,
        account_id: AccountId,
        function_id: FunctionId,
        request: Request,
        response: Option<ScriptResponse>,
        metadata: BTreeMap<String, String>,
    ) -> Result<Ran, Error> {
        let Some(function) = self.stores.functions.function(account_id, function_id).await? else {
            return Err(Error::new(ErrorKind::Internal, "the function does not exist"));
        };
        let variables = self.stores.functions.variables(account_id, function_id).await?;
        let config: BTreeMap<_, _> = variables
            .into_iter()
            .map(|variable| (variable.key, variable.value.expose().to_owned()))
            .collect();
        let invocation = Invocation {
            account_id,
            function_id,
            revision: revision(&function),
            driver: function.spec.driver,
            source: Arc::from(function.spec.payload),
            config: Arc::new(config),
            metadata,
            request,
            response,
        };
        let started = self.clock.now();
        let before = record::request(&invocation);
        let original = invocation.clone();
        let completion = match &self.functions {
            Some(runtime) => runtime.run(invocation).await,
            None => Completion {
                result: Err(FunctionError::NoDriver(function.spec.driver)),
                logs: Vec::new(),
                duration: std::time::Duration::ZERO,
            },
        };
        let execution = self.record(&original, before, started, &completion).await;
        Ok(Ran { execution, result: completion.result })
    }

    async fn record(
        &self,
        invocation: &Invocation,
        before: serde_json::Value,
        started: Timestamp,
        completion: &Completion,
    ) -> Execution {
        let id = ExecutionId::generate();
        let execution = Execution {
            id,
            function_id: invocation.function_id,
            account_id: invocation.account_id,
            created: started,
            updated: self.clock.now(),
            duration: completion.duration,
            status: match completion.result {
                Ok(_) => ExecutionStatus::Success,
                Err(_) => ExecutionStatus::Error,
            },
            execute_request: before,
            execute_response: record::response(id, invocation, completion),
        };
        let keep = self.options.kept_executions;
        if let Err(error) = self.stores.functions.record_execution(&execution, keep).await {
            tracing::warn!(function = %execution.function_id, %error, "run not recorded");
        }
        execution
    }
}

/// Compiled code is found by its text: the same source is the same revision.
fn revision(function: &Function) -> u64 {
    let mut hasher = DefaultHasher::new();
    function.spec.payload.hash(&mut hasher);
    hasher.finish()
}

/// What `r.Metadata` reads.
fn metadata(
    bucket: &Bucket,
    input: Option<&Input>,
    output: Option<&Output>,
) -> BTreeMap<String, String> {
    let mut metadata = BTreeMap::from([
        ("bucket_id".to_owned(), bucket.id.to_string()),
        ("bucket_name".to_owned(), bucket.spec.name.clone()),
    ]);
    if let Some(input) = input {
        metadata.insert("input_id".to_owned(), input.id.to_string());
        metadata.insert("input_name".to_owned(), input.spec.name.clone());
    }
    if let Some(output) = output {
        metadata.insert("output_id".to_owned(), output.id.to_string());
        metadata.insert("output_name".to_owned(), output.spec.name.clone());
        metadata.insert("output_url".to_owned(), output.spec.destination.clone());
    }
    metadata
}
