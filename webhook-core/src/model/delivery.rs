//! Deliveries, which are also the logs.

use std::{borrow::Cow, time::Duration};

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use http::HeaderMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Headers, Reason, Request, Webhook, wire};
use crate::{
    clock::Timestamp,
    forward::history::{History, PastAttempt},
    id::{AccountId, BucketId, DeliveryId, ExecutionId, InputId, OutputId, ReplayId, WebhookId},
};

/// Where a delivery stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(rename_all = "lowercase"))]
#[serde(rename_all = "lowercase")]
pub enum DeliveryStatus {
    /// Being delivered.
    Preparing,
    /// The destination answered 2xx.
    Sent,
    /// Given up.
    Failed,
    /// A client could not reach its target.
    Stalled,
    /// Stored or queued.
    Received,
    /// Stopped by rules or by a function.
    Rejected,
}

impl DeliveryStatus {
    /// Whether nothing more will happen by itself.
    #[must_use]
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Sent | Self::Failed | Self::Rejected)
    }

    /// The lower-case name on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        wire::WireEnum::wire_name(self)
    }

    /// The status with this name or integer on the wire.
    #[must_use]
    pub fn from_wire(text: &str) -> Option<Self> {
        let values = <Self as wire::WireEnum>::VALUES;
        values
            .iter()
            .find(|(_, name, number)| *name == text || text.parse() == Ok(*number))
            .map(|(status, ..)| *status)
    }

    /// Its integer on the wire.
    #[must_use]
    pub fn as_u8(self) -> u8 {
        match self {
            Self::Preparing => 0,
            Self::Sent => 1,
            Self::Failed => 2,
            Self::Stalled => 3,
            Self::Received => 4,
            Self::Rejected => 5,
        }
    }
}

impl wire::WireEnum for DeliveryStatus {
    const VALUES: &'static [(Self, &'static str, u64)] = &[
        (Self::Preparing, "preparing", 0),
        (Self::Sent, "sent", 1),
        (Self::Failed, "failed", 2),
        (Self::Stalled, "stalled", 3),
        (Self::Received, "received", 4),
        (Self::Rejected, "rejected", 5),
    ];
}

impl<'de> Deserialize<'de> for DeliveryStatus {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        wire::deserialize_enum(deserializer)
    }
}

/// What came of one attempt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attempt {
    /// The destination's status; 0 when there was no answer.
    pub status_code: u16,
    /// The headers of its answer.
    pub response_headers: HeaderMap,
    /// The body of its answer, cut at the forwarder's limit.
    pub response_body: Bytes,
    /// How long it took.
    pub duration: Duration,
    /// Why it failed without an answer, for people.
    pub error: Option<String>,
}

impl Attempt {
    /// Whether it has content of the destination's, which a store may refuse.
    pub(crate) fn has_content(&self) -> bool {
        let Self { response_headers, response_body, error, .. } = self;
        !response_headers.is_empty() || !response_body.is_empty() || error.is_some()
    }

    /// The same without that content.
    pub(crate) fn without_content(&self) -> Self {
        let Self { status_code, duration, .. } = *self;
        Self { status_code, duration, ..Self::default() }
    }
}

/// One webhook on its way to one output. The same row is the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Identifies it; sent along as `X-Webhook-Relay-Id`, stable across attempts.
    pub id: DeliveryId,
    /// The webhook.
    pub webhook_id: WebhookId,
    /// The output; none when the bucket had none.
    pub output_id: Option<OutputId>,
    /// Whether the output is handed to connected clients only.
    pub internal: bool,
    /// Where it stands.
    pub status: DeliveryStatus,
    /// When the relay tries next; none when it never will.
    pub due_at: Option<Timestamp>,
    /// Attempts so far.
    pub attempts: u32,
    /// What came of the last attempt, or why it was stopped.
    pub last: Option<Attempt>,
    /// Why it ended as it did, for programs; none when it was sent, or goes on.
    pub reason: Option<Reason>,
    /// What the output function made of the webhook; sent again as it is.
    pub processed: Option<Request>,
    /// The attempts, the first and the last of them.
    pub history: History,
    /// The run of the output function, if there was one.
    pub output_execution_id: Option<ExecutionId>,
    /// Until when a consumer has it that is to say what became of it; in the past when that
    /// consumer did not, and nobody took it since.
    pub leased_until: Option<Timestamp>,
    /// The replay that made it.
    pub replay: Option<Box<Replayed>>,
    /// When it was stored.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

