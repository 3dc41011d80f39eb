//! Why a webhook is where it is: computed when somebody asks, of what is stored anyway.

mod checks;
mod received;
mod verdict;

use self::verdict::{explained, next_at, paused, verdict};
use crate::{
    admin::{Admin, Caller},
    error::Error,
    id::{DeliveryId, ExecutionId, FunctionId},
    model::{
        Bucket, Execution, ExecutionStatus, ExplainRequest, Explained, Function, InvokeRequest,
        Log, Output, Reason, Request, Trace, TraceAttempt, TraceFunction, TraceFunctionAt,
        TraceFunctionOutcome, TraceRules, seconds,
    },
    relay::Tried,
    rule::{RequestChanges, Rules, Subject},
    store::{BucketStore, OutputStore, RulesVersion},
};

impl Admin {
    /// What became of a webhook at one output, and why.
    pub async fn trace(&self, caller: &Caller, id: DeliveryId) -> Result<Trace, Error> {
        self.trace_of(caller, &self.log(caller, id).await?).await
    }

    /// The same of a log that [`log`](Self::log) gave this caller.
    pub async fn trace_of(&self, caller: &Caller, log: &Log) -> Result<Trace, Error> {
        let account = caller.account_id();
        let bucket = self.stores.documents.bucket(account, log.webhook.bucket_id).await?;
        let Log { webhook, delivery } = log;
        let output =
            bucket.as_ref().zip(delivery.output_id).and_then(|(bucket, id)| bucket.output(id));
        let is_asked = delivery.reason != Some(Reason::Signature) && !is_erased(log);
        let rules = match output {
            Some(output) if is_asked && delivery.reason != Some(Reason::Duplicate) => {
                Some(self.asked_rules(caller, output, log).await?)
            }
            _ => None,
        };
        let run = match webhook.input_execution_id {
            Some(id) => self.stores.functions.execution(account, id).await?,
            None => None,
        };
        let received = self.received(log, bucket.as_ref(), run.as_ref()).await?;
        let mut functions = Vec::new();
        match webhook.input_execution_id {
            Some(id) => functions.push(self.input_function(caller, log, id, run).await?),
            None => functions.extend(unrecorded_of_input(log, bucket.as_ref())),
        }
        match delivery.output_execution_id {
            Some(id) => functions.push(self.output_function(caller, log, id).await?),
            None => functions.extend(unrecorded_of_output(log, output)),
        }
        let now = self.now();
        Ok(Trace {
            log_id: delivery.id,
            verdict: paused(log, output, now)
                .unwrap_or_else(|| verdict(log, output, rules.as_ref(), bucket.is_some())),
            status: delivery.status,
            reason: delivery.reason,
            received,
            checks: checks::of(log, bucket.as_ref(), output),
            functions,
            rules,
            attempts: attempts(log),
            next_at: next_at(log, output, now).map(seconds),
        })
    }

    /// What today's rules and function, or those that are given, would do with a stored
    /// webhook. Nothing is sent and nothing stored; what the function itself sends or keeps
    /// is sent and kept.
    pub async fn explain(
        &self,
        caller: &Caller,
        id: DeliveryId,
        request: ExplainRequest,
    ) -> Result<Explained, Error> {
        let log = self.log(caller, id).await?;
        let ExplainRequest { output, rules, function_id } = request;
        let account = caller.account_id();
        if let Some(function) = function_id {
            // Functions belong to the account as a whole.
            caller.require_account()?;
            if self.stores.documents.get::<Function>(account, function.as_uuid()).await?.is_none() {
                return Err(Error::invalid("function_id", "the account has no such function"));
            }
        }
        if is_erased(&log) {
            return Err(Error::conflict("the webhook was ephemeral, and its content is erased"));
        }
        let Some(output_id) = output.or(log.delivery.output_id) else {
            return Err(Error::invalid("output", "name one: the log has none"));
        };
        let bucket = self.stores.documents.bucket(account, log.webhook.bucket_id).await?;
        let bucket = bucket.ok_or_else(|| Error::not_found("bucket"))?;
        let found = bucket.output(output_id);
        let mut output = found.cloned().ok_or_else(|| Error::not_found("output"))?;
        if let Some(rules) = rules {
            output.spec.rules = rules;
        }
        output.spec.function_id = function_id.or(output.spec.function_id);
        output.spec.rules.can_evaluate(&Subject::from(&log.webhook))?;
        let rules = rules_of(&output.spec.rules, &log, false);
        let mut function = None;
        if rules.matched == Some(true) {
            function = self.tried(&bucket, &output, &log).await?;
        }
        Ok(explained(output_id, &output, rules, function))
    }

