//! Which nodes are alive, and freeing what the others hold.

use sea_orm::{DbBackend, prelude::Uuid};
use webhook_core::{
    NodeId, OutputId, Timestamp,
    model::DeliveryStatus,
    store::{Backlog, Extended, Lease, Pending, Sweep},
};

use crate::{
    entity::{delivery::number, meta, millis, moment},
    fault::DatabaseError,
    tx::{MAX_ROWS, Param, Read, Row, Tx, over_set, with},
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

/// What nobody holds, by output: it is free, or in the name of a lapsed node. Beside it what
/// one node has held for long, and where another one is at work.
const BACKLOGS: &str = "SELECT output_id, MIN(due_at) AS due_at, \
    CAST(SUM(free) AS bigint) AS pending, CAST(SUM(held) AS bigint) AS held, \
    CAST(MAX(attended) AS bigint) AS attended FROM (\
    SELECT output_id, due_at, 1 AS free, 0 AS held, 0 AS attended FROM delivery \
    WHERE due_at IS NOT NULL AND held_by IS NULL \
    UNION ALL SELECT output_id, due_at, 1, 0, 0 FROM delivery \
    WHERE held_by IN (SELECT id FROM lapsed) \
    UNION ALL SELECT output_id, NULL, 0, 1, 0 FROM delivery WHERE held_by = ? \
    AND held_by NOT IN (SELECT id FROM lapsed) AND updated_at < ? \
    UNION ALL SELECT output_id, NULL, 0, 0, 1 FROM delivery \
    WHERE held_by IN (SELECT id FROM holder WHERE id <> ?) \
    AND held_by NOT IN (SELECT id FROM lapsed)\
    ) AS found WHERE output_id IS NOT NULL \
    AND output_id NOT IN (SELECT output_id FROM deleted_output) GROUP BY output_id \
    HAVING SUM(free) > 0 OR SUM(held) > 0";

pub(crate) fn lapsed_sql() -> String {
    [LAPSED, NODES].concat()
}

pub(crate) fn backlogs_sql() -> String {
    [LAPSED, BACKLOGS].concat()
}

const EXTEND: &str = "INSERT INTO node_lease (node_id, incarnation, until) VALUES (?, ?, ?) \
    ON CONFLICT (node_id) DO UPDATE SET until = excluded.until \
    WHERE node_lease.incarnation = excluded.incarnation";

const TAKEN: &str = "SELECT until FROM node_lease WHERE node_id = ?";

/// Shows the clock of PostgreSQL, and gives the turn to sweep to one node a second. A turn
/// that is further away than that was given before the clock was set back.
const TURN: &str = "WITH clock (shown) AS (\
    SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS bigint)), \
    turn AS (UPDATE sweep_turn SET next_at = (SELECT shown FROM clock) + 1000 WHERE id IN (\
    SELECT id FROM sweep_turn WHERE NOT next_at BETWEEN (SELECT shown FROM clock) + 1 \
    AND (SELECT shown FROM clock) + 1000 FOR UPDATE SKIP LOCKED) RETURNING id) \
    SELECT shown, CAST((SELECT COUNT(*) FROM turn) AS bigint) AS turns, \
    (SELECT value FROM meta WHERE name = ?) AS asks FROM clock";

/// Says that a node is alive. Beside what it is told comes what PostgreSQL's schema asks of a
/// version that works on it.
pub(crate) async fn extend(
    tx: &impl Tx,
    lease: Lease,
) -> Result<(Extended, Option<Vec<u8>>), DatabaseError> {
    let Lease { node, incarnation, until, .. } = lease;
    let values = [node.as_uuid().into(), incarnation.into(), millis(until).into()];
    let mut taken_until = None;
    // The lease that is another's can be released before it is read.
    while taken_until.is_none() && tx.execute(with(EXTEND, values.clone())).await? == 0 {
        let taken = with(TAKEN, [node.as_uuid().into()]);
        taken_until = tx.query_one(taken, |row| row.get("until")).await?.map(moment);
    }
    if tx.backend() != DbBackend::Postgres {
        // One process has the file open: it has the clock, every turn, and the schema.
        let extended =
            taken_until.map_or(Extended::new(None, true), |until| Extended::taken(None, until));
        return Ok((extended, None));
    }
    let told = |row: &Row<'_>| {
        let turns: i64 = row.get("turns")?;
        Ok((moment(row.get("shown")?), turns > 0, row.get::<Option<Vec<u8>>>("asks")?))
    };
    let told = tx.query_one(with(TURN, [meta::MIN_READER.into()]), told).await?;
    let (now, sweeps, asks) =
        told.map_or((None, false, None), |(now, sweeps, asks)| (Some(now), sweeps, asks));
    let extended = match taken_until {
        Some(until) => Extended::taken(now, until),
        None => Extended::new(now, sweeps),
    };
    Ok((extended, asks))
}

