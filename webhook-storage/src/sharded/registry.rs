//! What the control database knows of its shards, and each shard of its control database.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, LazyLock},
};

use sea_orm::DbBackend;
use uuid::Uuid;
use webhook_core::{Clock, Error, NodeId, SystemClock, Timestamp};

use super::{
    shard::Shard,
    slots::{SLOTS, SlotRow, VERSION_NAME, failed, rows},
};
use crate::{
    DatabaseUrl, Storage,
    entity::millis,
    fault::DatabaseError,
    tx::{Insert, Read, Row, Tx, with},
};

/// In each database's `meta`: its own name, which it draws once.
const ID_NAME: &str = "database_id";
/// In the `meta` of a shard: the name of its control database.
const CONTROL_NAME: &str = "control_id";
/// The control database, which may have rows from before there were shards.
pub(super) const CONTROL: u16 = 0;

/// Who changes the slots in turn.
const ADVISORY_LOCK: i64 = 0x7765_6268_736c_6f74;

static SLOT: LazyLock<Insert<4>> =
    LazyLock::new(|| Insert::new("slot", "number, shard, is_current, moved_at", ""));

impl Storage {
    /// The database's own name.
    pub(super) async fn database_id(&self) -> Result<Uuid, Error> {
        let drawn = NodeId::generate().as_uuid();
        let id = self.keep(ID_NAME, drawn.as_bytes()).await?;
        Uuid::from_slice(&id).map_err(Error::internal)
    }

    /// Keeps a value, unless there is one; the one that is kept.
    async fn keep(&self, name: &str, value: &[u8]) -> Result<Vec<u8>, Error> {
        let write = &self.database().write;
        let insert = "INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING";
        Tx::execute(write, with(insert, [name.into(), value.into()])).await.map_err(failed)?;
        let find = with("SELECT value FROM meta WHERE name = ?", [name.into()]);
        let kept = Read::query_one(write, find, |row| row.get::<Vec<u8>>("value")).await;
        Ok(kept.map_err(failed)?.unwrap_or_default())
    }
}

/// Makes out of what was opened the shards with their numbers, which each database keeps
/// however the list is ordered, and gives slots out when there are none yet.
///
/// # Errors
/// `Invalid` when a database is another one's shard, is there twice, or is missing.
pub(super) async fn register(
    control: &Storage,
    control_url: &DatabaseUrl,
    listed: Vec<(DatabaseUrl, Storage)>,
) -> Result<Vec<Arc<Shard>>, Error> {
    let control_id = control.database_id().await?;
    let mut ids = vec![control_id];
    let mut others = Vec::new();
    let mut is_listed = false;
    for (url, storage) in listed {
        if url == *control_url {
            is_listed = true;
            continue;
        }
        let id = storage.database_id().await?;
        if ids.contains(&id) {
            let reason = format!("{url} is a database that was named before");
            return Err(Error::invalid("shards", reason));
        }
        let of = storage.keep(CONTROL_NAME, control_id.as_bytes()).await?;
        if of != control_id.as_bytes() {
            let reason = format!("{url} is a shard of another database than {control_url}");
            return Err(Error::invalid("shards", reason));
        }
        ids.push(id);
        others.push((id, url, storage));
    }
    let numbers = numbers(control, &ids).await?;
    let number = |id: &Uuid| numbers.get(id).copied().unwrap_or(u16::MAX);
    let mut shards = vec![Shard::new(CONTROL, control_url.to_string(), control.clone())];
    let opened = others
        .into_iter()
        .map(|(id, url, storage)| Shard::new(number(&id), url.to_string(), storage));
    shards.extend(opened);
    let first = if is_listed { 0 } else { 1 };
    assign(control, &shards[first..]).await?;
    let known: BTreeSet<_> = shards.iter().map(|shard| shard.number).collect();
    let needed = rows(&control.database().write).await.map_err(failed)?;
    let missing: BTreeSet<_> =
        needed.iter().map(|row| row.shard).filter(|shard| !known.contains(shard)).collect();
    if !missing.is_empty() {
        let missing: Vec<_> = missing.iter().map(u16::to_string).collect();
        let reason = format!(
            "databases that have webhooks are not named: shard {} of {control_url}",
            missing.join(", ")
        );
        return Err(Error::invalid("shards", reason));
    }
    Ok(shards)
}

/// The numbers of these databases; new ones get the next.
async fn numbers(control: &Storage, ids: &[Uuid]) -> Result<BTreeMap<Uuid, u16>, Error> {
    let transaction = begin(control).await?;
    let numbered = async {
        let known =
            |row: &Row<'_>| Ok((row.get::<Uuid>("database_id")?, row.get::<i64>("number")?));
        let all = with("SELECT database_id, number FROM shard", []);
        let mut known: BTreeMap<_, _> =
            Read::query(&*transaction, all, known).await?.into_iter().collect();
        for id in ids {
            if !known.contains_key(id) {
                let next = known.values().max().map_or(i64::from(CONTROL), |last| last + 1);
                let insert = "INSERT INTO shard (number, database_id) VALUES (?, ?)";
                let values = [next.into(), (*id).into()];
                Tx::execute(&*transaction, with(insert, values)).await?;
                known.insert(*id, next);
            }
        }
        Ok::<_, DatabaseError>(known)
    };
    let numbered = numbered.await.map_err(failed);
    let known = control.database().finish(transaction, numbered, "shard").await?;
    let small = |number: i64| u16::try_from(number).unwrap_or(u16::MAX);
    Ok(known.into_iter().map(|(id, number)| (id, small(number))).collect())
}

