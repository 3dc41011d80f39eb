//! Replays and erasures, on which one node at a time works.
//!
//! In a row of such a table `wakes_at` is when a node may claim it, and `held_by` the node that
//! holds it. A row that is over has no `wakes_at`.

use sea_orm::prelude::Uuid;
use webhook_core::{
    AccountId, NodeId, Timestamp,
    store::{ClaimWork, KEPT_WORK},
};

use crate::{
    database::Database,
    entity::{Table, millis, moment},
    fault::DatabaseError,
    tx::{Param, Read, Row, Tx, with},
};

/// Holds rows that no node holds. Rows that another node is just claiming are left to it.
pub(super) async fn claim<T: Table>(
    database: &Database,
    claim: ClaimWork,
) -> Result<Vec<T>, DatabaseError> {
    let ClaimWork { node, now, until, limit, .. } = claim;
    let skip = database.write.on_postgres(" FOR UPDATE SKIP LOCKED");
    let sql = format!(
        "UPDATE {table} SET wakes_at = ?, held_by = ? WHERE id IN (SELECT id FROM {table} \
         WHERE wakes_at <= ? ORDER BY wakes_at LIMIT ?{skip}) RETURNING {columns}",
        table = T::TABLE,
        columns = T::COLUMNS,
    );
    let values =
        [millis(until).into(), node.as_uuid().into(), millis(now).into(), Param::count(limit)];
    database.write.query(with(sql, values), T::of_row).await
}

/// When there is something to claim.
pub(super) async fn wakes_at<T: Table>(
    database: &Database,
) -> Result<Option<Timestamp>, DatabaseError> {
    let first =
        format!("SELECT MIN(wakes_at) AS wakes_at FROM {} WHERE wakes_at IS NOT NULL", T::TABLE);
    let read = |row: &Row<'_>| row.get::<Option<i64>>("wakes_at");
    Ok(database.read.query_one(with(first, []), read).await?.flatten().map(moment))
}

/// Lets any node claim the rows that this node holds.
pub(super) async fn release<T: Table>(
    database: &Database,
    node: NodeId,
) -> Result<(), DatabaseError> {
    let sql = format!("UPDATE {} SET wakes_at = 0, held_by = NULL WHERE held_by = ?", T::TABLE);
    database.write.execute(with(sql, [node.as_uuid().into()])).await.map(drop)
}

/// One row of the account.
pub(super) async fn one<T: Table>(
    database: &Database,
    account: AccountId,
    id: Uuid,
) -> Result<Option<T>, DatabaseError> {
    let sql = format!("SELECT {} FROM {} WHERE id = ? AND account_id = ?", T::COLUMNS, T::TABLE);
    let find = with(sql, [id.into(), account.as_uuid().into()]);
    database.read.query_one(find, T::of_row).await
}

/// The rows of the account that are not over. With PostgreSQL the account is locked, so that the
/// second of two concurrent calls sees the row of the first.
pub(super) async fn open<T: Table>(
    tx: &impl Tx,
    account: AccountId,
) -> Result<Vec<T>, DatabaseError> {
    let account = account.as_uuid();
    let lock = tx.on_postgres(" FOR UPDATE");
    if !lock.is_empty() {
        let lock = format!("SELECT id FROM account WHERE id = ?{lock}");
        tx.query(with(lock, [account.into()]), |_| Ok(())).await?;
    }
    let sql = format!(
        "SELECT {} FROM {} WHERE account_id = ? AND finished_at IS NULL ORDER BY id",
        T::COLUMNS,
        T::TABLE,
    );
    tx.query(with(sql, [account.into()]), T::of_row).await
}

/// Removes everything of the account that is over, except the newest [`KEPT_WORK`] rows.
pub(super) async fn trim<T: Table>(tx: &impl Tx, account: AccountId) -> Result<(), DatabaseError> {
    let account = account.as_uuid();
    let sql = format!(
        "DELETE FROM {table} WHERE account_id = ? AND finished_at IS NOT NULL AND id <= \
         (SELECT id FROM {table} WHERE account_id = ? AND finished_at IS NOT NULL ORDER BY id \
         DESC LIMIT 1 OFFSET ?)",
        table = T::TABLE,
    );
    let values = [account.into(), account.into(), Param::count(KEPT_WORK)];
    tx.execute(with(sql, values)).await.map(drop)
}
