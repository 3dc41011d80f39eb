//! Removing old logs.

use sea_orm::{ConnectionTrait, DatabaseTransaction, DbBackend, DbErr, Value, prelude::Uuid};

use super::{
    Outcome,
    batch::{Answers, Failure},
    statement::{MAX_ROWS, over_set},
    tally::{COLUMNS, Counted, Tallies},
};

pub(super) async fn apply(
    transaction: &DatabaseTransaction,
    purges: &[(usize, &[Uuid])],
    tallies: &mut Tallies,
    answers: &mut Answers,
) -> Result<(), Failure> {
    for (number, ids) in purges {
        let mut removed = 0;
        for some in ids.chunks(MAX_ROWS) {
            removed += remove(transaction, some, tallies).await?;
        }
        answers.push((*number, Ok(Outcome::Purged(removed))));
    }
    Ok(())
}

/// Removes those of the logs that no relay has still to attempt, and webhooks
/// with their last log.
async fn remove(
    transaction: &DatabaseTransaction,
    ids: &[Uuid],
    tallies: &mut Tallies,
) -> Result<u64, DbErr> {
    let backend = transaction.get_database_backend();
    let values = |ids: &[Uuid]| ids.iter().map(|id| Value::from(*id)).collect::<Vec<_>>();
    let head = "DELETE FROM delivery WHERE id IN ";
    let tail = format!(" AND due_at IS NULL RETURNING webhook_id, {COLUMNS}");
    let delete = over_set(backend, head, Vec::new(), values(ids), &tail);
    let removed = transaction.query_all_raw(delete).await?;
    let mut webhooks = Vec::with_capacity(removed.len());
    for row in &removed {
        *tallies -= Counted::read(row)?;
        webhooks.push(row.try_get_by("webhook_id")?);
    }
    webhooks.sort_unstable();
    webhooks.dedup();
    if !webhooks.is_empty() {
        if backend == DbBackend::Postgres {
            // Of two that remove the last two logs at once, the later one has
            // to see what the other did, and so has who adds another.
            let lock = "SELECT id FROM webhook WHERE id IN ";
            let set = values(&webhooks);
            let lock = over_set(backend, lock, Vec::new(), set, " ORDER BY id FOR UPDATE");
            transaction.query_all_raw(lock).await?;
        }
        let head = "DELETE FROM webhook WHERE id IN ";
        let tail = " AND NOT EXISTS (SELECT 1 FROM delivery WHERE webhook_id = webhook.id)";
        let delete = over_set(backend, head, Vec::new(), values(&webhooks), tail);
        transaction.execute_raw(delete).await?;
    }
    Ok(removed.len() as u64)
}
