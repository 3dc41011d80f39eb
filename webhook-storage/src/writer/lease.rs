//! Which nodes are alive, and freeing what the others hold.

use sea_orm::{
    ConnectionTrait, DatabaseTransaction, DbBackend, DbErr, QueryResult, Value, prelude::Uuid,
};
use webhook_core::{DeliveryId, NodeId, OutputId, Timestamp, model::DeliveryStatus, store::Lane};

use super::statement::{MAX_ROWS, over_set, with};
use crate::{
    database::Database,
    entity::{delivery::number, millis, moment},
};

/// The nodes that hold something and are not known to be alive. It steps from
/// one node to the next in the index, however much each of them holds.
const LAPSED: &str = "WITH RECURSIVE holder (id) AS (\
    SELECT (SELECT held_by FROM delivery WHERE held_by IS NOT NULL ORDER BY held_by LIMIT 1) \
    UNION ALL SELECT (SELECT held_by FROM delivery WHERE held_by > holder.id \
    ORDER BY held_by LIMIT 1) FROM holder WHERE holder.id IS NOT NULL), \
    lapsed (id) AS (SELECT id FROM holder WHERE id IS NOT NULL \
    AND NOT EXISTS (SELECT 1 FROM node_lease WHERE node_id = holder.id AND until > ?)) ";

const NODES: &str = "SELECT id FROM lapsed";

/// What nobody holds, by output: it is free, or in the name of a lapsed node.
const LANES: &str = "SELECT output_id, MIN(due_at) AS due_at, COUNT(*) AS pending FROM (\
    SELECT output_id, due_at FROM delivery WHERE due_at IS NOT NULL AND held_by IS NULL \
    UNION ALL SELECT output_id, due_at FROM delivery WHERE held_by IN (SELECT id FROM lapsed)\
    ) AS free WHERE output_id IS NOT NULL GROUP BY output_id";

pub(super) fn lapsed_sql() -> String {
    [LAPSED, NODES].concat()
}

pub(super) fn lanes_sql() -> String {
    [LAPSED, LANES].concat()
}

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
pub(super) async fn free_lapsed(
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
        free_where(transaction, held, [*node]).await?;
    }
    if !lapsed.is_empty() {
        let backend = transaction.get_database_backend();
        let forget = "DELETE FROM node_lease WHERE until <= ?";
        transaction.execute_raw(with(backend, forget, [millis(now).into()])).await?;
    }
    Ok(())
}

/// The nodes of which [`free_lapsed`] would free something.
async fn lapsed(connection: &impl ConnectionTrait, now: Timestamp) -> Result<Vec<Uuid>, DbErr> {
    let backend = connection.get_database_backend();
    let query = with(backend, &lapsed_sql(), [millis(now).into()]);
    let rows = connection.query_all_raw(query).await?;
    rows.iter().map(|row| row.try_get_by("id")).collect()
}

/// The outputs with deliveries that nobody holds at `now`.
pub(crate) async fn lanes(
    connection: &impl ConnectionTrait,
    now: Timestamp,
) -> Result<Vec<Lane>, DbErr> {
    let backend = connection.get_database_backend();
    let query = with(backend, &lanes_sql(), [millis(now).into()]);
    let lane = |row: &QueryResult| {
        Ok(Lane {
            output_id: OutputId::from_uuid(row.try_get_by("output_id")?),
            due_at: moment(row.try_get_by("due_at")?),
            pending: row.try_get_by::<i64, _>("pending")?.unsigned_abs(),
        })
    };
    connection.query_all_raw(query).await?.iter().map(lane).collect()
}

/// Frees what `node` holds, all or of one output.
pub(crate) async fn free(
    transaction: &DatabaseTransaction,
    node: Uuid,
    output: Option<Uuid>,
) -> Result<(), DbErr> {
    match output {
        None => free_where(transaction, "held_by = ?", [node]).await,
        Some(output) => {
            free_where(transaction, "held_by = ? AND output_id = ?", [node, output]).await
        }
    }
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
    by: impl IntoIterator<Item = Uuid>,
) -> Result<(), DbErr> {
    let backend = transaction.get_database_backend();
    let sql = free_sql(held);
    let statuses = [DeliveryStatus::Preparing, DeliveryStatus::Received];
    let statuses = statuses.map(|status| Value::from(number(status)));
    let values = statuses.into_iter().chain(by.into_iter().map(Value::from));
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
        free(transaction, node, None).await?;
    }
    transaction.execute_unprepared("DELETE FROM node_lease").await?;
    Ok(())
}
