//! What lists show of logs, read without their content.

use std::{collections::HashMap, time::Duration};

use http::Method;
use sea_orm::prelude::Uuid;
use webhook_core::{
    BucketId, DeliveryId, Error, InputId, OutputId, WebhookId,
    model::{LogHead, Reason},
};

use super::{delivery::status, moment};
use crate::{
    fault::{DatabaseError, Row},
    tx,
};

const OF_DELIVERY: &str = "id, webhook_id, bucket_id, output_id, status, reason, attempts, \
    status_code, duration_ns, created_at";
/// Neither database reads a body to say how long it is; of an object the row says it.
const OF_WEBHOOK: &str = "id, input_id, received_at, verified, duplicates, method, extra_path, \
    raw_query, CAST(COALESCE(object_bytes, LENGTH(body)) AS bigint) AS body_bytes";

/// A row of a delivery, and what lists show of its webhook.
#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) id: Uuid,
    webhook_id: Uuid,
    bucket_id: Uuid,
    output_id: Option<Uuid>,
    status: i64,
    reason: Option<String>,
    attempts: i64,
    status_code: Option<i64>,
    duration_ns: Option<i64>,
    created_at: i64,
    webhook: Option<Received>,
}

/// A row of a webhook.
#[derive(Clone, Debug)]
struct Received {
    id: Uuid,
    input_id: Uuid,
    received_at: i64,
    verified: Option<bool>,
    duplicates: Option<i64>,
    method: String,
    extra_path: Vec<u8>,
    raw_query: Vec<u8>,
    body_bytes: i64,
}

/// Those that are there of these, in no order.
pub(crate) async fn find(
    tx: &impl tx::Read,
    ids: impl IntoIterator<Item = Uuid>,
) -> Result<Vec<Model>, DatabaseError> {
    let mut rows = super::find(tx, "delivery", OF_DELIVERY, ids, Model::of_row).await?;
    // By their keys: a join would look into each day of a log that is divided by day.
    let webhooks = rows.iter().map(|row| row.webhook_id);
    let webhooks = super::find(tx, "webhook", OF_WEBHOOK, webhooks, Received::of_row).await?;
    let webhooks: HashMap<_, _> = webhooks.into_iter().map(|row| (row.id, row)).collect();
    for row in &mut rows {
        row.webhook = webhooks.get(&row.webhook_id).cloned();
    }
    Ok(rows)
}

impl Received {
    fn of_row(row: &tx::Row<'_>) -> Result<Self, DatabaseError> {
        Ok(Self {
            id: row.get("id")?,
            input_id: row.get("input_id")?,
            received_at: row.get("received_at")?,
            verified: row.get("verified")?,
            duplicates: row.get("duplicates")?,
            method: row.get("method")?,
            extra_path: row.get("extra_path")?,
            raw_query: row.get("raw_query")?,
            body_bytes: row.get("body_bytes")?,
        })
    }
}

impl Model {
    fn of_row(row: &tx::Row<'_>) -> Result<Self, DatabaseError> {
        Ok(Self {
            id: row.get("id")?,
            webhook_id: row.get("webhook_id")?,
            bucket_id: row.get("bucket_id")?,
            output_id: row.get("output_id")?,
            status: row.get("status")?,
            reason: row.get("reason")?,
            attempts: row.get("attempts")?,
            status_code: row.get("status_code")?,
            duration_ns: row.get("duration_ns")?,
            created_at: row.get("created_at")?,
            webhook: None,
        })
    }

    pub(crate) fn read(self) -> Result<LogHead, Error> {
        let row = Row { table: "delivery", id: self.id };
        let webhook = self.webhook.ok_or_else(|| Error::not_found("webhook"))?;
        let word = |word: &String| Reason::from_wire(word).ok_or("no such reason");
        let reason = self.reason.as_ref().map(word).transpose();
        let duration = self.duration_ns.unwrap_or_default().try_into().map(Duration::from_nanos);
        let extra_path = row.read("extra_path", String::from_utf8(webhook.extra_path))?;
        let raw_query = row.read("raw_query", String::from_utf8(webhook.raw_query))?;
        let duplicates = webhook.duplicates.unwrap_or_default();
        Ok(LogHead {
            id: DeliveryId::from_uuid(self.id),
            webhook_id: WebhookId::from_uuid(self.webhook_id),
            bucket_id: BucketId::from_uuid(self.bucket_id),
            input_id: InputId::from_uuid(webhook.input_id),
            output_id: self.output_id.map(OutputId::from_uuid),
            status: row.read("status", status(self.status).ok_or("no such status"))?,
            reason: row.read("reason", reason)?,
            attempts: row.read("attempts", self.attempts.try_into())?,
            status_code: row
                .read("status_code", self.status_code.unwrap_or_default().try_into())?,
            duration: row.read("duration_ns", duration)?,
            verified: webhook.verified,
            duplicates: row.read("duplicates", duplicates.try_into())?,
            method: row.read("method", Method::from_bytes(webhook.method.as_bytes()))?,
            path: LogHead::path(&extra_path, &raw_query),
            body_bytes: row.read("body_bytes", webhook.body_bytes.try_into())?,
            received_at: moment(webhook.received_at),
            created_at: moment(self.created_at),
        })
    }
}