/// Gives all slots out, in turn, if they are not. What is in the control database from before
/// stays there until its time is over.
async fn assign(control: &Storage, shards: &[Arc<Shard>]) -> Result<(), Error> {
    if shards.is_empty() {
        return Err(Error::invalid("shards", "names no database"));
    }
    let transaction = begin(control).await?;
    let assigned = async {
        let any = with("SELECT number FROM slot LIMIT 1", []);
        if Read::query_one(&*transaction, any, |row| row.get::<i64>("number")).await?.is_some() {
            return Ok(());
        }
        let log = with("SELECT id FROM delivery LIMIT 1", []);
        let log = Read::query_one(&*transaction, log, |row| row.get::<Uuid>("id")).await?;
        let moved_at = SystemClock.now();
        let mut rows = Vec::with_capacity(usize::from(SLOTS) * 2);
        for (slot, shard) in (0..SLOTS).zip(shards.iter().cycle()) {
            rows.push(SlotRow { slot, shard: shard.number, is_current: true, moved_at });
            if log.is_some() && shard.number != CONTROL {
                rows.push(SlotRow { slot, shard: CONTROL, is_current: false, moved_at });
            }
        }
        let values = |row: &SlotRow| {
            [
                i64::from(row.slot).into(),
                i64::from(row.shard).into(),
                row.is_current.into(),
                millis(row.moved_at).into(),
            ]
        };
        Tx::insert(&*transaction, &SLOT, &rows, values).await?;
        changed(&*transaction).await
    };
    let assigned: Result<(), DatabaseError> = assigned.await;
    control.database().finish(transaction, assigned.map_err(failed), "slot").await
}

/// Has new rows of these slots written to another shard from now on, on each server as soon
/// as that reads it. Returns how many slots were elsewhere before.
pub(super) async fn move_slots(control: &Storage, slots: &[u16], to: u16) -> Result<u64, Error> {
    let transaction = begin(control).await?;
    let moved = async {
        let now = millis(SystemClock.now());
        let mut moved = 0;
        for slot in slots {
            let (slot, to) = (i64::from(*slot), i64::from(to));
            let leave = "UPDATE slot SET is_current = FALSE, moved_at = ? \
                WHERE number = ? AND is_current AND shard <> ?";
            let values = [now.into(), slot.into(), to.into()];
            if Tx::execute(&*transaction, with(leave, values)).await? == 0 {
                continue;
            }
            let come = "INSERT INTO slot (number, shard, is_current, moved_at) \
                VALUES (?, ?, TRUE, ?) ON CONFLICT (number, shard) DO UPDATE SET \
                is_current = TRUE, moved_at = excluded.moved_at";
            Tx::execute(&*transaction, with(come, [slot.into(), to.into(), now.into()])).await?;
            moved += 1;
        }
        if moved > 0 {
            changed(&*transaction).await?;
        }
        Ok::<_, DatabaseError>(moved)
    };
    let moved = moved.await.map_err(failed);
    control.database().finish(transaction, moved, "slot").await
}

/// Forgets that slots were in a shard, if they left it before that moment.
pub(super) async fn leave(
    control: &Storage,
    shard: u16,
    slots: &[u16],
    before: Timestamp,
) -> Result<u64, Error> {
    let transaction = begin(control).await?;
    let left = async {
        let mut left = 0;
        for slot in slots {
            let leave = "DELETE FROM slot WHERE number = ? AND shard = ? AND NOT is_current \
                AND moved_at < ?";
            let values = [i64::from(*slot).into(), i64::from(shard).into(), millis(before).into()];
            left += Tx::execute(&*transaction, with(leave, values)).await?;
        }
        if left > 0 {
            changed(&*transaction).await?;
        }
        Ok::<_, DatabaseError>(left)
    };
    let left = left.await.map_err(failed);
    control.database().finish(transaction, left, "slot").await
}

/// Has every server read the slots anew.
async fn changed(tx: &impl Tx) -> Result<(), DatabaseError> {
    let change = "INSERT INTO meta (name, value) VALUES (?, ?) \
        ON CONFLICT (name) DO UPDATE SET value = excluded.value";
    let version = NodeId::generate().as_uuid();
    let values = [VERSION_NAME.into(), version.as_bytes()[..].into()];
    Tx::execute(tx, with(change, values)).await.map(drop)
}

async fn begin(control: &Storage) -> Result<crate::database::Transaction, Error> {
    let transaction = control.database().begin().await.map_err(failed)?;
    if control.database().backend() == DbBackend::Postgres {
        let lock = with("SELECT pg_advisory_xact_lock(?)", [ADVISORY_LOCK.into()]);
        Read::query(&*transaction, lock, |_| Ok(())).await.map_err(failed)?;
    }
    Ok(transaction)
}
