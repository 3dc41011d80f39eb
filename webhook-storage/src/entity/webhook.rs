//! Webhooks as they were received.

use http::{HeaderMap, Method};
use sea_orm::entity::prelude::*;
use webhook_core::{
    AccountId, BucketId, Error, ExecutionId, InputId, WebhookId,
    model::{Request, Webhook},
};

use super::{millis, moment};
use crate::{codec, fault::Row};

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
    pub(crate) received_at: i64,
    pub(crate) body: Vec<u8>,
}

#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl Model {
    /// The row of a webhook, or of what is left of it when its content is not
    /// to be kept.
    pub(crate) fn of(webhook: &Webhook, with_content: bool) -> Self {
        let Webhook { id, account_id, bucket_id, input_id, request, remote_addr, .. } = webhook;
        let Webhook { secure, ephemeral, input_execution_id, received_at, .. } = webhook;
        let Request { method, extra_path, raw_query, headers, body } = request;
        let (raw_query, headers, body) = match with_content {
            true => (raw_query.as_bytes(), headers, &body[..]),
            false => (&[][..], &HeaderMap::new(), &[][..]),
        };
        Self {
            id: id.as_uuid(),
            account_id: account_id.as_uuid(),
            bucket_id: bucket_id.as_uuid(),
            input_id: input_id.as_uuid(),
            method: method.to_string(),
            extra_path: extra_path.clone().into_bytes(),
            raw_query: raw_query.to_vec(),
            headers: codec::encode_headers(headers),
            remote_addr: remote_addr.map(|addr| addr.to_string()),
            secure: *secure,
            ephemeral: *ephemeral,
            input_execution_id: input_execution_id.map(|id| id.as_uuid()),
            received_at: millis(*received_at),
            body: body.to_vec(),
        }
    }

    pub(crate) fn read(self) -> Result<Webhook, Error> {
        let row = Row { table: "webhook", id: self.id };
        let method = Method::from_bytes(self.method.as_bytes());
        let remote_addr = self.remote_addr.map(|addr| addr.parse()).transpose();
        Ok(Webhook {
            id: WebhookId::from_uuid(self.id),
            account_id: AccountId::from_uuid(self.account_id),
            bucket_id: BucketId::from_uuid(self.bucket_id),
            input_id: InputId::from_uuid(self.input_id),
            request: Request {
                method: row.read("method", method)?,
                extra_path: row.read("extra_path", String::from_utf8(self.extra_path))?,
                raw_query: row.read("raw_query", String::from_utf8(self.raw_query))?,
                headers: row.read("headers", codec::decode_headers(&self.headers))?,
                body: self.body.into(),
            },
            remote_addr: row.read("remote_addr", remote_addr)?,
            secure: self.secure,
            ephemeral: self.ephemeral,
            input_execution_id: self.input_execution_id.map(ExecutionId::from_uuid),
            received_at: moment(self.received_at),
        })
    }
}
