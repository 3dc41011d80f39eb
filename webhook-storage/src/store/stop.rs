//! Ending what waits for outputs that are no more.

use std::collections::HashSet;

use sea_orm::{ConnectionTrait, DatabaseTransaction, DbErr, Value, prelude::Uuid};
use webhook_core::{Error, model::DeliveryStatus};

use crate::{
    entity::delivery::number,
    fault,
    writer::{
        forget,
        statement::with,
        tally::{COLUMNS, Counted, Tallies},
    },
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

pub(crate) fn stop_sql(waiting: &str) -> String {
    format!(
        "UPDATE delivery SET due_at = NULL, held_by = NULL, status = ?, \
         status_code = COALESCE(status_code, 0), error = ? WHERE {waiting} \
         RETURNING webhook_id, ephemeral, {COLUMNS}"
    )
}

/// Ends what waits for these outputs of a bucket: nobody attempts it any more,
/// and no client gets it. The logs stay and say so.
pub(super) async fn stop_deliveries(
    transaction: &DatabaseTransaction,
    account: Uuid,
    bucket: Uuid,
    outputs: Vec<Uuid>,
) -> Result<(), Error> {
    let stopped = stop(transaction, account, bucket, outputs).await;
    stopped.map_err(|error| fault::error(error, "delivery"))
}

async fn stop(
    transaction: &DatabaseTransaction,
    account: Uuid,
    bucket: Uuid,
    outputs: Vec<Uuid>,
) -> Result<(), DbErr> {
    let backend = transaction.get_database_backend();
    let failed = number(DeliveryStatus::Failed);
    let (mut ephemeral, mut tallies) = (HashSet::new(), Tallies::default());
    for output in outputs {
        for (part, waiting) in WAITING.into_iter().enumerate() {
            let sql = stop_sql(waiting);
            let mut values: Vec<Value> =
                vec![failed.into(), "the output was deleted".into(), output.into()];
            if waiting.contains("account_id") {
                values.extend([account.into(), bucket.into()]);
            }
            for row in transaction.query_all_raw(with(backend, &sql, values)).await? {
                let counted = Counted::read(&row)?;
                let is_stalled = part == 3;
                tallies -= if is_stalled {
                    counted.with_status(&row, number(DeliveryStatus::Stalled))?
                } else {
                    counted.while_open()
                };
                tallies += counted;
                if row.try_get_by("ephemeral")? {
                    ephemeral.insert(row.try_get_by("webhook_id")?);
                }
            }
        }
    }
    forget(transaction, ephemeral).await?;
    tallies.write(transaction).await
}
