//! Functions on the way of a webhook.

#[cfg(feature = "admin")]
mod trial;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use serde_json::Value;

#[cfg(feature = "admin")]
pub(crate) use self::trial::Tried;
use super::{
    Observer, RelayOptions, RelayParts,
    cache::{FunctionCache, Script},
    watch::Watch,
};
use crate::{
    clock::{Clock, Ids, Timestamp},
    error::{Error, ErrorKind},
    function::{
        Completion, FunctionError, FunctionRuntime, Invocation, ScriptOutcome, ScriptResponse,
        Trial,
        decoded::Received,
        record::{Detail, Given, Left, RunRecord},
    },
    id::{AccountId, ExecutionId, FunctionId},
    model::{
        Attempt, Bucket, ExecutionStatus, FunctionMust, Input, Invoked, NotificationEvent, Output,
        Request, Webhook,
    },
    store::{FunctionStore, NewExecution, Pending},
};

/// What the sender is told, and how the log begins, when the input's function failed.
pub(super) const INPUT_FAILED: &str = "the input's function failed";

/// Runs functions. The record of a run is stored with the webhook or the outcome that the run led
/// to, in one commit; so a run whose webhook was not stored leaves no record.
#[derive(Debug)]
pub(crate) struct Functions {
    pub(super) cache: FunctionCache,
    /// None where no function can run.
    pub(super) runtime: Option<Arc<dyn FunctionRuntime>>,
    /// Where the other runs are recorded.
    pub(super) store: Arc<dyn FunctionStore>,
    pub(super) watch: Arc<Watch>,
    pub(super) observer: Arc<dyn Observer>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) ids: Arc<Ids>,
    pub(super) options: Arc<RelayOptions>,
}

/// What an output's function made of a webhook.
#[derive(Debug)]
pub(super) struct Transformed {
    /// The record of the run, which is stored with the outcome; none when another stands for it.
    pub(super) run: Option<NewExecution>,
    pub(super) request: Request,
    /// Whether the delivery goes no further.
    pub(super) stop: bool,
}

/// A function on the way of a webhook left nothing.
#[derive(Debug)]
pub(super) struct FunctionFailed {
    pub(super) failure: FunctionFailure,
    /// What the log says.
    pub(super) reason: String,
    /// The run, when there was one; nobody has stored it.
    pub(super) run: Option<NewExecution>,
}

/// Whether a function that left nothing can be expected to another time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FunctionFailure {
    /// Too many are running: it passes.
    Busy,
    /// The store could not say what the function is: it passes.
    StoreUnavailable,
    /// It fails each time.
    Failed,
}

/// A call that is to be made.
#[derive(Debug)]
struct Call {
    account_id: AccountId,
    function_id: FunctionId,
    given: Invoked,
    /// What of its run is recorded.
    detail: Detail,
    /// What the run has to do.
    must: FunctionMust,
    recording: Recording,
    trial: Candidate,
}

/// Which runs have a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Recording {
    /// The run has a record, which is not stored. The run is not counted either.
    Trial,
    /// Each run has a record.
    Each,
    /// Each run that fails has a record, and some of the others.
    Sample,
}

/// A function that is only tried: nothing is set for a function on the way of a webhook.
#[derive(Clone, Debug, Default)]
pub(crate) struct Candidate {
    /// The candidate's source; none to run the saved function.
    script: Option<Arc<Script>>,
    /// What its runs have kept so far.
    trial: Option<Arc<Trial>>,
}

impl Call {
    /// A call of the function as it is saved, which may leave the webhook as it is.
    fn of(account_id: AccountId, function_id: FunctionId, given: Invoked, detail: Detail) -> Self {
        let (must, recording) = (FunctionMust::Anything, Recording::Each);
        let trial = Candidate::default();
        Self { account_id, function_id, given, detail, must, recording, trial }
    }
}

/// A call that has been made.
#[derive(Debug)]
struct Called {
    script: Arc<Script>,
    invocation: Invocation,
    completion: Completion,
    unmodified: bool,
    detail: Detail,
    started: Timestamp,
    ended: Timestamp,
}

impl Called {
    /// The record of the run. It stands for `stands_for` runs.
    fn record(&self, id: ExecutionId, detail: Detail, stands_for: u64) -> RunRecord {
        let Self { invocation, completion, .. } = self;
        RunRecord {
            id,
            function_id: invocation.function_id,
            account_id: invocation.account_id,
            created: self.started,
            updated: self.ended,
            duration: completion.duration,
            status: match completion.result {
                Ok(_) => ExecutionStatus::Success,
                Err(_) => ExecutionStatus::Error,
            },
            stands_for,
            given: Given::of(invocation, detail),
            left: Left::of(invocation, completion, detail),
        }
    }

    /// Whether the run may go without a record: the function succeeded, printed nothing, and changed
    /// at most the request, which the log shows.
    fn is_ordinary(&self) -> bool {
        let Completion { result, logs, .. } = &self.completion;
        let is_ordinary = |left: &ScriptOutcome| !left.stop_forwarding && !left.response_modified;
        logs.is_empty() && result.as_ref().is_ok_and(is_ordinary)
    }