impl Delivery {
    /// Whether the destination said that it took the webhook, and the body of that answer did not
    /// end.
    #[must_use]
    pub fn is_answer_incomplete(&self) -> bool {
        let is_incomplete = || {
            let attempts = self.history.attempts();
            attempts.last().is_some_and(PastAttempt::is_answer_incomplete)
        };
        self.status == DeliveryStatus::Sent && is_incomplete()
    }
}

/// What a replay made a delivery of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replayed {
    /// The replay.
    pub id: ReplayId,
    /// The log that it found; sent along as `X-Webhook-Relay-Replay-Of`.
    pub of: DeliveryId,
}

/// A delivery with its webhook, as the interface shows it (`Log`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Log {
    /// The webhook.
    pub webhook: Webhook,
    /// Its delivery.
    pub delivery: Delivery,
}

impl Serialize for Log {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        LogFields::from(self).serialize(serializer)
    }
}

/// A log as it is on the wire.
#[derive(Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
struct LogFields<'a> {
    /// Identifies the log; what is forwarded carries it as `X-Webhook-Relay-Id`.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = Uuid))]
    id: DeliveryId,
    /// The account.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = Uuid))]
    account_id: AccountId,
    /// The bucket.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = Uuid))]
    bucket_id: BucketId,
    /// The input that received the webhook.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = Uuid))]
    input_id: InputId,
    /// The output; empty when the bucket had none.
    output_id: String,
    /// Whether the output is handed to connected clients only.
    internal: bool,
    /// Where the delivery stands.
    status: DeliveryStatus,
    /// The status code of the last attempt; 0 when there was no answer.
    status_code: u16,
    /// The method.
    method: &'a str,
    /// What followed the input's address in the path.
    extra_path: &'a str,
    /// The query as it came.
    raw_query: &'a str,
    /// The headers.
    #[cfg_attr(feature = "openapi", schema(value_type = HashMap<String, Vec<String>>))]
    headers: Headers,
    /// The body: text, or base64 where `body_encoding` says so.
    body: Cow<'a, str>,
    /// `base64` when the body is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    body_encoding: Option<&'static str>,
    /// The sender's address.
    ip_address: String,
    /// The headers of the answer to the last attempt.
    #[cfg_attr(feature = "openapi", schema(value_type = HashMap<String, Vec<String>>))]
    response_headers: Headers,
    /// The body of that answer, in base64.
    #[cfg_attr(feature = "openapi", schema(format = Byte))]
    response_body: String,
    /// Whether the destination said that it took the webhook, and the body of that answer did
    /// not end; absent when it did.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    answer_incomplete: bool,
    /// Why it failed without an answer, or why it was stopped.
    error: &'a str,
    /// Why it was stopped or failed, in one word; absent when it was sent, or goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<Reason>,
    /// Whether the webhook is from whom it says it is; absent when the input did not verify.
    #[serde(skip_serializing_if = "Option::is_none")]
    verified: Option<bool>,
    /// The sender's name for what happened, where the provider that the input verifies has
    /// one; else absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    event: Option<&'a str>,
    /// The first log of the webhook that this one is a duplicate of; absent when it is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = Uuid))]
    duplicate_of: Option<DeliveryId>,
    /// How many duplicates of this webhook came so far; absent when there were none.
    #[serde(skip_serializing_if = "is_zero")]
    duplicates: u32,
    /// Until when a consumer has it that is to say what became of it, in unix seconds; absent
    /// when none has.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<i64>))]
    leased_until: Option<Timestamp>,
    /// The replay that made the log; absent when none did.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = Uuid))]
    replay_id: Option<ReplayId>,
    /// The log that the replay found; absent when none made it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = Uuid))]
    replay_of: Option<DeliveryId>,
    /// Attempts beyond the first.
    retries: u32,
    /// How long the last attempt took, in milliseconds.
    duration_ms: u64,
    /// Whether the content is forgotten after the final outcome.
    ephemeral: bool,
    /// The run of the input's function; empty without one.
    input_function_execution_id: String,
    /// The run of the output's function; empty without one.
    output_function_execution_id: String,
    /// When it was stored, in unix seconds.
    #[cfg_attr(feature = "openapi", schema(value_type = i64))]
    created_at: Timestamp,
    /// When it last changed, in unix seconds.
    #[cfg_attr(feature = "openapi", schema(value_type = i64))]
    updated_at: Timestamp,
}