    /// What the output's function does with the webhook, if there is one.
    async fn tried(
        &self,
        bucket: &Bucket,
        output: &Output,
        log: &Log,
    ) -> Result<Option<TraceFunction>, Error> {
        let Some(function_id) = output.spec.function_id else { return Ok(None) };
        let webhook = &log.webhook;
        let _entered = self.enter_run(webhook.account_id)?;
        let tried = self.relay.functions.try_on(function_id, bucket, output, webhook, None).await?;
        let outcome = tried.outcome();
        let Tried { request, error, duration, .. } = tried;
        let changes = request.map(|made| RequestChanges::between(&webhook.request, &made));
        let RequestChanges { list, cut } = shown(changes.unwrap_or_default(), webhook.ephemeral);
        Ok(Some(TraceFunction {
            at: TraceFunctionAt::Output,
            function_id: Some(function_id),
            version: None,
            execution_id: None,
            outcome,
            error: error.unwrap_or_default(),
            note: "",
            duration_ms: Some(duration.as_micros() as f64 / 1e3),
            changes: list,
            cut,
        }))
    }

    /// The run of the input's function: what it was given is kept with the run alone.
    async fn input_function(
        &self,
        caller: &Caller,
        log: &Log,
        id: ExecutionId,
        run: Option<Execution>,
    ) -> Result<TraceFunction, Error> {
        let mut changes = RequestChanges::default();
        if let Some(run) = run.as_ref().filter(|_| !log.webhook.ephemeral)
            && let Some(given) = given_to(run)
        {
            let left = &log.webhook.request;
            if run.execute_request["request"]["body_truncated"] == true {
                changes = RequestChanges::outside_of_bodies(&given, left);
                changes.cut = true;
            } else {
                changes = RequestChanges::between(&given, left);
            }
        }
        let version = self.version_of(caller, run.as_ref()).await?;
        Ok(TraceFunction { version, ..function(TraceFunctionAt::Input, id, run, changes) })
    }

    async fn output_function(
        &self,
        caller: &Caller,
        log: &Log,
        id: ExecutionId,
    ) -> Result<TraceFunction, Error> {
        let run = self.stores.functions.execution(caller.account_id(), id).await?;
        let made = log.delivery.processed.as_ref().filter(|_| !is_erased(log));
        let changes = made.map(|made| RequestChanges::between(&log.webhook.request, made));
        let changes = shown(changes.unwrap_or_default(), log.webhook.ephemeral);
        let version = self.version_of(caller, run.as_ref()).await?;
        Ok(TraceFunction { version, ..function(TraceFunctionAt::Output, id, run, changes) })
    }
}

/// The run of an input's function that succeeded and has no record: a failure and a stop have one.
/// None where the input may have had no function.
fn unrecorded_of_input(log: &Log, bucket: Option<&Bucket>) -> Option<TraceFunction> {
    let Log { webhook, delivery } = log;
    let input = bucket?.input(webhook.input_id)?;
    let function = input.spec.function_id?;
    let has_run = input.updated_at <= webhook.received_at
        && webhook.remote_addr.is_some()
        && !webhook.input_failed
        && !matches!(delivery.reason, Some(Reason::Signature | Reason::Duplicate));
    let at = TraceFunctionAt::Input;
    has_run.then(|| unrecorded(at, Some(function), TraceFunctionOutcome::Unknown))
}

/// The run of an output's function that succeeded and has no record: what the function made is
/// stored with the delivery. A later delivery got it from an earlier one, when it has no record.
fn unrecorded_of_output(log: &Log, output: Option<&Output>) -> Option<TraceFunction> {
    let Log { webhook, delivery } = log;
    let is_first = delivery.created_at == webhook.received_at;
    let made = delivery.processed.as_ref().filter(|_| is_first && !is_erased(log))?;
    let changes = RequestChanges::between(&webhook.request, made);
    let outcome = match changes.list.is_empty() {
        true => TraceFunctionOutcome::Unmodified,
        false => TraceFunctionOutcome::Success,
    };
    let output = output.filter(|output| output.updated_at <= delivery.created_at);
    let function = output.and_then(|output| output.spec.function_id);
    let RequestChanges { list, cut } = shown(changes, webhook.ephemeral);
    let run = unrecorded(TraceFunctionAt::Output, function, outcome);
    Some(TraceFunction { changes: list, cut, ..run })
}

