//! Removing old logs.

use sea_orm::prelude::Uuid;
use webhook_core::{
    Error,
    store::tally::{CountedLog, LogCounters},
};

use super::{
    super::{
        job::{Context, Failure, Op},
        tally::{COLUMNS, counted},
    },
    settle::lock_webhooks,
};
use crate::{
    fault::{DatabaseError, ErrorClass},
    tx::{MAX_ROWS, Param, Row, Tx, over_set},
};

/// Removes logs, but for those that a relay has still to attempt. The answer is how many
/// went.
#[derive(Debug)]
pub(crate) struct Purge {
    /// The logs.
    pub(crate) logs: Vec<Uuid>,
}

impl Op for Purge {
    type Answer = u64;

    fn size_bytes(&self) -> usize {
        128 + 16 * self.logs.len()
    }

    fn error_subject(_class: ErrorClass) -> &'static str {
        "log"
    }

    async fn apply(
        tx: &impl Tx,
        purges: &[Self],
        context: &mut Context,
    ) -> Result<Vec<Result<u64, Error>>, Failure> {
        let mut replies = Vec::with_capacity(purges.len());
        for Purge { logs } in purges {
            let mut removed = 0;
            for some in logs.chunks(MAX_ROWS) {
                removed += remove(tx, some, &mut context.counters).await?;
            }
            replies.push(Ok(removed));
        }
        Ok(replies)
    }
}

/// Removes some of the logs, and webhooks with their last log.
async fn remove(
    tx: &impl Tx,
    ids: &[Uuid],
    counters: &mut LogCounters,
) -> Result<u64, DatabaseError> {
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
    if !webhooks.is_empty() {
        remove_unneeded(tx, &webhooks).await?;
    }
    Ok(removed.len() as u64)
}

/// Removes those of the webhooks, which are in their order, that have no delivery any more.
pub(crate) async fn remove_unneeded(tx: &impl Tx, webhooks: &[Uuid]) -> Result<(), DatabaseError> {
    lock_webhooks(tx, webhooks).await?;
    let head = "DELETE FROM webhook WHERE id IN ";
    let tail = " AND NOT EXISTS (SELECT 1 FROM delivery WHERE webhook_id = webhook.id)";
    tx.execute(over_set(head, [], webhooks.iter().map(|id| Param::from(*id)), tail)).await?;
    Ok(())
}

fn removed(row: &Row<'_>) -> Result<(Uuid, CountedLog), DatabaseError> {
    Ok((row.get("webhook_id")?, counted(row)?))
}
