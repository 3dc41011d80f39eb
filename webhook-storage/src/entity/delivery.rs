//! Deliveries, which are the queue and the log.

use std::{sync::Arc, time::Duration};

use sea_orm::prelude::Uuid;
use webhook_core::{
    DeliveryId, Error, ExecutionId, OutputId, ReplayId, WebhookId,
    forward::history::History,
    model::{Attempt, Delivery, DeliveryStatus, Reason, Replayed, Webhook},
    store::{NewDelivery, Pending},
};

use super::{millis, moment, table};
use crate::{codec, fault::Row};

table! {
    /// A row with all that lists, claims and logs need.
    Model in "delivery" {
        id: Uuid,
        webhook_id: Uuid,
        account_id: Uuid,
        bucket_id: Uuid,
        output_id: Option<Uuid>,
        internal: bool,
        ephemeral: bool,
        status: i64,
        due_at: Option<i64>,
        held_by: Option<Uuid>,
        attempts: i64,
        created_at: i64,
        updated_at: i64,
        output_execution_id: Option<Uuid>,
        status_code: Option<i64>,
        duration_ns: Option<i64>,
        error: Option<String>,
        reason: Option<String>,
        response_headers: Option<Vec<u8>>,
        response_body: Option<Vec<u8>>,
        history: Option<Vec<u8>>,
        processed: Option<Vec<u8>>,
        leased_until: Option<i64>,
        replay_id: Option<Uuid>,
        replay_of: Option<Uuid>,
    }
}

table! {
    /// A row as it is inserted. The other columns are written with an outcome.
    Inserted in "delivery" {
        id: Uuid,
        webhook_id: Uuid,
        account_id: Uuid,
        bucket_id: Uuid,
        output_id: Option<Uuid>,
        internal: bool,
        ephemeral: bool,
        status: i64,
        due_at: Option<i64>,
        held_by: Option<Uuid>,
        created_at: i64,
        updated_at: i64,
        status_code: Option<i64>,
        error: Option<String>,
        reason: Option<String>,
        processed: Option<Vec<u8>>,
    }
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

impl Inserted {
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
            created_at,
            updated_at: created_at,
            status_code: detail.as_ref().map(|_| 0),
            error: detail.as_deref().map(text),
            reason: reason.map(|reason| reason.as_str().to_owned()),
            processed: None,
        }
    }
}

impl Model {
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
