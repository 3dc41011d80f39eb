//! Cancelling the deliveries that wait for deleted outputs.
//!
//! The deletion of an output inserts a row into `deleted_output`. From then on no delivery of the
//! output is claimed and no client gets one. Any node cancels these deliveries in small
//! transactions, with others between them, and removes the row after the last.

use std::collections::HashSet;

use sea_orm::prelude::Uuid;
use webhook_core::{
    model::DeliveryStatus,
    store::tally::{CountedLog, LogCounters},
};

use crate::{
    entity::delivery::number,
    fault::DatabaseError,
    fold,
    tally::{COLUMNS, Changed, counted_with},
    tx::{MAX_ROWS, Param, Read, Row, Tx, over_set, with},
    writer::forget,
};

/// The deliveries that wait for an output, in parts that each have an index. The last part is in
/// flight: an attempt that ends before its turn is the outcome.
pub(crate) const WAITING: [&str; 4] = [
    "output_id = ? AND due_at IS NOT NULL AND held_by IS NULL",
    "COALESCE(output_id, bucket_id) = ? AND account_id = ? AND bucket_id = ? \
     AND due_at IS NULL AND status IN (0, 4)",
    "output_id = ? AND account_id = ? AND bucket_id = ? AND status = 3 \
     AND due_at IS NULL AND status NOT IN (0, 4)",
    "output_id = ? AND due_at IS NOT NULL AND held_by IS NOT NULL",
];

/// The part of [`WAITING`] whose deliveries are counted as stalled.
const STALLED: usize = 2;

pub(crate) fn waiting_sql(waiting: &str) -> String {
    format!("SELECT id FROM delivery WHERE {waiting} LIMIT ?")
}

/// Says that these outputs of a bucket are deleted.
pub(super) async fn mark_deleted(
    tx: &impl Tx,
    account: Uuid,
    bucket: Uuid,
    outputs: Vec<Uuid>,
) -> Result<(), DatabaseError> {
    for output in outputs {
        let disown = "DELETE FROM queue_owner WHERE output_id = ?";
        tx.execute(with(disown, [output.into()])).await?;
        let mark = "INSERT INTO deleted_output (output_id, account_id, bucket_id) \
            VALUES (?, ?, ?) ON CONFLICT (output_id) DO NOTHING";
        tx.execute(with(mark, [output.into(), account.into(), bucket.into()])).await?;
    }
    Ok(())
}

/// Says that an output with this ID exists again.
pub(super) async fn unmark(tx: &impl Tx, output: Uuid) -> Result<(), DatabaseError> {
    let unmark = "DELETE FROM deleted_output WHERE output_id = ?";
    tx.execute(with(unmark, [output.into()])).await.map(drop)
}

/// Whether there is a deleted output whose deliveries are not all cancelled.
pub(crate) async fn is_any_deleted(read: &impl Read) -> Result<bool, DatabaseError> {
    read.has_rows(with("SELECT 1 AS one FROM deleted_output LIMIT 1", [])).await
}

/// Cancels `most` deliveries at most of one deleted output, and counts them. None when there is no
/// such output, or when another node is cancelling the deliveries of all of them.
pub(crate) async fn cancel(tx: &impl Tx, most: usize) -> Result<Option<usize>, DatabaseError> {
    let first = format!(
        "SELECT output_id, account_id, bucket_id FROM deleted_output ORDER BY output_id LIMIT 1{}",
        tx.on_postgres(" FOR UPDATE SKIP LOCKED")
    );
    let first = tx.query_one(with(first, []), |row| {
        Ok([row.get::<Uuid>("output_id")?, row.get("account_id")?, row.get("bucket_id")?])
    });
    let Some(place) = first.await? else { return Ok(None) };
    let (mut ephemeral, mut counters) = (HashSet::new(), LogCounters::default());
    let mut left = most;
    for (part, waiting) in WAITING.into_iter().enumerate() {
        let ids =
            find(tx, waiting, &place, left, tx.on_postgres(" FOR UPDATE SKIP LOCKED")).await?;
        left -= ids.len();
        for ids in ids.chunks(MAX_ROWS) {
            for (cancelled, if_stalled) in end(tx, ids).await? {
                let before = match part {
                    STALLED => if_stalled,
                    _ => cancelled.counted.while_open(),
                };
                counters.replace(before, cancelled.counted);
                ephemeral.extend(cancelled.ephemeral.then_some(cancelled.webhook_id));
            }
        }
        if left == 0 {
            break;
        }
    }
    if left == most && !is_any_waiting(tx, &place).await? {
        unmark(tx, place[0]).await?;
    }
    forget(tx, ephemeral).await?;
    fold::append(tx, &counters).await?;
    Ok(Some(most - left))
}

async fn find(
    tx: &impl Read,
    waiting: &'static str,
    place: &[Uuid],
    most: usize,
    lock: &str,
) -> Result<Vec<Uuid>, DatabaseError> {
    let names = if waiting.contains("account_id") { place } else { &place[..1] };
    let values = names.iter().map(|id| Param::from(*id)).chain([Param::count(most)]);
    tx.query(with(waiting_sql(waiting) + lock, values), |row| row.get("id")).await
}

/// Whether a delivery waits, also one that another transaction has locked.
async fn is_any_waiting(tx: &impl Read, place: &[Uuid]) -> Result<bool, DatabaseError> {
    for waiting in WAITING {
        if !find(tx, waiting, place, 1, "").await?.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Ends deliveries without an attempt. Their logs stay and say why. Each is answered with what it
/// was counted as, if it was stalled.
async fn end(tx: &impl Tx, ids: &[Uuid]) -> Result<Vec<(Changed, CountedLog)>, DatabaseError> {
    let head = "UPDATE delivery SET due_at = NULL, held_by = NULL, leased_until = NULL, \
        status = ?, status_code = COALESCE(status_code, 0), error = ?, reason = 'cancelled' \
        WHERE id IN ";
    let values = [number(DeliveryStatus::Failed).into(), "the output was deleted".into()];
    let tail = format!(" RETURNING id, webhook_id, ephemeral, {COLUMNS}");
    let ids = ids.iter().map(|id| Param::from(*id));
    let read = |row: &Row<'_>| {
        let if_stalled = counted_with(row, number(DeliveryStatus::Stalled))?;
        Ok((Changed::of_row(row)?, if_stalled))
    };
    tx.query(over_set(head, values, ids, &tail), read).await
}
