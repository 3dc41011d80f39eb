//! Ending what waits for outputs that are no more.

use std::collections::HashSet;

use sea_orm::prelude::Uuid;
use webhook_core::{Error, model::DeliveryStatus, store::tally::LogCounters};

use crate::{
    entity::delivery::number,
    fault::{About, DatabaseError},
    fold,
    tally::{COLUMNS, Changed, counted_with},
    tx::{Param, Tx, with},
    writer::forget,
};

/// What waits for the outputs of a bucket, in parts that each have an index.
pub(crate) const WAITING: [&str; 4] = [
    "output_id = ? AND due_at IS NOT NULL AND held_by IS NULL",
    "output_id = ? AND due_at IS NOT NULL AND held_by IS NOT NULL",
    "COALESCE(output_id, bucket_id) = ? AND account_id = ? AND bucket_id = ? \
     AND due_at IS NULL AND status IN (0, 4)",
    "output_id = ? AND account_id = ? AND bucket_id = ? AND status = 3 \
     AND due_at IS NULL AND status NOT IN (0, 4)",
];

const DISOWN: &str = "DELETE FROM queue_owner WHERE output_id = ?";

pub(crate) fn stop_sql(waiting: &str) -> String {
    format!(
        "UPDATE delivery SET due_at = NULL, held_by = NULL, leased_until = NULL, status = ?, \
         status_code = COALESCE(status_code, 0), error = ?, reason = 'cancelled' \
         WHERE {waiting} \
         RETURNING id, webhook_id, ephemeral, {COLUMNS}"
    )
}

/// Ends what waits for these outputs of a bucket: nobody attempts it any more,
/// and no client gets it. The logs stay and say so.
pub(super) async fn stop_deliveries(
    tx: &impl Tx,
    account: Uuid,
    bucket: Uuid,
    outputs: Vec<Uuid>,
) -> Result<(), Error> {
    stop(tx, account, bucket, outputs).await.about("delivery")
}

async fn stop(
    tx: &impl Tx,
    account: Uuid,
    bucket: Uuid,
    outputs: Vec<Uuid>,
) -> Result<(), DatabaseError> {
    let failed = number(DeliveryStatus::Failed);
    let (mut ephemeral, mut counters) = (HashSet::new(), LogCounters::default());
    for output in outputs {
        tx.execute(with(DISOWN, [output.into()])).await?;
        for (part, waiting) in WAITING.into_iter().enumerate() {
            let mut values: Vec<Param<'_>> =
                vec![failed.into(), "the output was deleted".into(), output.into()];
            if waiting.contains("account_id") {
                values.extend([account.into(), bucket.into()]);
            }
            let is_stalled = part == 3;
            let stopped = tx.query(with(stop_sql(waiting), values), |row| {
                let if_stalled = counted_with(row, number(DeliveryStatus::Stalled))?;
                Ok((Changed::of_row(row)?, if_stalled))
            });
            for (stopped, if_stalled) in stopped.await? {
                let open = stopped.counted.while_open();
                let before = if is_stalled { if_stalled } else { open };
                counters.replace(before, stopped.counted);
                if stopped.ephemeral {
                    ephemeral.insert(stopped.webhook_id);
                }
            }
        }
    }
    forget(tx, ephemeral).await?;
    fold::append(tx, &counters).await
}
