//! What the logs of a day count.

use sea_orm::prelude::Uuid;
use webhook_core::{Timestamp, store::tally::MINUTE_MILLIS};

use crate::{
    entity::moment,
    fault::DatabaseError,
    tally::{Change, Key, Span},
    tx::{Read, Row, over_set},
};

/// How many counts are taken off at once: what is sent to so many outputs in a minute of a day,
/// with so many outcomes. More of them, and the day is purged row by row.
pub(super) const MOST_COUNTS: usize = 500_000;

/// What goes with a day, as changes of minutes, and the latest moment of each; some more than
/// can go where it is too much.
pub(super) async fn count(
    tx: &impl Read,
    name: &str,
    open: &[Uuid],
) -> Result<Vec<(Change, Timestamp)>, DatabaseError> {
    let nothing = [Uuid::nil()];
    let kept = if open.is_empty() { &nothing } else { open };
    let head = format!(
        "SELECT account_id, bucket_id, COALESCE(output_id, '{}'::uuid) AS output_id, \
         created_at - created_at % {MINUTE_MILLIS} AS moment, \
         CASE WHEN status IN (0, 4) THEN 4 ELSE status END AS status, \
         CASE WHEN status IN (0, 4) THEN 0 ELSE COALESCE(status_code, 0) END AS status_code, \
         CASE WHEN status IN (0, 4) OR attempts = 0 THEN 0 ELSE attempts - 1 END AS retries, \
         COUNT(*) AS logs, CAST(SUM(CASE WHEN status IN (0, 4) THEN 0 \
         ELSE LEAST(COALESCE(duration_ns, 0) / 1000, 3600000000) END) AS bigint) AS micros, \
         MAX(created_at) AS newest FROM delivery_{name} WHERE id NOT IN ",
        Uuid::nil()
    );
    let tail = format!(" GROUP BY 1, 2, 3, 4, 5, 6, 7 LIMIT {}", MOST_COUNTS + 1);
    let kept = kept.iter().map(|id| (*id).into());
    tx.query(over_set(&head, [], kept, &tail), less).await
}

fn less(row: &Row<'_>) -> Result<(Change, Timestamp), DatabaseError> {
    let key = Key::of_row(row, Span::Minute)?;
    let (logs, micros): (i64, i64) = (row.get("logs")?, row.get("micros")?);
    Ok((Change { key, logs: -logs, micros: -micros }, moment(row.get("newest")?)))
}
