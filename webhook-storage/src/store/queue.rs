//! Who owns which queue.

use async_trait::async_trait;
use sea_orm::prelude::Uuid;
use webhook_core::{
    Error, NodeId, OutputId, Timestamp,
    store::{OwnQueue, OwnedQueue, QueueStore},
};

use crate::{
    Storage,
    entity::{millis, moment},
    fault::{About, DatabaseError},
    tx::{Param, Row, Tx, with},
    writer::lease,
};

const WHAT: &str = "queue";

/// Nothing is there afterwards when another node owns the queue.
const OWN: &str = "INSERT INTO queue_owner (output_id, node_id, started) VALUES (?, ?, ?) \
    ON CONFLICT (output_id) DO UPDATE SET former = queue_owner.node_id, \
    node_id = excluded.node_id WHERE queue_owner.node_id IS NULL \
    OR queue_owner.node_id = excluded.node_id OR NOT EXISTS (SELECT 1 FROM node_lease \
    WHERE node_lease.node_id = queue_owner.node_id AND node_lease.until > ?) \
    RETURNING former, started";

const GO_ON: &str = "UPDATE queue_owner SET started = ? WHERE output_id = ? AND node_id = ?";

const LEAVE: &str =
    "UPDATE queue_owner SET node_id = NULL, started = ? WHERE output_id = ? AND node_id = ?";

const FORGET: &str = "DELETE FROM queue_owner WHERE output_id = ? AND node_id = ?";

/// In parts that each have an index.
const PENDING: &str = "SELECT COUNT(*) AS pending FROM (SELECT 1 FROM (SELECT 1 AS one \
    FROM delivery WHERE output_id = ? AND due_at IS NOT NULL AND held_by IS NULL \
    UNION ALL SELECT 1 FROM delivery WHERE output_id = ? AND held_by IS NOT NULL) AS waiting \
    LIMIT ?) AS counted";

#[async_trait]
impl QueueStore for Storage {
    async fn own_queue(&self, own: OwnQueue) -> Result<OwnedQueue, Error> {
        own_queue(&self.database().write, &own).await.about(WHAT)
    }

    async fn leave_queue(
        &self,
        node: NodeId,
        output: OutputId,
        started: &[Timestamp],
    ) -> Result<(), Error> {
        let (output, node) = (output.as_uuid(), node.as_uuid());
        let leave = match started.is_empty() {
            true => with(FORGET, [output.into(), node.into()]),
            false => with(LEAVE, [bytes_of(started).into(), output.into(), node.into()]),
        };
        self.database().write.execute(leave).await.map(|_| ()).about(WHAT)
    }
}

async fn own_queue(tx: &impl Tx, own: &OwnQueue) -> Result<OwnedQueue, DatabaseError> {
    let (output, node) = (own.output_id.as_uuid(), own.node.as_uuid());
    let owned = match &own.started {
        Some(started) => {
            let values = [bytes_of(started).into(), output.into(), node.into()];
            (tx.execute(with(GO_ON, values)).await? > 0).then_some((None, Vec::new()))
        }
        None => {
            let nothing: Vec<u8> = Vec::new();
            let values: [Param<'_>; 4] =
                [output.into(), node.into(), nothing.into(), millis(own.now).into()];
            let owned = |row: &Row<'_>| {
                let former = row.get::<Option<Uuid>>("former")?;
                Ok((former, moments_of(&row.get::<Vec<u8>>("started")?)))
            };
            let owned = tx.query_one(with(OWN, values), owned).await?;
            if let Some((Some(former), _)) = owned
                && former != node
            {
                lease::free(tx, former, Some(output)).await?;
            }
            owned
        }
    };
    let pending =
        with(PENDING, [output.into(), output.into(), Param::count(OwnedQueue::MAX_COUNTED)]);
    let pending = tx.query_one(pending, |row| row.get::<i64>("pending")).await?;
    let pending = pending.unwrap_or_default().unsigned_abs();
    Ok(match owned {
        Some((former, started)) => OwnedQueue::own(started, former.is_some(), pending),
        None => OwnedQueue::of_another(pending),
    })
}

fn bytes_of(moments: &[Timestamp]) -> Vec<u8> {
    moments.iter().flat_map(|moment| millis(*moment).to_be_bytes()).collect()
}

fn moments_of(bytes: &[u8]) -> Vec<Timestamp> {
    let (moments, _) = bytes.as_chunks::<8>();
    moments.iter().map(|eight| moment(i64::from_be_bytes(*eight))).collect()
}
