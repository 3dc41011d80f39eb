//! What a list shows of a log.

use std::time::Duration;

use http::Method;

use super::{Delivery, DeliveryStatus, Log, Reason, Webhook};
use crate::{
    clock::Timestamp,
    id::{BucketId, DeliveryId, InputId, OutputId, WebhookId},
};

/// What a list shows of a log: everything that is short. Neither headers nor bodies have to be
/// read for it, so a page of large webhooks costs what a page of small ones does.
///
/// The request is the one that was received, not what a function made of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogHead {
    /// Identifies the log.
    pub id: DeliveryId,
    /// The webhook, which may have logs of other outputs.
    pub webhook_id: WebhookId,
    /// Where the webhook came in.
    pub bucket_id: BucketId,
    /// At which input of it.
    pub input_id: InputId,
    /// Where it goes; none when the bucket had no output.
    pub output_id: Option<OutputId>,
    /// Where it stands.
    pub status: DeliveryStatus,
    /// Why it ended so; none when it was sent, or goes on.
    pub reason: Option<Reason>,
    /// Attempts so far.
    pub attempts: u32,
    /// What the destination answered last; 0 for nothing.
    pub status_code: u16,
    /// How long the last attempt took.
    pub duration: Duration,
    /// What its signature came to; none where nobody asked.
    pub verified: Option<bool>,
    /// How often it came again.
    pub duplicates: u32,
    /// The method of the request.
    pub method: Method,
    /// The path behind the input's, and the query with its `?`; at most
    /// [`MAX_PATH`](Self::MAX_PATH) characters of them.
    pub path: String,
    /// How large the body is.
    pub body_bytes: u64,
    /// When the webhook was received.
    pub received_at: Timestamp,
    /// When the log was stored: later than that where it was sent again.
    pub created_at: Timestamp,
}

impl LogHead {
    /// Characters of [`path`](Self::path) at most.
    pub const MAX_PATH: usize = 200;

    /// The head of this log.
    #[must_use]
    pub fn of(log: &Log) -> Self {
        Self::new(&log.webhook, &log.delivery)
    }

    pub(crate) fn new(webhook: &Webhook, delivery: &Delivery) -> Self {
        let (request, last) = (&webhook.request, delivery.last.as_ref());
        Self {
            id: delivery.id,
            webhook_id: webhook.id,
            bucket_id: webhook.bucket_id,
            input_id: webhook.input_id,
            output_id: delivery.output_id,
            status: delivery.status,
            reason: delivery.reason,
            attempts: delivery.attempts,
            status_code: last.map_or(0, |last| last.status_code),
            duration: last.map_or(Duration::ZERO, |last| last.duration),
            verified: webhook.checks.verified,
            duplicates: webhook.checks.duplicates,
            method: request.method.clone(),
            path: Self::path(&request.extra_path, &request.raw_query),
            body_bytes: u64::try_from(request.body.len()).unwrap_or(u64::MAX),
            received_at: webhook.received_at,
            created_at: delivery.created_at,
        }
    }

    /// What it shows of a path and a query.
    #[must_use]
    pub fn path(extra_path: &str, raw_query: &str) -> String {
        let mark = if raw_query.is_empty() { "" } else { "?" };
        let characters = [extra_path, mark, raw_query].into_iter().flat_map(str::chars);
        characters.take(Self::MAX_PATH).collect()
    }
}
