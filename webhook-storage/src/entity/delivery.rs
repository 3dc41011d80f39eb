//! Deliveries, which are the queue and the log.

use std::{sync::Arc, time::Duration};

use sea_orm::entity::prelude::*;
use webhook_core::{
    DeliveryId, Error, ExecutionId, OutputId, ReplayId, WebhookId,
    forward::history::History,
    model::{Attempt, Delivery, DeliveryStatus, Reason, Replayed, Webhook},
    store::{NewDelivery, Pending},
};

use super::{millis, moment};
use crate::{
    codec,
    fault::{DatabaseError, Row},
    tx::{self, Param},
};

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "delivery")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub(crate) id: Uuid,
    pub(crate) webhook_id: Uuid,
    pub(crate) account_id: Uuid,
    pub(crate) bucket_id: Uuid,
    pub(crate) output_id: Option<Uuid>,
    pub(crate) internal: bool,
    pub(crate) ephemeral: bool,
    pub(crate) status: i64,
    pub(crate) due_at: Option<i64>,
    pub(crate) held_by: Option<Uuid>,
    pub(crate) attempts: i64,
    pub(crate) created_at: i64,
    pub(crate) updated_at: i64,
    pub(crate) output_execution_id: Option<Uuid>,
    pub(crate) status_code: Option<i64>,
    pub(crate) duration_ns: Option<i64>,
    pub(crate) error: Option<String>,
    pub(crate) reason: Option<String>,
    pub(crate) response_headers: Option<Vec<u8>>,
    pub(crate) response_body: Option<Vec<u8>>,
    pub(crate) history: Option<Vec<u8>>,
    pub(crate) processed: Option<Vec<u8>>,
    pub(crate) leased_until: Option<i64>,
    pub(crate) replay_id: Option<Uuid>,
    pub(crate) replay_of: Option<Uuid>,
}

#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

/// The columns of a [`Model`].
const COLUMNS: &str = "id, webhook_id, account_id, bucket_id, output_id, internal, ephemeral, \
    status, due_at, held_by, attempts, created_at, updated_at, output_execution_id, status_code, \
    duration_ns, error, reason, response_headers, response_body, history, \
    processed, leased_until, replay_id, replay_of";

/// The columns that a delivery is inserted with, in the order of [`Model::inserted`]. Others
/// are written with an outcome.
pub(crate) const INSERTED: &str = "\
    id, webhook_id, account_id, bucket_id, output_id, internal, ephemeral, \
    status, due_at, held_by, created_at, updated_at, status_code, error, reason, processed";

/// The deliveries that are there of these, in no order.
pub(crate) async fn find(
    tx: &impl tx::Read,
    ids: impl IntoIterator<Item = Uuid>,
) -> Result<Vec<Model>, DatabaseError> {
    super::find(tx, "delivery", COLUMNS, ids, Model::of_row).await
}

const STATUSES: [DeliveryStatus; 6] = [
    DeliveryStatus::Preparing,
    DeliveryStatus::Sent,
    DeliveryStatus::Failed,
    DeliveryStatus::Stalled,
    DeliveryStatus::Received,
    DeliveryStatus::Rejected,
];

/// How a status is stored.
pub(crate) fn number(status: DeliveryStatus) -> i64 {
    status.as_u8().into()
}

/// The status that is stored as this number.
pub(crate) fn status(stored: i64) -> Option<DeliveryStatus> {
    STATUSES.into_iter().find(|status| number(*status) == stored)
}

/// The numbers of the statuses after which nothing more happens.
pub(crate) fn final_numbers() -> impl Iterator<Item = i64> {
    STATUSES.into_iter().filter(|status| status.is_final()).map(number)
}

