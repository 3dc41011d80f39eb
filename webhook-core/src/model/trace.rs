//! Why a webhook is where it is, as the interface tells it (`docs/logs.md`).

use serde::{Deserialize, Serialize};

use super::{DeliveryStatus, Reason, wire};
use crate::{
    clock::Timestamp,
    forward::history::PastAttempt,
    id::{DeliveryId, ExecutionId, FunctionId, OutputId},
    rule::{Explanation, Rules},
};

/// What became of a webhook at one output, and why. It is computed when it is read.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct Trace {
    /// The log.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = Uuid))]
    pub log_id: DeliveryId,
    /// Where the delivery stands, and why, in one line for people.
    pub verdict: String,
    /// Where the delivery stands.
    pub status: DeliveryStatus,
    /// Why it was stopped or failed, in one word; absent when it was sent, or goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// How the webhook came in.
    pub received: TraceReceived,
    /// What was asked about the webhook before it was stored.
    pub checks: Vec<TraceCheck>,
    /// The functions that ran, in their order.
    pub functions: Vec<TraceFunction>,
    /// What the output's rules say, as they are now; absent without an output, and when the
    /// content of an ephemeral webhook is erased.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rules: Option<TraceRules>,
    /// The attempts: the first 8 and the last 56.
    pub attempts: Vec<TraceAttempt>,
    /// When the next attempt is due, in unix seconds; absent when there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_at: Option<f64>,
}

/// How a webhook came in.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct TraceReceived {
    /// When, in unix seconds.
    pub at: f64,
    /// The sender's address; empty when it is not known.
    pub remote_addr: String,
    /// Whether it came over TLS.
    pub secure: bool,
    /// The length of the body, as the input's function left it.
    pub bytes: usize,
    /// Whether the content is forgotten after the final outcome.
    pub ephemeral: bool,
}

/// One question that was asked about a webhook before it was stored.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct TraceCheck {
    /// Which one.
    pub check: TraceCheckKind,
    /// What came of it.
    pub outcome: TraceCheckOutcome,
    /// The same for people.
    pub detail: String,
}

/// What can be asked about a webhook before it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum TraceCheckKind {
    /// Whether the sender is who it says it is.
    Signature,
    /// Whether the webhook had come before.
    Deduplication,
}

/// What came of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum TraceCheckOutcome {
    /// The webhook went on.
    Passed,
    /// It did not, or it says so.
    Failed,
    /// Nobody asked.
    Skipped,
}

/// What one function did to a webhook.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct TraceFunction {
    /// Where it ran.
    pub at: TraceFunctionAt,
    /// The function; absent when its run is no longer kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = Uuid))]
    pub function_id: Option<FunctionId>,
    /// The run; absent when it was none of the webhook's way.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = Uuid))]
    pub execution_id: Option<ExecutionId>,
    /// How it ended: `success`, `error`, `stopped` (it forwards the webhook no further), or
    /// `unknown` when its run is no longer kept.
    pub outcome: TraceFunctionOutcome,
    /// Why it failed; empty when it did not.
    pub error: String,
    /// How long it took, in milliseconds; absent when its run is no longer kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<f64>,
    /// What it changed, 100 changes at most; nothing where the webhook as it was before is no
    /// longer kept.
    pub changes: Vec<TraceChange>,
    /// Whether there are more changes than that, or longer values.
    pub cut: bool,
}

/// Where a function ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum TraceFunctionAt {
    /// When the webhook was received.
    Input,
    /// Before it was sent.
    Output,
}

/// How a function ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum TraceFunctionOutcome {
    /// It returned.
    Success,
    /// It failed.
    Error,
    /// It returned, and forwards the webhook no further.
    Stopped,
    /// Its run is no longer kept.
    Unknown,
}

/// One difference between a webhook before and after a function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct TraceChange {
    /// Of what.
    pub part: TracePart,
    /// Of which header, or where in a JSON body (`order.lines[2].sku`); empty for the whole.
    pub name: String,
    /// What it was, at most 1 KiB; absent when there was nothing, or it is not for showing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// What it is then; absent when there is nothing, or it is not for showing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
}

/// A part of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum TracePart {
    /// The method.
    Method,
    /// What followed the input's address in the path.
    Path,
    /// The query.
    Query,
    /// A header.
    Header,
    /// The body, or a value in it.
    Body,
}

