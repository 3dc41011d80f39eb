//! Webhooks as they were received.

use bytes::Bytes;
use http::Method;
use sea_orm::entity::prelude::*;
use webhook_core::{
    AccountId, BucketId, DeliveryId, Error, ExecutionId, InputId, WebhookId,
    model::{Checks, Request, Webhook},
};

use super::{delivery::text, millis, moment};
use crate::{
    codec,
    fault::{DatabaseError, Row},
    objects::StoredBody,
    tx::{self, Param},
};

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "webhook")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub(crate) id: Uuid,
    pub(crate) account_id: Uuid,
    pub(crate) bucket_id: Uuid,
    pub(crate) input_id: Uuid,
    pub(crate) method: String,
    pub(crate) extra_path: Vec<u8>,
    pub(crate) raw_query: Vec<u8>,
    pub(crate) headers: Vec<u8>,
    pub(crate) remote_addr: Option<String>,
    pub(crate) secure: bool,
    pub(crate) ephemeral: bool,
    pub(crate) input_execution_id: Option<Uuid>,
    pub(crate) input_failed: bool,
    pub(crate) received_at: i64,
    pub(crate) verified: Option<bool>,
    pub(crate) event: Option<String>,
    pub(crate) duplicate_of: Option<Uuid>,
    pub(crate) duplicates: Option<i64>,
    /// The body, or its SHA-256 when it is an object.
    pub(crate) body: Vec<u8>,
    /// How long the body is that is an object.
    pub(crate) object_bytes: Option<i64>,
    /// Null for none.
    pub(crate) hops: Option<i64>,
}

#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

/// The columns of a [`Model`].
const COLUMNS: &str = "\
    id, account_id, bucket_id, input_id, method, extra_path, raw_query, headers, \
    remote_addr, secure, ephemeral, input_execution_id, input_failed, received_at, \
    verified, event, duplicate_of, duplicates, body, object_bytes, hops";

/// The columns that a webhook is inserted with, in the order of [`values`].
pub(crate) const INSERTED: &str = "\
    id, account_id, bucket_id, input_id, method, extra_path, raw_query, headers, \
    remote_addr, secure, ephemeral, input_execution_id, input_failed, received_at, \
    verified, event, duplicate_of, body, object_bytes, hops";

/// The webhooks that are there of these, in no order.
pub(crate) async fn find(
    tx: &impl tx::Read,
    ids: impl IntoIterator<Item = Uuid>,
) -> Result<Vec<Model>, DatabaseError> {
    super::find(tx, "webhook", COLUMNS, ids, Model::of_row).await
}

/// What is stored of a webhook, or what is left of it when its content is not to be kept. With
/// `object` its body is an object.
pub(crate) fn values<'a>(
    webhook: &'a Webhook,
    object: Option<&'a StoredBody>,
    with_content: bool,
) -> [Param<'a>; 20] {
    let request = &webhook.request;
    let Checks { verified, event, duplicate_of, duplicates: _, hops } = &webhook.checks;
    let (raw_query, headers, body) = match with_content {
        true => {
            (&request.raw_query[..], codec::encode_headers(&request.headers), &request.body[..])
        }
        false => ("", Vec::new(), &[][..]),
    };
    let body = object.map_or(body, |object| &object.sha256[..]);
    let object_bytes = object.map(|object| i64::try_from(object.bytes).unwrap_or(i64::MAX));
    [
        webhook.id.as_uuid().into(),
        webhook.account_id.as_uuid().into(),
        webhook.bucket_id.as_uuid().into(),
        webhook.input_id.as_uuid().into(),
        request.method.as_str().into(),
        request.extra_path.as_bytes().into(),
        raw_query.as_bytes().into(),
        headers.into(),
        webhook.remote_addr.map(|addr| addr.to_string()).into(),
        webhook.secure.into(),
        webhook.ephemeral.into(),
        webhook.input_execution_id.map(|id| id.as_uuid()).into(),
        webhook.input_failed.into(),
        millis(webhook.received_at).into(),
        (*verified).into(),
        event.as_deref().map(text).into(),
        duplicate_of.map(|id| id.as_uuid()).into(),
        body.into(),
        object_bytes.into(),
        Some(*hops).filter(|hops| *hops > 0).map(i64::from).into(),
    ]
}

impl Model {
    fn of_row(row: &tx::Row<'_>) -> Result<Self, DatabaseError> {
        Ok(Self {
            id: row.get("id")?,
            account_id: row.get("account_id")?,
            bucket_id: row.get("bucket_id")?,
            input_id: row.get("input_id")?,
            method: row.get("method")?,
            extra_path: row.get("extra_path")?,
            raw_query: row.get("raw_query")?,
            headers: row.get("headers")?,
            remote_addr: row.get("remote_addr")?,
            secure: row.get("secure")?,
            ephemeral: row.get("ephemeral")?,
            input_execution_id: row.get("input_execution_id")?,
            input_failed: row.get("input_failed")?,
            received_at: row.get("received_at")?,
            verified: row.get("verified")?,
            event: row.get("event")?,
            duplicate_of: row.get("duplicate_of")?,
            duplicates: row.get("duplicates")?,
            body: row.get("body")?,
            object_bytes: row.get("object_bytes")?,
            hops: row.get("hops")?,
        })
    }

    /// The webhook. When its body is an object, it is still to be read: the webhook is without
    /// one so far.
    pub(crate) fn read(self) -> Result<(Webhook, Option<StoredBody>), Error> {
        let row = Row { table: "webhook", id: self.id };
        let (body, object) = match self.object_bytes {
            None => (self.body.into(), None),
            Some(bytes) => {
                let sum = <[u8; 32]>::try_from(self.body).map_err(|_| "is no SHA-256");
                let bytes = row.read("object_bytes", bytes.try_into())?;
                let sha256 = row.read("body", sum)?;
                (Bytes::new(), Some(StoredBody { webhook: self.id, bytes, sha256 }))
            }
        };
        let method = Method::from_bytes(self.method.as_bytes());
        let duplicates = self.duplicates.unwrap_or_default().try_into();
        let hops = self.hops.unwrap_or_default().try_into();
        let remote_addr = self.remote_addr.map(|addr| addr.parse()).transpose();
        let webhook = Webhook {
            id: WebhookId::from_uuid(self.id),
            account_id: AccountId::from_uuid(self.account_id),
            bucket_id: BucketId::from_uuid(self.bucket_id),
            input_id: InputId::from_uuid(self.input_id),
            request: Request {
                method: row.read("method", method)?,
                extra_path: row.read("extra_path", String::from_utf8(self.extra_path))?,
                raw_query: row.read("raw_query", String::from_utf8(self.raw_query))?,
                headers: row.read("headers", codec::decode_headers(&self.headers))?,
                body,
            },
            remote_addr: row.read("remote_addr", remote_addr)?,
            secure: self.secure,
            ephemeral: self.ephemeral,
            input_execution_id: self.input_execution_id.map(ExecutionId::from_uuid),
            input_failed: self.input_failed,
            checks: Checks {
                verified: self.verified,
                event: self.event,
                duplicate_of: self.duplicate_of.map(DeliveryId::from_uuid),
                duplicates: row.read("duplicates", duplicates)?,
                hops: row.read("hops", hops)?,
            },
            received_at: moment(self.received_at),
        };
        Ok((webhook, object))
    }
}
