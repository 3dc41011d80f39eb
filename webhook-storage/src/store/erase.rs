//! Erasing a webhook whole.

use std::time::Duration;

use sea_orm::prelude::Uuid;
use webhook_core::{
    AccountId, DeliveryId, Error, Timestamp,
    model::DeliveryStatus,
    store::{
        EraseWebhook, ErasedWebhook,
        tally::{CountedLog, LogCounters},
    },
};

use crate::{
    Storage,
    entity::millis,
    fault::{About, DatabaseError},
    fold,
    tally::{COLUMNS, counted, write_erased},
    tx::{MAX_ROWS, Param, Read, Row, Tx, over_set, with},
};

const WHAT: &str = "webhook";

/// What erasing one came to.
pub(super) enum Erased {
    /// It is gone, and so is every row of it. Its body may be an object, which is to be deleted.
    Whole { answer: ErasedWebhook, is_object: bool },
    /// It stays, and nothing of it was changed.
    InFlight,
    /// The account has no such webhook.
    NotThere,
    /// Retention removes its day at the moment. The transaction is to be taken back.
    Leaving,
}

impl Erased {
    /// The error of one that is just being removed.
    pub(super) fn leaving() -> Error {
        let reason = "the webhook is being removed with its day, because it is too old";
        Error::unavailable(reason, Duration::from_secs(1))
    }
}

/// The part of a webhook's row that erasing needs.
#[derive(Clone, Copy)]
struct Stored {
    input_execution_id: Option<Uuid>,
    is_object: bool,
}

/// A delivery of it.
struct Found {
    id: Uuid,
    held_by: Option<Uuid>,
    /// Whether the lease of the node that holds it lasts.
    is_alive: bool,
    leased_until: Option<i64>,
    output_execution_id: Option<Uuid>,
}

impl Found {
    fn of_row(row: &Row<'_>) -> Result<Self, DatabaseError> {
        Ok(Self {
            id: row.get("id")?,
            held_by: row.get("held_by")?,
            is_alive: row.get::<i64>("is_alive")? > 0,
            leased_until: row.get("leased_until")?,
            output_execution_id: row.get("output_execution_id")?,
        })
    }

    fn is_in_flight(&self, erase: &EraseWebhook) -> bool {
        let given_up = self.held_by == Some(erase.node.as_uuid())
            && erase.given_up.contains(&DeliveryId::from_uuid(self.id));
        let is_leased = self.leased_until.is_some_and(|until| until > millis(erase.now));
        self.held_by.is_some() && self.is_alive && !given_up || is_leased
    }
}

impl Storage {
    pub(super) async fn erase_webhook(
        &self,
        account: AccountId,
        erase: &EraseWebhook,
    ) -> Result<ErasedWebhook, Error> {
        let transaction = self.begin(WHAT).await?;
        let erased = erase_in(&*transaction, account.as_uuid(), erase).await;
        let erased = match erased.about(WHAT) {
            Ok(Erased::Whole { answer, is_object }) => Ok((answer, is_object)),
            Ok(Erased::InFlight) => Err(EraseWebhook::in_flight()),
            Ok(Erased::NotThere) => Err(Error::not_found(WHAT)),
            Ok(Erased::Leaving) => Err(Erased::leaving()),
            Err(error) => Err(error),
        };
        let (answer, is_object) = self.database().finish(transaction, erased, WHAT).await?;
        self.delete_objects(is_object.then_some(erase.webhook_id.as_uuid()).into_iter().collect())
            .await;
        Ok(answer)
    }

    /// Deletes the objects of erased webhooks. What the object store does not delete now goes with
    /// the rule of its bucket.
    pub(super) async fn delete_objects(&self, webhooks: Vec<Uuid>) {
        if let Some(bodies) = self.bodies().filter(|_| !webhooks.is_empty()) {
            bodies.delete(webhooks).await;
        }
    }
}