    /// The whole `ExecuteResponse`, with the time that the call took.
    fn answer(&self, id: ExecutionId) -> Result<Value, Error> {
        if let Err(error @ FunctionError::Busy) = &self.completion.result {
            return Err(Error::unavailable(error.to_string(), Duration::from_secs(1)));
        }
        let mut answer = self.record(id, Detail::Whole, 1).response();
        // Most functions take less than a millisecond.
        answer["duration_ms"] = (self.completion.duration.as_micros() as f64 / 1_000.0).into();
        Ok(answer)
    }
}

impl Functions {
    pub(super) fn new(parts: &RelayParts, watch: &Arc<Watch>) -> Self {
        let bytes = parts.options.cached_function_bytes;
        Self {
            cache: FunctionCache::new(bytes, parts.max_age(), &parts.stores),
            runtime: parts.functions.clone(),
            store: parts.stores.functions.clone(),
            watch: watch.clone(),
            observer: parts.observer.clone(),
            clock: parts.clock.clone(),
            ids: parts.ids.clone(),
            options: parts.options.clone(),
        }
    }

    /// Runs the input's function on `webhook`.
    pub(super) async fn run_of_input(
        &self,
        function: FunctionId,
        bucket: &Bucket,
        input: &Input,
        webhook: &Webhook,
    ) -> Result<(Option<NewExecution>, ScriptOutcome), FunctionFailed> {
        let metadata = metadata(bucket, Some(input), None);
        let call = self.call_on(webhook, function, webhook.request.clone(), None, metadata);
        let call = Call { must: input.spec.function_must.unwrap_or_default(), ..call };
        let failed = |error: &dyn std::fmt::Display| format!("{INPUT_FAILED}: {error}");
        let outcome = self.outcome_of(call, failed).await;
        self.tell(bucket, function, webhook, outcome).await
    }

    /// Runs an output's function on its copy of the webhook. The first delivery of a webhook alone
    /// may go without a record: of another one nothing else says whether the function ran.
    pub(super) async fn run_of_output(
        &self,
        function: FunctionId,
        bucket: &Bucket,
        output: &Output,
        pending: &Pending,
    ) -> Result<Transformed, FunctionFailed> {
        let webhook = &pending.webhook;
        let recording = match pending.created_at == webhook.received_at {
            true => Recording::Sample,
            false => Recording::Each,
        };
        let call = self.call_of_output(function, bucket, output, webhook);
        let run = self.transform(Call { recording, ..call }).await;
        self.tell(bucket, function, webhook, run).await
    }

    fn call_of_output(
        &self,
        function: FunctionId,
        bucket: &Bucket,
        output: &Output,
        webhook: &Webhook,
    ) -> Call {
        let metadata = metadata(bucket, bucket.input(webhook.input_id), Some(output));
        let call = self.call_on(webhook, function, webhook.request.clone(), None, metadata);
        Call { must: output.spec.function_must.unwrap_or_default(), ..call }
    }

    async fn transform(&self, call: Call) -> Result<Transformed, FunctionFailed> {
        let failed =
            |error: &dyn std::fmt::Display| format!("the output's function failed: {error}");
        let (run, outcome) = self.outcome_of(call, failed).await?;
        let ScriptOutcome { request, stop_forwarding: stop, .. } = outcome;
        Ok(Transformed { run, request, stop })
    }

    /// Runs a response function after the final outcome; it may change what is recorded.
    /// Returns the run, when there was one.
    pub(super) async fn run_on_response(
        &self,
        function: FunctionId,
        bucket: &Bucket,
        output: &Output,
        webhook: &Webhook,
        sent: &Request,
        attempt: &mut Attempt,
    ) -> Option<NewExecution> {
        let input = bucket.input(webhook.input_id);
        let response = ScriptResponse {
            status: attempt.status_code,
            headers: attempt.response_headers.clone(),
            body: attempt.response_body.clone(),
        };
        let metadata = metadata(bucket, input, Some(output));
        let call = self.call_on(webhook, function, sent.clone(), Some(response), metadata);
        let failed =
            |error: &dyn std::fmt::Display| format!("the response function failed: {error}");
        match self.outcome_of(call, failed).await {
            Ok((run, outcome)) => {
                if let Some(set) = outcome.response.filter(|_| outcome.response_modified) {
                    attempt.status_code = set.status;
                    attempt.response_headers = set.headers;
                    attempt.response_body = set.body;
                }
                run
            }
            Err(FunctionFailed { reason, run, .. }) => {
                attempt.error = Some(reason);
                run
            }
        }
    }

    /// Runs a function for somebody who wants to see what it does, and answers
    /// the whole `ExecuteResponse`.
    pub(super) async fn invoke(
        &self,
        account_id: AccountId,
        function_id: FunctionId,
        invoked: Invoked,
    ) -> Result<Value, Error> {
        let detail = Detail::Cut(self.options.max_recorded_body_bytes);
        let called = self.call(Call::of(account_id, function_id, invoked, detail)).await?;
        let id = self.ids.next();
        self.record(&self.kept(called.record(id, detail, 1))).await;
        called.answer(id)
    }

