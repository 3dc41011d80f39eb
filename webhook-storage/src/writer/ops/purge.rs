//! Removing old logs.

use sea_orm::prelude::Uuid;
use webhook_core::store::tally::{CountedLog, LogCounters};

use super::{
    super::job::{Context, Failure, Op, Reply},
    settle::lock_webhooks,
};
use crate::{
    fault::{DatabaseError, ErrorClass},
    tally::{COLUMNS, counted},
    tx::{MAX_ROWS, Param, Row, Tx, over_set},
};

/// Removes logs, but for those that a relay has still to attempt.
#[derive(Debug)]
pub(crate) struct Purge {
    /// The logs.
    pub(crate) logs: Vec<Uuid>,
    /// Whether bodies may be objects, which are to be deleted then.
    pub(crate) with_objects: bool,
}

/// What was removed.
#[derive(Debug, Default)]
pub(crate) struct Purged {
    /// How many logs.
    pub(crate) logs: u64,
    /// The webhooks whose bodies were objects.
    pub(crate) objects: Vec<Uuid>,
}

impl Op for Purge {
    type Answer = Purged;

    fn size_bytes(&self) -> usize {
        128 + 16 * self.logs.len()
    }

    fn error_subject(_class: ErrorClass) -> &'static str {
        "log"
    }

    async fn write(&self, tx: &impl Tx, context: &mut Context) -> Result<Reply<Self>, Failure> {
        let mut purged = Purged::default();
        for some in self.logs.chunks(MAX_ROWS) {
            let removed = remove(tx, some, self.with_objects, &mut context.counters).await?;
            purged.logs += removed.logs;
            purged.objects.extend(removed.objects);
        }
        Ok(Ok(purged))
    }
}

/// Removes some of the logs, and webhooks with their last log.
async fn remove(
    tx: &impl Tx,
    ids: &[Uuid],
    with_objects: bool,
    counters: &mut LogCounters,
) -> Result<Purged, DatabaseError> {
    let set = |ids: &[Uuid]| ids.iter().map(|id| Param::from(*id)).collect::<Vec<_>>();
    let head = "DELETE FROM delivery WHERE id IN ";
    let tail = format!(" AND due_at IS NULL RETURNING webhook_id, {COLUMNS}");
    let removed = tx.query(over_set(head, [], set(ids), &tail), removed).await?;
    let mut webhooks = Vec::with_capacity(removed.len());
    for (webhook, log) in &removed {
        counters.subtract(*log);
        webhooks.push(*webhook);
    }
    webhooks.sort_unstable();
    webhooks.dedup();
    let mut objects = Vec::new();
    if !webhooks.is_empty() {
        objects = remove_unneeded(tx, &webhooks, with_objects).await?;
    }
    Ok(Purged { logs: removed.len() as u64, objects })
}

/// Removes those of the webhooks, which are in their order, that have no delivery any more.
/// Returns those whose bodies are objects, when that is asked.
pub(crate) async fn remove_unneeded(
    tx: &impl Tx,
    webhooks: &[Uuid],
    with_objects: bool,
) -> Result<Vec<Uuid>, DatabaseError> {
    lock_webhooks(tx, webhooks).await?;
    let head = "DELETE FROM webhook WHERE id IN ";
    let tail = " AND NOT EXISTS (SELECT 1 FROM delivery WHERE webhook_id = webhook.id)";
    let ids = webhooks.iter().map(|id| Param::from(*id));
    if !with_objects {
        tx.execute(over_set(head, [], ids, tail)).await?;
        return Ok(Vec::new());
    }
    let tail = format!("{tail} RETURNING id, object_bytes IS NOT NULL AS is_object");
    let read = |row: &Row<'_>| {
        Ok(Some(row.get::<Uuid>("id")?).filter(|_| row.get("is_object").unwrap_or(true)))
    };
    let gone = tx.query(over_set(head, [], ids, &tail), read).await?;
    Ok(gone.into_iter().flatten().collect())
}

fn removed(row: &Row<'_>) -> Result<(Uuid, CountedLog), DatabaseError> {
    Ok((row.get("webhook_id")?, counted(row)?))
}
