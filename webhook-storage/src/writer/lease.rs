//! Which nodes are alive, and freeing what the others hold.

use sea_orm::{ConnectionTrait, DatabaseTransaction, DbBackend, DbErr, Value, prelude::Uuid};
use webhook_core::{DeliveryId, NodeId, Timestamp, model::DeliveryStatus};

use super::statement::{MAX_ROWS, over_set, with};
use crate::{
    database::Database,
    entity::{delivery::number, millis},
};

/// The nodes that hold something and are not known to be alive. It steps from
/// one node to the next in the index, however much each of them holds.
pub(super) const LAPSED: &str = "WITH RECURSIVE holder (id) AS (\
    SELECT (SELECT held_by FROM delivery WHERE held_by IS NOT NULL ORDER BY held_by LIMIT 1) \
    UNION ALL SELECT (SELECT held_by FROM delivery WHERE held_by > holder.id \
    ORDER BY held_by LIMIT 1) FROM holder WHERE holder.id IS NOT NULL) \
    SELECT id FROM holder WHERE id IS NOT NULL \
    AND NOT EXISTS (SELECT 1 FROM node_lease WHERE node_id = holder.id AND until > ?)";

const EXTEND: &str = "INSERT INTO node_lease (node_id, until) VALUES (?, ?) \
    ON CONFLICT (node_id) DO UPDATE SET until = excluded.until";

pub(crate) async fn extend(
    database: &Database,
    node: NodeId,
    until: Timestamp,
) -> Result<(), DbErr> {
    let values = [node.as_uuid().into(), millis(until).into()];
    database.write.execute_raw(with(database.backend(), EXTEND, values)).await?;
    Ok(())
}

/// Frees what nodes hold that are not alive at `now`: nobody holds it anyway,
/// and claims look at free deliveries only.
pub(crate) async fn free_lapsed(
    transaction: &DatabaseTransaction,
    now: Timestamp,
) -> Result<(), DbErr> {
    let held = match transaction.get_database_backend() {
        // What somebody is just settling or freeing is not waited for.
        DbBackend::Postgres => {
            "id IN (SELECT id FROM delivery WHERE held_by = ? FOR UPDATE SKIP LOCKED)"
        }
        _ => "held_by = ?",
    };
    let lapsed = lapsed(transaction, now).await?;
    for node in &lapsed {
        free_where(transaction, held, *node).await?;
    }
    if !lapsed.is_empty() {
        let backend = transaction.get_database_backend();
        let forget = "DELETE FROM node_lease WHERE until <= ?";
        transaction.execute_raw(with(backend, forget, [millis(now).into()])).await?;
    }
    Ok(())
}

/// The nodes of which [`free_lapsed`] would free something.
pub(crate) async fn lapsed(
    connection: &impl ConnectionTrait,
    now: Timestamp,
) -> Result<Vec<Uuid>, DbErr> {
    let query = with(connection.get_database_backend(), LAPSED, [millis(now).into()]);
    let rows = connection.query_all_raw(query).await?;
    rows.iter().map(|row| row.try_get_by("id")).collect()
}

/// Frees everything that `node` holds.
pub(crate) async fn free(transaction: &DatabaseTransaction, node: Uuid) -> Result<(), DbErr> {
    free_where(transaction, "held_by = ?", node).await
}

pub(super) fn free_sql(held: &str) -> String {
    format!(
        "UPDATE delivery SET held_by = NULL, \
         status = CASE WHEN status = ? THEN ? ELSE status END WHERE {held}"
    )
}

async fn free_where(
    transaction: &DatabaseTransaction,
    held: &str,
    node: Uuid,
) -> Result<(), DbErr> {
    let backend = transaction.get_database_backend();
    let sql = free_sql(held);
    let values = [
        number(DeliveryStatus::Preparing).into(),
        number(DeliveryStatus::Received).into(),
        node.into(),
    ];
    transaction.execute_raw(with(backend, &sql, values)).await?;
    Ok(())
}

/// Frees some of what `node` holds.
pub(super) async fn give_back(
    database: &Database,
    node: NodeId,
    ids: Vec<DeliveryId>,
) -> Result<(), DbErr> {
    let backend = database.backend();
    let head = "UPDATE delivery SET held_by = NULL, status = ? WHERE held_by = ? AND id IN ";
    let head = with(backend, head, [(); 2].map(|()| Value::Int(None))).sql;
    for some in ids.chunks(MAX_ROWS) {
        let values = vec![number(DeliveryStatus::Received).into(), node.as_uuid().into()];
        let set = some.iter().map(|id| Value::from(id.as_uuid()));
        database.write.execute_raw(over_set(backend, &head, values, set, "")).await?;
    }
    Ok(())
}

/// Frees everything and forgets all leases: for a database that no other
/// process can have open.
pub(crate) async fn free_all(transaction: &DatabaseTransaction) -> Result<(), DbErr> {
    // No lease lasts until the end of time.
    let holders = lapsed(transaction, Timestamp::from_millis(i64::MAX)).await?;
    for node in holders {
        free(transaction, node).await?;
    }
    transaction.execute_unprepared("DELETE FROM node_lease").await?;
    Ok(())
}
