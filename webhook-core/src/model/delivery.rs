//! Deliveries, which are also the logs.

use std::time::Duration;

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use http::HeaderMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer, ser::SerializeStruct};

use super::{Headers, Webhook, webhook::Request, wire};
use crate::{
    clock::Timestamp,
    id::{DeliveryId, ExecutionId, OutputId, WebhookId},
};

/// Where a delivery stands (wire.md section 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(rename_all = "lowercase"))]
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

impl Serialize for DeliveryStatus {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        wire::serialize_enum(self, serializer)
    }
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
    /// What the output function made of the webhook; sent again as it is.
    pub processed: Option<Request>,
    /// The run of the output function, if there was one.
    pub output_execution_id: Option<ExecutionId>,
    /// When it was stored.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
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
        let Self { webhook, delivery } = self;
        let empty = Attempt::default();
        let last = delivery.last.as_ref().unwrap_or(&empty);
        let request = delivery.processed.as_ref().unwrap_or(&webhook.request);
        let optional = |id: Option<String>| id.unwrap_or_default();

        let mut log = serializer.serialize_struct("Log", 26)?;
        log.serialize_field("id", &delivery.id)?;
        log.serialize_field("account_id", &webhook.account_id)?;
        log.serialize_field("bucket_id", &webhook.bucket_id)?;
        log.serialize_field("input_id", &webhook.input_id)?;
        log.serialize_field("output_id", &optional(delivery.output_id.map(|id| id.to_string())))?;
        log.serialize_field("internal", &delivery.internal)?;
        log.serialize_field("status", &delivery.status)?;
        log.serialize_field("status_code", &last.status_code)?;
        log.serialize_field("method", request.method.as_str())?;
        log.serialize_field("extra_path", &request.extra_path)?;
        log.serialize_field("raw_query", &request.raw_query)?;
        log.serialize_field("headers", &Headers(request.headers.clone()))?;
        match std::str::from_utf8(&request.body) {
            Ok(text) => log.serialize_field("body", text)?,
            Err(_) => {
                log.serialize_field("body", &STANDARD.encode(&request.body))?;
                log.serialize_field("body_encoding", "base64")?;
            }
        }
        log.serialize_field(
            "ip_address",
            &optional(webhook.remote_addr.map(|addr| addr.to_string())),
        )?;
        log.serialize_field("response_headers", &Headers(last.response_headers.clone()))?;
        log.serialize_field("response_body", &STANDARD.encode(&last.response_body))?;
        log.serialize_field("error", last.error.as_deref().unwrap_or_default())?;
        log.serialize_field("retries", &delivery.attempts.saturating_sub(1))?;
        log.serialize_field(
            "duration_ms",
            &u64::try_from(last.duration.as_millis()).unwrap_or(u64::MAX),
        )?;
        log.serialize_field("ephemeral", &webhook.ephemeral)?;
        log.serialize_field(
            "input_function_execution_id",
            &optional(webhook.input_execution_id.map(|id| id.to_string())),
        )?;
        log.serialize_field(
            "output_function_execution_id",
            &optional(delivery.output_execution_id.map(|id| id.to_string())),
        )?;
        log.serialize_field("created_at", &delivery.created_at)?;
        log.serialize_field("updated_at", &delivery.updated_at)?;
        log.end()
    }
}
