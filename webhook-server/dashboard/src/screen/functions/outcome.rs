//! What a run left, beside what it was given.

use std::time::Duration;

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::Value;

use crate::{
    diff::Diff,
    show::{self, Mark},
};

/// One run of a function, as pages show it.
pub(super) struct Outcome {
    pub(super) mark: Mark,
    /// Why it failed.
    pub(super) error: String,
    pub(super) took: Option<String>,
    pub(super) request: Diff,
    /// What it answers the sender, or makes of the destination's answer.
    pub(super) response: Option<Diff>,
    pub(super) logs: String,
}

impl Outcome {
    /// Of what a run was given and what it left, as runs are recorded.
    pub(super) fn of(given: &Value, left: &Value, took: Option<Duration>) -> Self {
        let error = left["error"].as_str().unwrap_or_default().to_owned();
        let stopped = left["stop_forwarding"] == true;
        let (class, sign, word) = match (error.is_empty(), stopped) {
            (true, _) if left["unmodified"] == true => ("quiet", "○", "changed nothing"),
            (false, _) => ("bad", "✕", "failed"),
            (true, true) => ("quiet", "⊘", "stops the webhook"),
            (true, false) => ("good", "✓", "ran"),
        };
        let logs = left["logs"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let logs: Vec<_> = logs.collect();
        let (before, after) = (&given["response"], &left["response"]);
        let answers = left["response_modified"] == true || before.is_object();
        Self {
            mark: Mark { class, sign, word },
            error,
            took: took.map(milliseconds),
            request: Diff::between(
                "What became of the request",
                &request(&given["request"]),
                &request(&left["request"]),
            ),
            response: answers.then(|| {
                Diff::between("What became of the answer", &response(before), &response(after))
            }),
            logs: show::text(logs.join("\n").as_bytes()).0,
        }
    }
}

/// How long a run took.
pub(super) fn milliseconds(duration: Duration) -> String {
    let micros = duration.as_micros();
    format!("{}.{:03} ms", micros / 1_000, micros % 1_000)
}

/// The body that is in base64 beside its message.
pub(super) fn body(message: &Value) -> Vec<u8> {
    STANDARD.decode(message["body"].as_str().unwrap_or_default()).unwrap_or_default()
}

/// The headers as they are typed in a form.
pub(super) fn header_lines(message: &Value) -> String {
    let mut lines = Vec::new();
    for (name, values) in message["header"].as_object().into_iter().flatten() {
        let values = values["values"].as_array().into_iter().flatten().filter_map(Value::as_str);
        lines.extend(values.map(|value| format!("{name}: {value}")));
    }
    lines.join("\n")
}

fn request(message: &Value) -> String {
    let part = |name: &str| message[name].as_str().unwrap_or_default();
    let query = if part("raw_query").is_empty() { "" } else { "?" };
    let path = if part("path").is_empty() { "/" } else { part("path") };
    let line = format!("{} {path}{query}{}", part("method"), part("raw_query"));
    format!("{line}\n{}", rest(message))
}

fn response(message: &Value) -> String {
    match message["status"].as_u64() {
        None | Some(0) => String::new(),
        Some(status) => format!("{status}\n{}", rest(message)),
    }
}

/// Headers and body.
fn rest(message: &Value) -> String {
    let cut = if message["body_truncated"] == true { "\n… the body was cut" } else { "" };
    format!("{}\n\n{}{cut}", header_lines(message), show::comparable(&body(message)))
}