fn unrecorded(
    at: TraceFunctionAt,
    function_id: Option<FunctionId>,
    outcome: TraceFunctionOutcome,
) -> TraceFunction {
    TraceFunction {
        at,
        function_id,
        version: None,
        execution_id: None,
        outcome,
        error: String::new(),
        note: "this run was not recorded",
        duration_ms: None,
        changes: Vec::new(),
        cut: false,
    }
}

/// What is told of the changes to a webhook.
fn shown(changes: RequestChanges, ephemeral: bool) -> RequestChanges {
    if ephemeral { changes.without_values() } else { changes }
}

/// Whether the content of an ephemeral webhook is gone, or is about to: of its deliveries
/// this one at least is final.
fn is_erased(log: &Log) -> bool {
    log.webhook.ephemeral && log.delivery.status.is_final()
}

/// What an output says whose rules are empty.
const NO_RULES: &str = "the output has no rules";

/// What rules say; that they say nothing, where this build cannot evaluate them.
fn rules_of(rules: &Rules, log: &Log, changed_since: bool) -> TraceRules {
    let subject = Subject::from(&log.webhook);
    let tree = rules.can_evaluate(&subject).map(|()| {
        let tree = rules.explain(&subject);
        if log.webhook.ephemeral { tree.without_values() } else { tree }
    });
    TraceRules {
        version: None,
        changed_since,
        matched: tree.as_ref().ok().map(|tree| tree.outcome),
        text: match &tree {
            Ok(_) if rules.is_empty() => NO_RULES.to_owned(),
            Ok(tree) => tree.text(),
            Err(error) => error.to_string(),
        },
        tree: tree.ok(),
    }
}

fn given_to(run: &Execution) -> Option<Request> {
    let given: InvokeRequest = serde_json::from_value(run.execute_request.clone()).ok()?;
    Some(given.into_invoked().ok()?.request)
}

fn function(
    at: TraceFunctionAt,
    id: ExecutionId,
    run: Option<Execution>,
    RequestChanges { list, cut }: RequestChanges,
) -> TraceFunction {
    let error = run.as_ref().and_then(|run| run.execute_response["error"].as_str());
    let outcome = match &run {
        None => TraceFunctionOutcome::Unknown,
        Some(run) if run.status == ExecutionStatus::Error => TraceFunctionOutcome::Error,
        Some(run) if run.execute_response["stop_forwarding"] == true => {
            TraceFunctionOutcome::Stopped
        }
        Some(run) if run.execute_response["unmodified"] == true => TraceFunctionOutcome::Unmodified,
        Some(_) => TraceFunctionOutcome::Success,
    };
    TraceFunction {
        at,
        function_id: run.as_ref().map(|run| run.function_id),
        version: None,
        execution_id: Some(id),
        outcome,
        error: error.unwrap_or_default().to_owned(),
        note: if run.is_some() { "" } else { "its run is no longer kept" },
        duration_ms: run.as_ref().map(|run| run.duration.as_micros() as f64 / 1e3),
        changes: list,
        cut,
    }
}

fn attempts(log: &Log) -> Vec<TraceAttempt> {
    let history = log.delivery.history.attempts();
    let mut attempts: Vec<_> = history.iter().map(TraceAttempt::from).collect();
    if let Some(last) = attempts.last_mut()
        && last.number == log.delivery.attempts
    {
        last.error = error_of(log).unwrap_or_default().to_owned();
    }
    attempts
}

fn error_of(log: &Log) -> Option<&str> {
    log.delivery.last.as_ref().and_then(|last| last.error.as_deref())
}

impl Admin {
    /// The version of a function that a run was of: the last one before it began.
    pub(super) async fn version_of(
        &self,
        caller: &Caller,
        run: Option<&Execution>,
    ) -> Result<Option<u32>, Error> {
        let Some(run) = run else { return Ok(None) };
        let account = caller.account_id();
        let versions = self.stores.documents.function_versions(account, run.function_id).await?;
        let version = versions.into_iter().find(|version| version.created <= run.created);
        Ok(version.map(|version| version.version))
    }

    /// What the rules say that the output had when the webhook was stored; where that is not
    /// known, what today's say.
    pub(super) async fn asked_rules(
        &self,
        caller: &Caller,
        output: &Output,
        log: &Log,
    ) -> Result<TraceRules, Error> {
        let (account, at) = (caller.account_id(), log.delivery.created_at);
        let asked = self.stores.documents.rules_at(account, output.id, at).await?;
        match asked {
            Some(RulesVersion { version, rules }) => {
                let changed_since = rules != output.spec.rules;
                let told = rules_of(&rules, log, changed_since);
                Ok(TraceRules { version: Some(version), ..told })
            }
            None => Ok(rules_of(&output.spec.rules, log, output.updated_at > at)),
        }
    }
}