/// What rules say about a webhook.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct TraceRules {
    /// Whether the output was changed since the webhook was stored, so that other rules may
    /// have been asked then.
    pub changed_since: bool,
    /// Whether they let it pass.
    pub matched: bool,
    /// Why, in one line for people.
    pub text: String,
    /// The rules with what came of each: `outcome`, `decided` on those that made the
    /// difference, and of matches `actual`, the values that they saw, `missing`, `cut` and
    /// `masked`.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub tree: Explanation,
}

/// One attempt to send.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct TraceAttempt {
    /// Which one, from 1 on.
    pub number: u32,
    /// Why it was made: `first`, `retry` or `resend`.
    pub trigger: &'static str,
    /// When it began, in unix seconds.
    pub at: f64,
    /// How long it had been due by then, in milliseconds.
    pub queued_ms: f64,
    /// How long finding the address took, in milliseconds; absent on a kept connection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolve_ms: Option<f64>,
    /// How long connecting took, in milliseconds; absent on a kept connection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connect_ms: Option<f64>,
    /// How long the TLS handshake took, in milliseconds; absent on a kept connection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_ms: Option<f64>,
    /// From there until the answer began, in milliseconds; absent when nothing was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_byte_ms: Option<f64>,
    /// All of it, in milliseconds.
    pub total_ms: f64,
    /// Whether the connection was kept from an earlier request.
    pub reused: bool,
    /// The address and port; empty when there was none.
    pub address: String,
    /// The status of the answer; 0 when there was none.
    pub status_code: u16,
    /// Why there was no answer, of the last attempt only; else empty.
    pub error: String,
    /// The same in one word: `resolve`, `connect`, `tls`, `timeout`, `broken`, `refused`,
    /// `unsendable` or `credentials`; absent when there was an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_kind: Option<&'static str>,
    /// When the next attempt was due, in unix seconds; absent after the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_at: Option<f64>,
    /// Why then: `schedule`, or `retry_after` when the destination asked for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_because: Option<&'static str>,
}

impl From<&PastAttempt> for TraceAttempt {
    fn from(attempt: &PastAttempt) -> Self {
        let PastAttempt { number, trigger, at_ms, queued, status_code, timings, next, .. } =
            *attempt;
        let millis = |part: std::time::Duration| part.as_micros() as f64 / 1e3;
        Self {
            number,
            trigger: trigger.as_str(),
            at: at_ms as f64 / 1e3,
            queued_ms: millis(queued),
            resolve_ms: timings.resolve.map(millis),
            connect_ms: timings.connect.map(millis),
            tls_ms: timings.tls.map(millis),
            first_byte_ms: timings.first_byte.map(millis),
            total_ms: millis(timings.total),
            reused: timings.reused,
            address: timings.address.map(|address| address.to_string()).unwrap_or_default(),
            status_code,
            error: String::new(),
            error_kind: attempt.failure.map(|kind| kind.as_str()),
            next_at: next.map(|(next_ms, _)| next_ms as f64 / 1e3),
            next_because: next.map(|(_, because)| because.as_str()),
        }
    }
}

/// With what a stored webhook is to be tried; nothing sends.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
#[non_exhaustive]
pub struct ExplainRequest {
    /// The ID of an output of the same bucket; the log's own when it is not said.
    #[serde(deserialize_with = "wire::null_default")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = Uuid))]
    pub output: Option<OutputId>,
    /// The rules to ask; those of the output when they are not said.
    #[serde(deserialize_with = "wire::null_default")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub rules: Option<Rules>,
    /// The function to run; that of the output when it is not said.
    #[serde(deserialize_with = "wire::null_default")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = Uuid))]
    pub function_id: Option<FunctionId>,
}

/// What would become of a stored webhook.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct Explained {
    /// What would become of it, and why, in one line for people.
    pub verdict: String,
    /// Whether it would be sent, or handed to connected clients.
    pub forwarded: bool,
    /// The output.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = Uuid))]
    pub output_id: OutputId,
    /// What the rules say.
    pub rules: TraceRules,
    /// What the function did; absent when there is none, or the rules stop the webhook before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function: Option<TraceFunction>,
}

/// A moment as the trace tells it: in unix seconds, to the millisecond.
pub(crate) fn seconds(at: Timestamp) -> f64 {
    at.as_millis() as f64 / 1e3
}