    /// Records a run that nothing is stored with.
    pub(super) async fn record(&self, NewExecution { execution, keep }: &NewExecution) {
        if let Err(error) = self.store.record_execution(execution, *keep).await {
            tracing::warn!(function = %execution.function_id, %error, "run not recorded");
        }
    }

    /// Has those told who want to know that a function failed.
    async fn tell<T>(
        &self,
        bucket: &Bucket,
        function: FunctionId,
        webhook: &Webhook,
        run: Result<T, FunctionFailed>,
    ) -> Result<T, FunctionFailed> {
        if let Err(FunctionFailed { failure: FunctionFailure::Failed, reason, .. }) = &run {
            let event = NotificationEvent::FunctionFailing;
            let (subject, hops) = (function.as_uuid(), webhook.checks.hops);
            self.watch.failed(bucket, event, subject, hops, || reason.clone()).await;
        }
        run
    }

    /// A call on a webhook.
    fn call_on(
        &self,
        webhook: &Webhook,
        function_id: FunctionId,
        request: Request,
        response: Option<ScriptResponse>,
        metadata: BTreeMap<String, String>,
    ) -> Call {
        let detail = match webhook.ephemeral {
            true => Detail::NoContent,
            false => Detail::Cut(self.options.max_recorded_body_bytes),
        };
        let given = Invoked { request, response, metadata, checks: webhook.checks.clone() };
        let call = Call::of(webhook.account_id, function_id, given, detail);
        Call { recording: Recording::Sample, ..call }
    }

    /// What a call left; `say` makes the reason of a failure.
    async fn outcome_of(
        &self,
        call: Call,
        say: impl Fn(&dyn std::fmt::Display) -> String,
    ) -> Result<(Option<NewExecution>, ScriptOutcome), FunctionFailed> {
        let recording = call.recording;
        let called = self.call(call).await.map_err(|error| FunctionFailed {
            failure: match error.kind() {
                ErrorKind::Unavailable => FunctionFailure::StoreUnavailable,
                _ => FunctionFailure::Failed,
            },
            reason: say(&error),
            run: None,
        })?;
        let run = self.recorded(&called, recording);
        match called.completion.result {
            Ok(outcome) => Ok((run, outcome)),
            Err(error) => Err(FunctionFailed {
                failure: match error.is_retryable() {
                    true => FunctionFailure::Busy,
                    false => FunctionFailure::Failed,
                },
                reason: say(&error),
                run,
            }),
        }
    }

    /// The record of a run; none when the record of another run stands for this one.
    fn recorded(&self, called: &Called, recording: Recording) -> Option<NewExecution> {
        if recording != Recording::Trial {
            self.observer.function_ran(&called.completion, called.unmodified);
        }
        let stands_for = match recording {
            Recording::Sample if called.is_ordinary() => {
                called.script.sample.take(called.started, self.options.recorded_runs)?
            }
            _ => 1,
        };
        Some(self.kept(called.record(self.ids.next(), called.detail, stands_for)))
    }

    fn kept(&self, run: RunRecord) -> NewExecution {
        NewExecution::new(run, self.options.kept_executions)
    }

    /// Runs a function of the account once.
    async fn call(&self, call: Call) -> Result<Called, Error> {
        let Call { account_id, function_id, given, detail, must, trial, .. } = call;
        let Invoked { request, response, metadata, checks } = given;
        let Candidate { script, trial } = trial;
        let script = match script {
            Some(script) => script,
            None => {
                let script = self.cache.get(account_id, function_id).await?;
                script.ok_or_else(|| Error::not_found("function"))?
            }
        };
        let invocation = Invocation {
            account_id,
            function_id,
            revision: script.revision,
            driver: script.driver,
            source: Arc::clone(&script.source),
            config: Arc::clone(&script.config),
            metadata,
            checks,
            request,
            response,
            trial,
        };
        let started = self.clock.now();
        let (completion, unmodified) = self.run(&invocation, must).await;
        let ended = self.clock.now();
        Ok(Called { script, invocation, completion, unmodified, detail, started, ended })
    }

    /// What a call left, and whether it changed nothing.
    async fn run(&self, invocation: &Invocation, must: FunctionMust) -> (Completion, bool) {
        let mut given = invocation.clone();
        let received = Received::decode(&mut given);
        let mut completion = match &self.runtime {
            Some(runtime) => runtime.run(given).await,
            None => Completion {
                result: Err(FunctionError::NoDriver(invocation.driver)),
                logs: Vec::new(),
                duration: Duration::ZERO,
            },
        };
        let mut unmodified = false;
        if let Ok(left) = &mut completion.result {
            received.restore(left);
            unmodified = left.is_unmodified(&invocation.request);
        }
        if unmodified && must == FunctionMust::Change {
            completion.result = Err(FunctionError::Unmodified);
        }
        (completion, unmodified)
    }
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