impl<'a> From<&'a Log> for LogFields<'a> {
    fn from(log: &'a Log) -> Self {
        let Log { webhook, delivery } = log;
        let last = delivery.last.as_ref();
        let request = delivery.processed.as_ref().unwrap_or(&webhook.request);
        let (body, body_encoding) = match std::str::from_utf8(&request.body) {
            Ok(text) => (Cow::Borrowed(text), None),
            Err(_) => (Cow::Owned(STANDARD.encode(&request.body)), Some("base64")),
        };
        Self {
            id: delivery.id,
            account_id: webhook.account_id,
            bucket_id: webhook.bucket_id,
            input_id: webhook.input_id,
            output_id: text(delivery.output_id),
            internal: delivery.internal,
            status: delivery.status,
            status_code: last.map_or(0, |last| last.status_code),
            method: request.method.as_str(),
            extra_path: &request.extra_path,
            raw_query: &request.raw_query,
            headers: Headers(request.headers.clone()),
            body,
            body_encoding,
            ip_address: text(webhook.remote_addr),
            response_headers: Headers(
                last.map(|last| last.response_headers.clone()).unwrap_or_default(),
            ),
            response_body: last
                .map(|last| STANDARD.encode(&last.response_body))
                .unwrap_or_default(),
            answer_incomplete: delivery.is_answer_incomplete(),
            error: last.and_then(|last| last.error.as_deref()).unwrap_or_default(),
            reason: delivery.reason,
            verified: webhook.checks.verified,
            event: webhook.checks.event.as_deref(),
            duplicate_of: webhook.checks.duplicate_of,
            duplicates: webhook.checks.duplicates,
            leased_until: delivery.leased_until,
            replay_id: delivery.replay.as_ref().map(|replay| replay.id),
            replay_of: delivery.replay.as_ref().map(|replay| replay.of),
            retries: delivery.attempts.saturating_sub(1),
            duration_ms: last
                .map_or(0, |last| u64::try_from(last.duration.as_millis()).unwrap_or(u64::MAX)),
            ephemeral: webhook.ephemeral,
            input_function_execution_id: text(webhook.input_execution_id),
            output_function_execution_id: text(delivery.output_execution_id),
            created_at: delivery.created_at,
            updated_at: delivery.updated_at,
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// What is not there is empty.
fn text(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

#[cfg(feature = "openapi")]
mod schema {
    use utoipa::{
        PartialSchema, ToSchema,
        openapi::{RefOr, schema::Schema},
    };

    use super::{Log, LogFields};

    impl PartialSchema for Log {
        fn schema() -> RefOr<Schema> {
            LogFields::schema()
        }
    }

    impl ToSchema for Log {
        fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
            LogFields::schemas(schemas);
        }
    }
}