/// Frees what nodes hold that are not alive at `now`: nobody holds it anyway,
/// and claims look at free deliveries only.
pub(super) async fn free_lapsed(tx: &impl Tx, now: Timestamp) -> Result<(), DatabaseError> {
    let held = match tx.backend() {
        // What somebody is just settling or freeing is not waited for.
        DbBackend::Postgres => {
            "id IN (SELECT id FROM delivery WHERE held_by = ? FOR UPDATE SKIP LOCKED)"
        }
        _ => "held_by = ?",
    };
    let lapsed = lapsed(tx, now).await?;
    for node in &lapsed {
        free_where(tx, held, [*node]).await?;
    }
    if !lapsed.is_empty() {
        let forget = "DELETE FROM node_lease WHERE until <= ?";
        tx.execute(with(forget, [millis(now).into()])).await?;
    }
    Ok(())
}

/// The nodes of which [`free_lapsed`] would free something.
async fn lapsed(tx: &impl Read, now: Timestamp) -> Result<Vec<Uuid>, DatabaseError> {
    tx.query(with(lapsed_sql(), [millis(now).into()]), |row| row.get("id")).await
}

/// What a sweep finds.
pub(crate) async fn backlogs(tx: &impl Read, sweep: Sweep) -> Result<Vec<Backlog>, DatabaseError> {
    let backlog = |row: &Row<'_>| {
        let mut found = Backlog::new(OutputId::from_uuid(row.get("output_id")?));
        found.due_at = row.get::<Option<i64>>("due_at")?.map(moment);
        found.pending = row.get::<i64>("pending")?.unsigned_abs();
        found.held = row.get::<i64>("held")?.unsigned_abs();
        found.is_attended = row.get::<i64>("attended")? > 0;
        Ok(found)
    };
    let Sweep { node, now, held_before, .. } = sweep;
    let node = node.as_uuid();
    let values = [millis(now).into(), node.into(), millis(held_before).into(), node.into()];
    tx.query(with(backlogs_sql(), values), backlog).await
}

/// Frees what `node` holds, all or of one output; with all of it its lease ends.
pub(crate) async fn free(
    tx: &impl Tx,
    node: Uuid,
    output: Option<Uuid>,
) -> Result<(), DatabaseError> {
    match output {
        None => {
            free_where(tx, "held_by = ?", [node]).await?;
            let end = "DELETE FROM node_lease WHERE node_id = ?";
            tx.execute(with(end, [node.into()])).await.map(|_| ())
        }
        Some(output) => free_where(tx, "held_by = ? AND output_id = ?", [node, output]).await,
    }
}

pub(crate) fn free_sql(held: &str) -> String {
    format!(
        "UPDATE delivery SET held_by = NULL, \
         status = CASE WHEN status = ? THEN ? ELSE status END WHERE {held}"
    )
}

async fn free_where<const N: usize>(
    tx: &impl Tx,
    held: &str,
    by: [Uuid; N],
) -> Result<(), DatabaseError> {
    let statuses = [DeliveryStatus::Preparing, DeliveryStatus::Received];
    let statuses = statuses.map(|status| Param::from(number(status)));
    let values = statuses.into_iter().chain(by.map(Param::from));
    tx.execute(with(free_sql(held), values)).await?;
    Ok(())
}

/// Frees some of what `node` holds. With `due_at` they are due at that moment, else as before.
pub(crate) async fn give_back(
    tx: &impl Tx,
    node: NodeId,
    deliveries: &[Pending],
    due_at: Option<Timestamp>,
) -> Result<(), DatabaseError> {
    let head = "UPDATE delivery SET held_by = NULL, status = ?, due_at = COALESCE(?, due_at) \
        WHERE due_at IS NOT NULL AND held_by = ? AND id IN ";
    for some in deliveries.chunks(MAX_ROWS) {
        let status = number(DeliveryStatus::Received);
        let values = [status.into(), due_at.map(millis).into(), node.as_uuid().into()];
        let set = some.iter().map(|pending| Param::from(pending.id.as_uuid()));
        tx.execute(over_set(head, values, set, "")).await?;
    }
    Ok(())
}

/// Those of these deliveries that `node` still holds.
pub(crate) async fn held(
    tx: &impl Read,
    node: NodeId,
    deliveries: &[Pending],
) -> Result<Vec<Uuid>, DatabaseError> {
    let tail = tx.on_postgres(" FOR UPDATE");
    let mut held = Vec::new();
    for some in deliveries.chunks(MAX_ROWS) {
        let head = "SELECT id FROM delivery WHERE held_by = ? AND id IN ";
        let set = some.iter().map(|pending| Param::from(pending.id.as_uuid()));
        let find = over_set(head, [node.as_uuid().into()], set, tail);
        held.extend(tx.query(find, |row| row.get::<Uuid>("id")).await?);
    }
    Ok(held)
}

/// Frees everything and forgets all leases: for a database that no other
/// process can have open.
pub(crate) async fn free_all(tx: &impl Tx) -> Result<(), DatabaseError> {
    // No lease lasts until the end of time.
    let holders = lapsed(tx, Timestamp::from_millis(i64::MAX)).await?;
    for node in holders {
        free(tx, node, None).await?;
    }
    tx.run("DELETE FROM node_lease").await
}
