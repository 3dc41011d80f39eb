//! Keeping the newest runs of functions.

use std::collections::HashMap;

use sea_orm::{ConnectionTrait, DatabaseTransaction, DbErr, EntityTrait, IntoActiveModel};

use super::{
    Outcome,
    batch::{Answers, Failure},
    statement::{MAX_ROWS, with},
};
use crate::entity::execution;

/// Everything from the newest run that is too many on.
pub(super) const TRIM: &str = "DELETE FROM execution WHERE function_id = ? AND id <= (SELECT id FROM execution \
    WHERE function_id = ? ORDER BY id DESC LIMIT 1 OFFSET ?)";

pub(super) async fn apply(
    transaction: &DatabaseTransaction,
    records: &[(usize, (&execution::Model, usize))],
    answers: &mut Answers,
) -> Result<(), Failure> {
    for some in records.chunks(MAX_ROWS) {
        let rows = some.iter().map(|(_, (row, _))| (*row).clone().into_active_model());
        execution::Entity::insert_many(rows).exec_without_returning(transaction).await?;
    }
    // Of several limits for one function, the last one counts.
    let limits: HashMap<_, _> =
        records.iter().map(|(_, (row, keep))| (row.function_id, *keep)).collect();
    for (function, keep) in limits {
        trim(transaction, function, keep).await?;
    }
    answers.extend(records.iter().map(|(number, _)| (*number, Ok(Outcome::Written))));
    Ok(())
}

async fn trim(
    transaction: &DatabaseTransaction,
    function: sea_orm::prelude::Uuid,
    keep: usize,
) -> Result<(), DbErr> {
    let keep = i64::try_from(keep).unwrap_or(i64::MAX);
    let values = [function.into(), function.into(), keep.into()];
    transaction.execute_raw(with(transaction.get_database_backend(), TRIM, values)).await?;
    Ok(())
}
