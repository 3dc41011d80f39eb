//! Why a webhook is where it is, as the interface tells it.

use serde::{Deserialize, Serialize};

use super::{DeliveryStatus, Reason, wire};
use crate::{
    clock::Timestamp,
    forward::history::TraceAttempt,
    id::{DeliveryId, ExecutionId, FunctionId, OutputId},
    rule::{Explanation, RequestChange, Rules},
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
    /// What was asked about the webhook before it was sent, in this order.
    pub checks: Vec<TraceCheck>,
    /// The functions that ran, in their order.
    pub functions: Vec<TraceFunction>,
    /// What the output's rules say, as they are now; absent without an output, and when the
    /// content of an ephemeral webhook is erased.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rules: Option<TraceRules>,
    /// The attempts: the first 8 and the last 56.
    pub attempts: Vec<TraceAttempt>,
    /// When the next attempt is due, in unix seconds; absent when there is none, and when the
    /// output is disabled or paused until somebody resumes it.
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
    /// Whose signature it has, by the name of the provider that the input verifies; absent
    /// when it was not verified.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verified_by: Option<String>,
    /// Whether it came over TLS.
    pub secure: bool,
    /// The length of the body, as the input's function left it.
    pub bytes: usize,
    /// Whether the content is forgotten after the final outcome.
    pub ephemeral: bool,
    /// The status that the sender got, as the input says it; absent when that is not known,
    /// because the input was changed since, or nobody sent it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answered: Option<u16>,
    /// Where that answer came from; absent when that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer_from: Option<AnswerFrom>,
}

/// Where the answer to a sender came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum AnswerFrom {
    /// It is the input's own.
    Static,
    /// The input's function set it.
    Function,
    /// An output's destination, or a client, gave it.
    Output,
    /// It is the input's own, because no output had answered in time.
    Timeout,
    /// The webhook was refused: it is not from whom it says it is, or the input's function
    /// failed.
    Refusal,
}

/// One question that was asked about a webhook before it was sent.
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

/// What can be asked about a webhook before it is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TraceCheckKind {
    /// Whether the sender had the bucket's credentials.
    BucketAuth,
    /// Whether it is a handshake of the sender's, which is answered and goes no further.
    Challenge,
    /// Whether the sender is who it says it is.
    Signature,
    /// Whether the webhook had come before.
    Deduplication,
    /// Whether it had its turn at the output in time.
    Throttle,
}

impl TraceCheckKind {
    /// Its word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::BucketAuth => "bucket_auth",
            Self::Challenge => "challenge",
            Self::Signature => "signature",
            Self::Deduplication => "deduplication",
            Self::Throttle => "throttle",
        }
    }
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
    /// The function; absent when that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = Uuid))]
    pub function_id: Option<FunctionId>,
    /// Which version of its source ran; absent when that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u32>,
    /// The record of the run; absent when it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = Uuid))]
    pub execution_id: Option<ExecutionId>,
    /// How it ended: `success`, `unmodified`, `error`, `stopped` (it forwards the webhook no further), or
    /// `unknown` when there is no record to tell.
    pub outcome: TraceFunctionOutcome,
    /// Why it failed; empty when it did not.
    pub error: String,
    /// Why there is no record of the run: `this run was not recorded`, because the record of
    /// another run stands for it, or `its run is no longer kept`; empty where there is a record.
    pub note: &'static str,
    /// How long it took, in milliseconds; absent without a record of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<f64>,
    /// What it changed, 100 changes at most; nothing where the webhook as it was before is no
    /// longer kept.
    pub changes: Vec<RequestChange>,
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
    /// It returned, and changed something.
    Success,
    /// It returned, and changed nothing.
    Unmodified,
    /// It failed.
    Error,
    /// It returned, and forwards the webhook no further.
    Stopped,
    /// There is no record of the run that tells.
    Unknown,
}

/// What rules say about a webhook.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct TraceRules {
    /// Which version of the output's rules was asked when the webhook was stored, and is told
    /// of here; absent when that is not known, and these are today's rules.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u32>,
    /// Whether today's rules are others than those that were asked, or may be, because that is
    /// not known.
    pub changed_since: bool,
    /// Whether they let it pass; absent when this server cannot evaluate them for this
    /// webhook, and `text` says why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matched: Option<bool>,
    /// Why, in one line for people.
    pub text: String,
    /// The rules with what came of each: `outcome`, `decided` on those that made the
    /// difference, and of matches `actual`, the values that they saw, `element`, the path of the
    /// element that decided where a path has a `*`, `missing`, `cut` and `masked`. Absent with
    /// `matched`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub tree: Option<Explanation>,
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
