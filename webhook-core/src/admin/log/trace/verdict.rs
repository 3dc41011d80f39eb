//! Where a webhook stands, or would, and why: in one line.

use super::error_of;
use crate::{
    clock::Timestamp,
    id::OutputId,
    model::{
        DeliveryStatus, Explained, Log, Output, Pause, Reason, TraceFunction, TraceFunctionOutcome,
        TraceRules,
    },
};

/// That a delivery waits for the end of a pause, if it does.
pub(super) fn paused(log: &Log, output: Option<&Output>, now: Timestamp) -> Option<String> {
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

/// When the next attempt is due, if that is known: a pause may end when somebody ends it.
pub(super) fn next_at(log: &Log, output: Option<&Output>, now: Timestamp) -> Option<Timestamp> {
    let due_at = log.delivery.due_at?;
    let paused_until = output.and_then(|output| output.paused_until(now));
    let due_at = paused_until.map_or(due_at, |until| due_at.max(until));
    (due_at != Output::NEVER).then_some(due_at)
}

/// In one line: where it stands, then why.
pub(super) fn verdict(
    log: &Log,
    output: Option<&Output>,
    rules: Option<&TraceRules>,
    has_bucket: bool,
) -> String {
    let Log { delivery, .. } = log;
    let status_code = delivery.last.as_ref().map_or(0, |last| last.status_code);
    let answer = || match (error_of(log), status_code) {
        (Some(error), _) => error.to_owned(),
        (None, 0) if delivery.status == DeliveryStatus::Sent => {
            "the destination took it".to_owned()
        }
        (None, 0) => "there was no answer".to_owned(),
        (None, code) if delivery.is_answer_incomplete() => {
            format!("the answer was {code}, without its whole body,")
        }
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
            // What is told is what stopped it only where those are the rules that were asked.
            let is_asked = |rules: &&TraceRules| rules.version.is_some() || !rules.changed_since;
            let told = rules.filter(|rules| rules.matched == Some(false)).filter(is_asked);
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
        (DeliveryStatus::Received, _) if let Some(until) = delivery.leased_until => format!(
            "a client has it until {}; without a report by then it waits again",
            rfc3339(until)
        ),
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

/// What would become of a webhook, in one line.
pub(super) fn explained(
    output_id: OutputId,
    output: &Output,
    rules: TraceRules,
    function: Option<TraceFunction>,
) -> Explained {
    let name = &output.spec.name;
    let matched = rules.matched == Some(true);
    let stopped = function.as_ref().map(|function| (function.outcome, &function.error));
    let (forwarded, verdict) = match stopped {
        _ if !matched => (false, format!("would be rejected: {}", rules.text)),
        _ if output.spec.disabled && output.spec.takes_webhooks() => {
            (false, format!("would wait until the output {name} is enabled: {}", rules.text))
        }
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
