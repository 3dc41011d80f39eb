//! Webhooks as they were received.

use bytes::Bytes;
use http::Method;
use sea_orm::prelude::Uuid;
use webhook_core::{
    AccountId, BucketId, DeliveryId, Error, ExecutionId, InputId, WebhookId,
    model::{Checks, Request, Webhook},
};

use super::{delivery::text, millis, moment, table};
use crate::{codec, fault::Row, objects::StoredBody, tx::Param};

table! {
    /// A row.
    Model in "webhook" {
        id: Uuid,
        account_id: Uuid,
        bucket_id: Uuid,
        input_id: Uuid,
        method: String,
        extra_path: Vec<u8>,
        raw_query: Vec<u8>,
        headers: Vec<u8>,
        remote_addr: Option<String>,
        secure: bool,
        ephemeral: bool,
        input_execution_id: Option<Uuid>,
        input_failed: bool,
        received_at: i64,
        verified: Option<bool>,
        event: Option<String>,
        duplicate_of: Option<Uuid>,
        duplicates: Option<i64>,
        /// The body, or its SHA-256 when it is an object.
        body: Vec<u8>,
        /// How long the body is that is an object.
        object_bytes: Option<i64>,
        /// Null for none.
        hops: Option<i64>,
    }
}

/// The columns that a webhook is inserted with, in the order of [`values`].
pub(crate) const INSERTED: &str = "\
    id, account_id, bucket_id, input_id, method, extra_path, raw_query, headers, \
    remote_addr, secure, ephemeral, input_execution_id, input_failed, received_at, \
    verified, event, duplicate_of, body, object_bytes, hops";

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
