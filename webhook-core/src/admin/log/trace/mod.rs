//! Why a webhook is where it is: computed when somebody asks, of what is stored anyway.

mod changes;

use self::changes::Changes;
use crate::{
    admin::{Admin, Caller, function::RUNNING},
    clock::Timestamp,
    error::Error,
    id::{DeliveryId, ExecutionId, OutputId},
    model::{
        Bucket, DeliveryStatus, Execution, ExecutionStatus, ExplainRequest, Explained,
        InvokeRequest, Log, Output, Pause, Reason, Request, Trace, TraceAttempt, TraceCheck,
        TraceCheckKind, TraceCheckOutcome, TraceFunction, TraceFunctionAt, TraceFunctionOutcome,
        TraceReceived, TraceRules, seconds,
    },
    relay::Tried,
    rule::{Rules, Subject},
};

impl Admin {
    /// What became of a webhook at one output, and why.
    pub async fn trace(&self, caller: &Caller, id: DeliveryId) -> Result<Trace, Error> {
        let log = self.log(caller, id).await?;
        let account = caller.account_id();
        let bucket = self.stores.buckets.bucket(account, log.webhook.bucket_id).await?;
        let Log { webhook, delivery } = &log;
        let output = bucket
            .as_ref()
            .zip(delivery.output_id)
            .and_then(|(bucket, id)| bucket.outputs.iter().find(|output| output.id == id));
        let is_asked = delivery.reason != Some(Reason::Signature) && !is_erased(&log);
        let rules = output.filter(|_| is_asked && delivery.reason != Some(Reason::Duplicate));
        let rules = rules.map(|output| {
            let changed = output.updated_at > delivery.created_at;
            rules_of(&output.spec.rules, &log, changed)
        });
        let rules = rules.transpose()?;
        let mut functions = Vec::new();
        if let Some(id) = webhook.input_execution_id {
            functions.push(self.input_function(caller, &log, id).await?);
        }
        if let Some(id) = delivery.output_execution_id {
            functions.push(self.output_function(caller, &log, id).await?);
        }
        Ok(Trace {
            log_id: delivery.id,
            verdict: paused(&log, output, self.now())
                .unwrap_or_else(|| verdict(&log, output, rules.as_ref(), bucket.is_some())),
            status: delivery.status,
            reason: delivery.reason,
            received: TraceReceived {
                at: seconds(webhook.received_at),
                remote_addr: webhook.remote_addr.map(|ip| ip.to_string()).unwrap_or_default(),
                secure: webhook.secure,
                bytes: webhook.request.body.len(),
                ephemeral: webhook.ephemeral,
            },
            checks: checks(&log, bucket.as_ref()),
            functions,
            rules,
            attempts: attempts(&log),
            next_at: delivery.due_at.map(seconds),
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
            if self.stores.functions.function(account, function).await?.is_none() {
                return Err(Error::invalid("function_id", "the account has no such function"));
            }
        }
        if is_erased(&log) {
            return Err(Error::conflict("the webhook was ephemeral, and its content is erased"));
        }
        let Some(output_id) = output.or(log.delivery.output_id) else {
            return Err(Error::invalid("output", "name one: the log has none"));
        };
        let bucket = self.stores.buckets.bucket(account, log.webhook.bucket_id).await?;
        let bucket = bucket.ok_or_else(|| Error::not_found("bucket"))?;
        let found = bucket.outputs.iter().find(|output| output.id == output_id);
        let mut output = found.cloned().ok_or_else(|| Error::not_found("output"))?;
        if let Some(rules) = rules {
            output.spec.rules = rules;
        }
        output.spec.function_id = function_id.or(output.spec.function_id);
        let rules = rules_of(&output.spec.rules, &log, false)?;
        let mut function = None;
        if rules.matched {
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
        let (webhook, limit) = (&log.webhook, self.options.max_invocations_per_account);
        let _entered = self.running.enter(webhook.account_id, limit, RUNNING)?;
        let tried = self.relay.try_function(function_id, bucket, output, webhook).await?;
        let Tried { request, stop, error, duration } = tried;
        let changes =
            request.map(|made| changes::between(&webhook.request, &made, true, webhook.ephemeral));
        let Changes { list, cut, .. } = changes.unwrap_or_default();
        let outcome = match (&error, stop) {
            (Some(_), _) => TraceFunctionOutcome::Error,
            (None, true) => TraceFunctionOutcome::Stopped,
            (None, false) => TraceFunctionOutcome::Success,
        };
        Ok(Some(TraceFunction {
            at: TraceFunctionAt::Output,
            function_id: Some(function_id),
            execution_id: None,
            outcome,
            error: error.unwrap_or_default(),
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
    ) -> Result<TraceFunction, Error> {
        let run = self.stores.functions.execution(caller.account_id(), id).await?;
        let mut changes = Changes::default();
        if let Some(run) = run.as_ref().filter(|_| !log.webhook.ephemeral)
            && let Some(given) = given_to(run)
        {
            let whole = run.execute_request["request"]["body_truncated"] != true;
            changes = changes::between(&given, &log.webhook.request, whole, false);
            changes.cut |= !whole;
        }
        let stopped =
            log.delivery.output_id.is_none() && log.delivery.reason == Some(Reason::Function);
        let stopped = stopped && !log.webhook.input_failed;
        Ok(function(TraceFunctionAt::Input, id, run, stopped, changes))
    }

    async fn output_function(
        &self,
        caller: &Caller,
        log: &Log,
        id: ExecutionId,
    ) -> Result<TraceFunction, Error> {
        let run = self.stores.functions.execution(caller.account_id(), id).await?;
        let made = log.delivery.processed.as_ref().filter(|_| !is_erased(log));
        let changes = made
            .map(|made| changes::between(&log.webhook.request, made, true, log.webhook.ephemeral));
        let stopped = log.delivery.status == DeliveryStatus::Rejected;
        Ok(function(TraceFunctionAt::Output, id, run, stopped, changes.unwrap_or_default()))
    }
}

/// Whether the content of an ephemeral webhook is gone, or is about to: of its deliveries
/// this one at least is final.
fn is_erased(log: &Log) -> bool {
    log.webhook.ephemeral && log.delivery.status.is_final()
}

fn rules_of(rules: &Rules, log: &Log, changed_since: bool) -> Result<TraceRules, Error> {
    let subject = Subject::from(&log.webhook);
    rules.can_evaluate(&subject)?;
    let mut tree = rules.explain(&subject);
    if log.webhook.ephemeral {
        tree = tree.without_values();
    }
    Ok(TraceRules { changed_since, matched: tree.outcome, text: tree.text(), tree })
}

fn given_to(run: &Execution) -> Option<Request> {
    let given: InvokeRequest = serde_json::from_value(run.execute_request.clone()).ok()?;
    Some(given.into_invoked().ok()?.request)
}

fn function(
    at: TraceFunctionAt,
    id: ExecutionId,
    run: Option<Execution>,
    stopped: bool,
    Changes { list, cut, .. }: Changes,
) -> TraceFunction {
    let error = run.as_ref().and_then(|run| run.execute_response["error"].as_str());
    let outcome = match &run {
        None => TraceFunctionOutcome::Unknown,
        Some(run) if run.status == ExecutionStatus::Error => TraceFunctionOutcome::Error,
        Some(_) if stopped => TraceFunctionOutcome::Stopped,
        Some(_) => TraceFunctionOutcome::Success,
    };
    TraceFunction {
        at,
        function_id: run.as_ref().map(|run| run.function_id),
        execution_id: Some(id),
        outcome,
        error: error.unwrap_or_default().to_owned(),
        duration_ms: run.as_ref().map(|run| run.duration.as_micros() as f64 / 1e3),
        changes: list,
        cut,
    }
}

fn checks(log: &Log, bucket: Option<&Bucket>) -> Vec<TraceCheck> {
    let found = &log.webhook.checks;
    let input = bucket
        .and_then(|bucket| bucket.inputs.iter().find(|input| input.id == log.webhook.input_id));
    let (signature, detail) = match found.verified {
        Some(true) => (TraceCheckOutcome::Passed, "the signature is the sender's".to_owned()),
        Some(false) => (
            TraceCheckOutcome::Failed,
            error_of(log).unwrap_or("the signature is not the sender's").to_owned(),
        ),
        None => (TraceCheckOutcome::Skipped, "the input did not verify".to_owned()),
    };
    let deduplicates = input.is_some_and(|input| input.spec.deduplication.set().is_some());
    let (duplicate, told) = match (found.duplicate_of, found.duplicates) {
        (Some(first), _) => {
            (TraceCheckOutcome::Failed, format!("a duplicate of the webhook of log {first}"))
        }
        (None, 1..) => (
            TraceCheckOutcome::Passed,
            format!("the first; {} duplicates came after it", found.duplicates),
        ),
        (None, 0) if deduplicates => {
            (TraceCheckOutcome::Passed, "no duplicate has come".to_owned())
        }
        (None, 0) => (TraceCheckOutcome::Skipped, "the input does not deduplicate".to_owned()),
    };
    vec![
        TraceCheck { check: TraceCheckKind::Signature, outcome: signature, detail },
        TraceCheck { check: TraceCheckKind::Deduplication, outcome: duplicate, detail: told },
    ]
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

/// That a delivery waits for the end of a pause, if it does.
fn paused(log: &Log, output: Option<&Output>, now: Timestamp) -> Option<String> {
    let output = output.filter(|_| log.delivery.due_at.is_some())?;
    let name = &output.spec.name;
    if output.spec.disabled {
        return Some(format!("waits: the output {name} is disabled"));
    }
    let Pause { at, until, reason, .. } = output.pauses.current(now)?;
    let until = until.map(|until| format!(" until {}", rfc3339(until))).unwrap_or_default();
    let because = if reason.is_empty() { String::new() } else { format!(": {reason}") };
    Some(format!("waits: the output {name} is paused since {}{until}{because}", rfc3339(*at)))
}

/// In one line: where it stands, then why.
fn verdict(
    log: &Log,
    output: Option<&Output>,
    rules: Option<&TraceRules>,
    has_bucket: bool,
) -> String {
    let Log { delivery, .. } = log;
    let status_code = delivery.last.as_ref().map_or(0, |last| last.status_code);
    let answer = || match (error_of(log), status_code) {
        (Some(error), _) => error.to_owned(),
        (None, 0) => "there was no answer".to_owned(),
        (None, code) => format!("the answer was {code}"),
    };
    let number = delivery.attempts;
    match (delivery.status, delivery.reason) {
        (DeliveryStatus::Sent, _) if delivery.internal || delivery.output_id.is_none() => {
            match status_code {
                0 => "sent: a client took it".to_owned(),
                code => format!("sent: a client took it, and its target answered {code}"),
            }
        }
        (DeliveryStatus::Sent, _) => format!("sent: {} at attempt {number}", answer()),
        (DeliveryStatus::Rejected, Some(Reason::Rules)) => {
            // What is told is what stopped it only where the rules are still the same.
            let told = rules.filter(|rules| !rules.matched && !rules.changed_since);
            match told {
                Some(rules) => format!("rejected: {}", rules.text),
                None => format!("rejected: {}", answer()),
            }
        }
        (DeliveryStatus::Failed, Some(Reason::AttemptsExhausted)) => {
            format!("failed after {number} attempts: {}", answer())
        }
        (DeliveryStatus::Rejected | DeliveryStatus::Failed, _) => {
            format!("{}: {}", delivery.status.as_str(), answer())
        }
        (DeliveryStatus::Stalled, _) => "stalled: a client could not reach its target".to_owned(),
        (DeliveryStatus::Preparing, _) => {
            format!("being sent: attempt {}", number.saturating_add(1))
        }
        (DeliveryStatus::Received, _) => match (delivery.due_at, number) {
            (Some(_), 0) => "waits for its first attempt".to_owned(),
            (Some(due_at), _) => format!(
                "waits for attempt {}, due at {}: {}",
                number.saturating_add(1),
                rfc3339(due_at),
                answer()
            ),
            (None, _) if delivery.output_id.is_none() => match has_bucket {
                true => "waits for a client: the bucket had no output that was enabled".to_owned(),
                false => "its bucket is gone".to_owned(),
            },
            (None, _) => match output {
                Some(output) => format!("waits for a client of the output {}", output.spec.name),
                None => "waits for a client, and its output is gone".to_owned(),
            },
        },
    }
}

fn rfc3339(at: Timestamp) -> String {
    jiff::Timestamp::from_second(at.as_secs()).map(|at| at.to_string()).unwrap_or_default()
}

fn explained(
    output_id: OutputId,
    output: &Output,
    rules: TraceRules,
    function: Option<TraceFunction>,
) -> Explained {
    let name = &output.spec.name;
    let stopped = function.as_ref().map(|function| (function.outcome, &function.error));
    let (forwarded, verdict) = match stopped {
        _ if !rules.matched => (false, format!("would be rejected: {}", rules.text)),
        _ if output.spec.disabled => {
            (false, format!("would not be sent: the output {name} is disabled"))
        }
        Some((TraceFunctionOutcome::Error, error)) => (false, format!("would fail: {error}")),
        Some((TraceFunctionOutcome::Stopped, _)) => {
            (false, "would be rejected: stopped by the output's function".to_owned())
        }
        _ if output.spec.internal => {
            (true, format!("would wait for clients of the output {name}: {}", rules.text))
        }
        _ => (true, format!("would be sent to the output {name}: {}", rules.text)),
    };
    Explained { verdict, forwarded, output_id, rules, function }
}