/// Erases a webhook, if it may be.
pub(super) async fn erase_in(
    tx: &impl Tx,
    account: Uuid,
    erase: &EraseWebhook,
) -> Result<Erased, DatabaseError> {
    let id = erase.webhook_id.as_uuid();
    // Deliveries before their webhook: outcomes take these locks in the same order.
    let lock = tx.on_postgres(" ORDER BY id FOR UPDATE");
    if !lock.is_empty() {
        let rows = format!("SELECT id FROM delivery WHERE webhook_id = ? AND account_id = ?{lock}");
        tx.query(with(rows, [id.into(), account.into()]), |_| Ok(())).await?;
    }
    let Some(stored) = webhook(tx, account, id).await? else {
        return Ok(Erased::NotThere);
    };
    // From here on the lock of the webhook keeps others from adding one.
    let found = deliveries(tx, id, erase.now).await?;
    if found.iter().any(|delivery| delivery.is_in_flight(erase)) {
        return Ok(Erased::InFlight);
    }
    let remove = format!("DELETE FROM delivery WHERE webhook_id = ? RETURNING id, {COLUMNS}");
    let mut removed = tx.query(with(remove, [id.into()]), removed).await?;
    if removed.len() != found.len() {
        // The table of a day that is just being dropped keeps what it has.
        return Ok(Erased::Leaving);
    }
    removed.sort_unstable_by_key(|(id, _)| *id);
    let (mut counters, mut erased) = (LogCounters::default(), LogCounters::default());
    let mut answer = ErasedWebhook::default();
    for (id, log) in removed {
        counters.subtract(log);
        erased.add(log);
        answer.withdrawn += u64::from(log.key.status == DeliveryStatus::Received);
        answer.logs.push(DeliveryId::from_uuid(id));
    }
    remove_runs(tx, id, stored, &found).await?;
    tx.execute(with("DELETE FROM webhook WHERE id = ?", [id.into()])).await?;
    write_erased(tx, &erased).await?;
    fold::append(tx, &counters).await?;
    Ok(Erased::Whole { answer, is_object: stored.is_object })
}

/// The webhook, locked until the transaction ends.
async fn webhook(tx: &impl Read, account: Uuid, id: Uuid) -> Result<Option<Stored>, DatabaseError> {
    let find = format!(
        "SELECT input_execution_id, \
         CAST(CASE WHEN object_bytes IS NULL THEN 0 ELSE 1 END AS bigint) AS is_object \
         FROM webhook WHERE id = ? AND account_id = ?{}",
        tx.on_postgres(" FOR UPDATE")
    );
    let stored = |row: &Row<'_>| {
        let is_object = row.get::<i64>("is_object")? > 0;
        Ok(Stored { input_execution_id: row.get("input_execution_id")?, is_object })
    };
    tx.query_one(with(find, [id.into(), account.into()]), stored).await
}

async fn deliveries(
    tx: &impl Read,
    webhook: Uuid,
    now: Timestamp,
) -> Result<Vec<Found>, DatabaseError> {
    let find = format!(
        "SELECT id, held_by, leased_until, output_execution_id, \
         CAST(CASE WHEN EXISTS (SELECT 1 FROM node_lease WHERE node_id = delivery.held_by \
         AND until > ?) THEN 1 ELSE 0 END AS bigint) AS is_alive FROM delivery WHERE webhook_id = ?{}",
        tx.on_postgres(" ORDER BY id FOR UPDATE")
    );
    tx.query(with(find, [millis(now).into(), webhook.into()]), Found::of_row).await
}

/// Removes the runs of functions on a webhook: those that name it, and those that it and its
/// deliveries name.
async fn remove_runs(
    tx: &impl Tx,
    webhook: Uuid,
    stored: Stored,
    found: &[Found],
) -> Result<(), DatabaseError> {
    let naming = with("DELETE FROM execution WHERE webhook_id = ?", [webhook.into()]);
    tx.execute(naming).await?;
    let named = found.iter().filter_map(|delivery| delivery.output_execution_id);
    let mut named: Vec<_> = named.chain(stored.input_execution_id).collect();
    named.sort_unstable();
    named.dedup();
    for some in named.chunks(MAX_ROWS) {
        let ids = some.iter().map(|id| Param::from(*id));
        tx.execute(over_set("DELETE FROM execution WHERE id IN ", [], ids, "")).await?;
    }
    Ok(())
}

fn removed(row: &Row<'_>) -> Result<(Uuid, CountedLog), DatabaseError> {
    Ok((row.get("id")?, counted(row)?))
}
