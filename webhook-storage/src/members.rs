//! Which nodes there are, for people.

use std::time::Duration;

use sea_orm::{DbBackend, prelude::Uuid};
use webhook_core::{Clock, NodeId, SystemClock, Timestamp};

use crate::{
    entity::moment,
    fault::DatabaseError,
    tx::{Read, Row, with},
};

/// A node that has a lease, or left deliveries or queues in whose name nobody attempts them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Member {
    /// Its name.
    pub node: NodeId,
    /// When it got its name, which its data folder keeps; none of a name that was made elsewhere.
    pub since: Option<Timestamp>,
    /// How much longer it counts as alive, unless it says so again; zero of one that is gone.
    pub lease_left: Duration,
    /// How many deliveries it holds.
    pub deliveries: u64,
    /// How many queues of throttled outputs it owns.
    pub queues: u64,
}

/// All have an index, or few rows: what waits in the database is held by nobody.
const MEMBERS: &str = "SELECT id, MAX(until) AS until, CAST(SUM(held) AS bigint) AS held, \
    CAST(SUM(owned) AS bigint) AS owned FROM (\
    SELECT node_id AS id, until, 0 AS held, 0 AS owned FROM node_lease \
    UNION ALL SELECT held_by, NULL, COUNT(*), 0 FROM delivery \
    WHERE held_by IS NOT NULL GROUP BY held_by \
    UNION ALL SELECT node_id, NULL, 0, COUNT(*) FROM queue_owner \
    WHERE node_id IS NOT NULL GROUP BY node_id\
    ) AS found GROUP BY id ORDER BY id";

const CLOCK: &str = "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS bigint) AS shown";

/// The members, the oldest first.
pub(crate) async fn members(tx: &impl Read) -> Result<Vec<Member>, DatabaseError> {
    let now = match tx.backend() {
        // Leases count by its clock.
        DbBackend::Postgres => tx.query_one(with(CLOCK, []), |row| row.get("shown")).await?,
        _ => None,
    };
    let now = now.map_or_else(|| SystemClock.now(), moment);
    let found = |row: &Row<'_>| {
        let (id, until) = (row.get::<Uuid>("id")?, row.get::<Option<i64>>("until")?);
        let count = |column| Ok::<_, DatabaseError>(row.get::<i64>(column)?.unsigned_abs());
        Ok((id, until, count("held")?, count("owned")?))
    };
    let found = tx.query(with(MEMBERS, []), found).await?;
    let member = |(id, until, deliveries, queues): (Uuid, Option<i64>, u64, u64)| Member {
        node: NodeId::from_uuid(id),
        since: id
            .get_timestamp()
            .and_then(|at| i64::try_from(at.to_unix().0).ok())
            .map(Timestamp::from_secs),
        lease_left: until.map(|until| moment(until).since(now)).unwrap_or_default(),
        deliveries,
        queues,
    };
    Ok(found.into_iter().map(member).collect())
}
