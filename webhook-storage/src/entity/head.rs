//! What lists show of logs, read without their content.

use std::{collections::HashMap, time::Duration};

use http::Method;
use sea_orm::prelude::Uuid;
use webhook_core::{
    BucketId, DeliveryId, Error, InputId, OutputId, WebhookId,
    model::{LogHead, Reason},
};

use super::{Table, delivery::status, moment, table};
use crate::{
    fault::{DatabaseError, Row},
    tx::Read,
};

table! {
    /// What lists show of a delivery.
    Delivery in "delivery" {
        id: Uuid,
        webhook_id: Uuid,
        bucket_id: Uuid,
        output_id: Option<Uuid>,
        status: i64,
        reason: Option<String>,
        attempts: i64,
        status_code: Option<i64>,
        duration_ns: Option<i64>,
        created_at: i64,
    }
}

table! {
    /// What lists show of a webhook.
    Received in "webhook" {
        id: Uuid,
        input_id: Uuid,
        received_at: i64,
        verified: Option<bool>,
        duplicates: Option<i64>,
        method: String,
        extra_path: Vec<u8>,
        raw_query: Vec<u8>,
        /// Neither database reads a body to say how long it is; of an object the row says it.
        body_bytes: i64 = "CAST(COALESCE(object_bytes, LENGTH(body)) AS bigint)",
    }
}

/// What lists show of a log.
pub(crate) struct Head {
    delivery: Delivery,
    webhook: Option<Received>,
}

/// The heads of the logs with these identifiers that exist, by identifier.
pub(crate) async fn find(
    tx: &impl Read,
    ids: impl IntoIterator<Item = Uuid>,
) -> Result<HashMap<Uuid, Head>, DatabaseError> {
    let deliveries = Delivery::find(tx, ids).await?;
    // By their keys: a join would look into each day of a log that is divided by day.
    let webhooks = Received::find(tx, deliveries.iter().map(|row| row.webhook_id)).await?;
    let webhooks: HashMap<_, _> = webhooks.into_iter().map(|row| (row.id, row)).collect();
    let head = |delivery: Delivery| {
        let webhook = webhooks.get(&delivery.webhook_id).cloned();
        (delivery.id, Head { delivery, webhook })
    };
    Ok(deliveries.into_iter().map(head).collect())
}

impl Head {
    pub(crate) fn read(self) -> Result<LogHead, Error> {
        let Self { delivery, webhook } = self;
        let row = Row { table: "delivery", id: delivery.id };
        let webhook = webhook.ok_or_else(|| Error::not_found("webhook"))?;
        let word = |word: &String| Reason::from_wire(word).ok_or("no such reason");
        let reason = delivery.reason.as_ref().map(word).transpose();
        let duration =
            delivery.duration_ns.unwrap_or_default().try_into().map(Duration::from_nanos);
        let extra_path = row.read("extra_path", String::from_utf8(webhook.extra_path))?;
        let raw_query = row.read("raw_query", String::from_utf8(webhook.raw_query))?;
        let duplicates = webhook.duplicates.unwrap_or_default();
        Ok(LogHead {
            id: DeliveryId::from_uuid(delivery.id),
            webhook_id: WebhookId::from_uuid(delivery.webhook_id),
            bucket_id: BucketId::from_uuid(delivery.bucket_id),
            input_id: InputId::from_uuid(webhook.input_id),
            output_id: delivery.output_id.map(OutputId::from_uuid),
            status: row.read("status", status(delivery.status).ok_or("no such status"))?,
            reason: row.read("reason", reason)?,
            attempts: row.read("attempts", delivery.attempts.try_into())?,
            status_code: row
                .read("status_code", delivery.status_code.unwrap_or_default().try_into())?,
            duration: row.read("duration_ns", duration)?,
            verified: webhook.verified,
            duplicates: row.read("duplicates", duplicates.try_into())?,
            method: row.read("method", Method::from_bytes(webhook.method.as_bytes()))?,
            path: LogHead::path(&extra_path, &raw_query),
            body_bytes: row.read("body_bytes", webhook.body_bytes.try_into())?,
            received_at: moment(webhook.received_at),
            created_at: moment(delivery.created_at),
        })
    }
}