/// Text for people, without the character that PostgreSQL cannot store.
pub(crate) fn text(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

fn history(stored: Option<Vec<u8>>) -> History {
    History::from_bytes(stored.unwrap_or_default().into())
}

impl Model {
    pub(crate) fn of(webhook: &Webhook, delivery: &NewDelivery) -> Self {
        Self::new(
            delivery,
            webhook.id.as_uuid(),
            webhook.account_id.as_uuid(),
            webhook.bucket_id.as_uuid(),
            webhook.ephemeral,
            millis(webhook.received_at),
        )
    }

    /// The row of a delivery that is stored at `created_at`.
    pub(crate) fn new(
        delivery: &NewDelivery,
        webhook_id: Uuid,
        account_id: Uuid,
        bucket_id: Uuid,
        ephemeral: bool,
        created_at: i64,
    ) -> Self {
        let NewDelivery {
            id, output_id, internal, status, reason, detail, due_at, held_by, ..
        } = delivery;
        let due_at = due_at.filter(|_| !status.is_final());
        Self {
            id: id.as_uuid(),
            webhook_id,
            account_id,
            bucket_id,
            output_id: output_id.map(|id| id.as_uuid()),
            internal: *internal,
            ephemeral,
            status: number(*status),
            due_at: due_at.map(millis),
            // Only what is attempted can be held.
            held_by: due_at.and(*held_by).map(|id| id.as_uuid()),
            attempts: 0,
            created_at,
            updated_at: created_at,
            output_execution_id: None,
            status_code: detail.as_ref().map(|_| 0),
            duration_ns: None,
            error: detail.as_deref().map(text),
            reason: reason.map(|reason| reason.as_str().to_owned()),
            response_headers: None,
            response_body: None,
            history: None,
            processed: None,
            leased_until: None,
            replay_id: None,
            replay_of: None,
        }
    }

    /// The values that it is inserted with.
    pub(crate) fn inserted(&self) -> [Param<'_>; 16] {
        [
            self.id.into(),
            self.webhook_id.into(),
            self.account_id.into(),
            self.bucket_id.into(),
            self.output_id.into(),
            self.internal.into(),
            self.ephemeral.into(),
            self.status.into(),
            self.due_at.into(),
            self.held_by.into(),
            self.created_at.into(),
            self.updated_at.into(),
            self.status_code.into(),
            self.error.as_deref().into(),
            self.reason.as_deref().into(),
            self.processed.as_deref().into(),
        ]
    }

    fn of_row(row: &tx::Row<'_>) -> Result<Self, DatabaseError> {
        Ok(Self {
            id: row.get("id")?,
            webhook_id: row.get("webhook_id")?,
            account_id: row.get("account_id")?,
            bucket_id: row.get("bucket_id")?,
            output_id: row.get("output_id")?,
            internal: row.get("internal")?,
            ephemeral: row.get("ephemeral")?,
            status: row.get("status")?,
            due_at: row.get("due_at")?,
            held_by: row.get("held_by")?,
            attempts: row.get("attempts")?,
            created_at: row.get("created_at")?,
            updated_at: row.get("updated_at")?,
            output_execution_id: row.get("output_execution_id")?,
            status_code: row.get("status_code")?,
            duration_ns: row.get("duration_ns")?,
            error: row.get("error")?,
            reason: row.get("reason")?,
            response_headers: row.get("response_headers")?,
            response_body: row.get("response_body")?,
            history: row.get("history")?,
            processed: row.get("processed")?,
            leased_until: row.get("leased_until")?,
            replay_id: row.get("replay_id")?,
            replay_of: row.get("replay_of")?,
        })
    }

    const fn row(&self) -> Row {
        Row { table: "delivery", id: self.id }
    }

    fn last(&self) -> Result<Option<Attempt>, Error> {
        let row = self.row();
        let Some(status_code) = self.status_code else { return Ok(None) };
        let headers = self.response_headers.as_deref().unwrap_or_default();
        let duration = self.duration_ns.unwrap_or_default().try_into().map(Duration::from_nanos);
        Ok(Some(Attempt {
            status_code: row.read("status_code", status_code.try_into())?,
            response_headers: row.read("response_headers", codec::decode_headers(headers))?,
            response_body: self.response_body.clone().unwrap_or_default().into(),
            duration: row.read("duration_ns", duration)?,
            error: self.error.clone(),
        }))
    }

    fn replay(&self) -> Option<Box<Replayed>> {
        let (id, of) = self.replay_id.zip(self.replay_of)?;
        Some(Box::new(Replayed { id: ReplayId::from_uuid(id), of: DeliveryId::from_uuid(of) }))
    }

    pub(crate) fn read(self) -> Result<Delivery, Error> {
        let (row, last, replay) = (self.row(), self.last()?, self.replay());
        let status = status(self.status);
        let word = |word: &String| Reason::from_wire(word).ok_or("no such reason");
        let reason = self.reason.as_ref().map(word).transpose();
        let processed = self.processed.map(codec::decode_request).transpose();
        Ok(Delivery {
            id: DeliveryId::from_uuid(self.id),
            webhook_id: WebhookId::from_uuid(self.webhook_id),
            output_id: self.output_id.map(OutputId::from_uuid),
            internal: self.internal,
            status: row.read("status", status.ok_or("no such status"))?,
            due_at: self.due_at.map(moment),
            attempts: row.read("attempts", self.attempts.try_into())?,
            reason: row.read("reason", reason)?,
            last,
            processed: row.read("processed", processed)?,
            history: history(self.history),
            output_execution_id: self.output_execution_id.map(ExecutionId::from_uuid),
            leased_until: self.leased_until.map(moment),
            replay,
            created_at: moment(self.created_at),
            updated_at: moment(self.updated_at),
        })
    }

    /// The row as its holder needs it.
    pub(crate) fn pending(self, webhook: Arc<Webhook>) -> Result<Pending, Error> {
        let (row, replay) = (self.row(), self.replay());
        let processed = self.processed.map(codec::decode_request).transpose();
        let mut pending = Pending::new(
            DeliveryId::from_uuid(self.id),
            OutputId::from_uuid(row.read("output_id", self.output_id.ok_or("is null"))?),
            webhook,
            moment(self.created_at),
            moment(row.read("due_at", self.due_at.ok_or("is null"))?),
        );
        pending.attempts = row.read("attempts", self.attempts.try_into())?;
        pending.history = history(self.history);
        pending.replay = replay;
        pending.processed = row.read("processed", processed)?.map(Arc::new);
        Ok(pending)
    }
}
