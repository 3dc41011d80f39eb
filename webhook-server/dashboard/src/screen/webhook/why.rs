//! Why a webhook is where it is: its trace, as the page shows it.

use webhook_core::{
    Timestamp,
    model::{
        AnswerFrom, Trace, TraceAttempt, TraceCheck, TraceCheckKind, TraceCheckOutcome,
        TraceFunction, TraceFunctionAt, TraceFunctionOutcome, TraceReceived,
    },
    rule::{RequestChange, RequestPart},
};

use crate::{PATH, show};

/// How many changes of a function are shown; the API tells more of them.
const SHOWN_CHANGES: usize = 20;

/// The trace of one webhook in words.
pub(super) struct Why {
    pub(super) verdict: String,
    /// What the sender got; empty when that is not known.
    pub(super) answered: String,
    /// Those that were made: name, outcome, and the reason.
    pub(super) checks: Vec<(&'static str, &'static str, String)>,
    pub(super) functions: Vec<Ran>,
    pub(super) attempts: Vec<Attempt>,
}

/// A function that ran.
pub(super) struct Ran {
    pub(super) what: String,
    /// Where the run is; empty when it is not known.
    pub(super) run: String,
    pub(super) error: String,
    pub(super) changes: Vec<Change>,
    pub(super) more: bool,
}

pub(super) struct Change {
    pub(super) of: String,
    pub(super) from: String,
    pub(super) to: String,
}

/// An attempt, with the parts of its time.
pub(super) struct Attempt {
    pub(super) number: u32,
    pub(super) trigger: &'static str,
    pub(super) at: String,
    pub(super) outcome: String,
    pub(super) took: String,
    pub(super) parts: String,
    pub(super) next: String,
}

impl From<Trace> for Why {
    fn from(trace: Trace) -> Self {
        Self {
            verdict: trace.verdict,
            answered: answered(&trace.received),
            checks: trace.checks.into_iter().filter_map(checked).collect(),
            functions: trace.functions.into_iter().map(Ran::from).collect(),
            attempts: trace.attempts.iter().map(Attempt::from).collect(),
        }
    }
}

fn answered(received: &TraceReceived) -> String {
    let Some(status) = received.answered else { return String::new() };
    let from = match received.answer_from {
        Some(AnswerFrom::Function) => "set by the input's function",
        Some(AnswerFrom::Output) => "from an output",
        Some(AnswerFrom::Timeout) => "the input's own, as no output had answered in time",
        Some(AnswerFrom::Refusal) => "a refusal",
        _ => "the input's own",
    };
    format!("{status}, {from}")
}

fn checked(check: TraceCheck) -> Option<(&'static str, &'static str, String)> {
    let name = match check.check {
        TraceCheckKind::BucketAuth => "Credentials",
        TraceCheckKind::Challenge => "Handshake",
        TraceCheckKind::Signature => "Signature",
        TraceCheckKind::Deduplication => "Duplicates",
        _ => "Throttle",
    };
    let outcome = match check.outcome {
        TraceCheckOutcome::Passed => "passed",
        TraceCheckOutcome::Failed => "failed",
        _ => return None,
    };
    Some((name, outcome, check.detail))
}

impl From<TraceFunction> for Ran {
    fn from(function: TraceFunction) -> Self {
        let at = match function.at {
            TraceFunctionAt::Input => "input's",
            _ => "output's",
        };
        let outcome = match function.outcome {
            TraceFunctionOutcome::Success => "ran",
            TraceFunctionOutcome::Unmodified => "ran and changed nothing",
            TraceFunctionOutcome::Error => "failed",
            TraceFunctionOutcome::Stopped => "stopped it",
            _ => "ran",
        };
        let note = match function.note {
            "" => String::new(),
            note => format!(": {note}"),
        };
        let took = function.duration_ms.map(|took| format!(" in {took} ms")).unwrap_or_default();
        let run = function.function_id.zip(function.execution_id);
        Self {
            run: run.map_or_else(String::new, |(function, run)| {
                format!("{PATH}/functions/{function}/runs/{run}")
            }),
            what: format!("The {at} function {outcome}{took}{note}"),
            error: function.error,
            more: function.cut || function.changes.len() > SHOWN_CHANGES,
            changes: function.changes.into_iter().take(SHOWN_CHANGES).map(Change::from).collect(),
        }
    }
}

impl From<RequestChange> for Change {
    fn from(change: RequestChange) -> Self {
        let part = match change.part {
            RequestPart::Method => "method",
            RequestPart::Path => "path",
            RequestPart::Query => "query",
            RequestPart::Header => "header",
            _ => "body",
        };
        let of = format!("{part} {}", change.name).trim_end().to_owned();
        let shown = |value: Option<String>| value.unwrap_or_else(|| "nothing".to_owned());
        Self { of, from: shown(change.from), to: shown(change.to) }
    }
}

impl From<&TraceAttempt> for Attempt {
    fn from(attempt: &TraceAttempt) -> Self {
        let parts = [
            ("name", attempt.resolve_ms),
            ("connection", attempt.connect_ms),
            ("TLS", attempt.tls_ms),
            ("first byte", attempt.first_byte_ms),
        ];
        let mut parts: Vec<_> = parts
            .into_iter()
            .filter_map(|(part, took)| Some(format!("{part} {} ms", took?)))
            .collect();
        if attempt.reused {
            parts.insert(0, "kept connection".to_owned());
        }
        Self {
            number: attempt.number,
            trigger: attempt.trigger,
            at: moment(attempt.at),
            outcome: match (attempt.status_code, attempt.error_kind) {
                (0, Some(kind)) => format!("no answer: {kind}"),
                (0, None) => "the destination took it".to_owned(),
                (code, Some(_)) => format!("{code}, incomplete"),
                (code, None) => code.to_string(),
            },
            took: format!("{} ms", attempt.total_ms),
            parts: parts.join(", "),
            next: attempt.next_at.map(moment).unwrap_or_default(),
        }
    }
}

/// A moment of the trace, in unix seconds.
fn moment(seconds: f64) -> String {
    show::moment(Timestamp::from_millis((seconds * 1e3) as i64))
}
