//! Which shard has the rows of a bucket.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use tokio::{
    sync::Mutex,
    time::{Instant, timeout},
};
use uuid::Uuid;
use webhook_core::{BucketId, Error, Timestamp};

use super::shard::Shard;
use crate::{
    Storage,
    entity::moment,
    fault::{self, DatabaseError},
    tx::{Read, Row, with},
};

/// How many slots there are. Each bucket is in one of them for ever; which shard a slot is in
/// can change.
pub const SLOTS: u16 = 4_096;

/// The slot of a bucket: the FNV-1a hash of the 16 bytes of its identifier, folded.
///
/// ```
/// use webhook_core::BucketId;
/// use webhook_storage::{SLOTS, slot_of};
///
/// assert!(slot_of(BucketId::generate()) < SLOTS);
/// ```
#[must_use]
pub fn slot_of(bucket: BucketId) -> u16 {
    let hash = bucket.as_uuid().as_bytes().iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    let folded = (hash >> 48) ^ (hash >> 32) ^ (hash >> 16) ^ hash;
    u16::try_from(folded % u64::from(SLOTS)).unwrap_or_default()
}

/// How long a server goes by what it has read of the slots.
const MAX_AGE: Duration = Duration::from_secs(5);
/// How long reading them may take, and how long after a failure they are read again.
const READ_WITHIN: Duration = Duration::from_secs(1);
/// In the control database's `meta`: another value after each change of the slots.
pub(super) const VERSION_NAME: &str = "slots_version";

/// Where a slot's rows are.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// Where new ones are written.
    pub(super) current: Arc<Shard>,
    /// Where there may be others, from before.
    pub(super) former: Vec<Arc<Shard>>,
    /// When the slot came to its current shard.
    pub(super) moved_at: Timestamp,
}

impl Place {
    /// All shards that may have rows of the slot.
    pub(super) fn shards(&self) -> Vec<Arc<Shard>> {
        std::iter::once(&self.current).chain(&self.former).cloned().collect()
    }
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub(super) struct SlotRow {
    pub(super) slot: u16,
    pub(super) shard: u16,
    pub(super) is_current: bool,
    pub(super) moved_at: Timestamp,
}

/// What was read of the slots.
#[derive(Debug)]
struct Known {
    version: Vec<u8>,
    read_at: Instant,
    /// In the order of the slots.
    places: Vec<Option<Place>>,
    /// Those that have rows of any slot, by number.
    shards: Vec<Arc<Shard>>,
}

impl Known {
    /// The same, as read at that moment.
    fn as_of(&self, read_at: Instant) -> Self {
        let Self { version, places, shards, .. } = self;
        Self { version: version.clone(), read_at, places: places.clone(), shards: shards.clone() }
    }
}

/// The slots, as this server knows them.
#[derive(Debug)]
pub(super) struct Slots {
    control: Storage,
    opened: Vec<Arc<Shard>>,
    known: RwLock<Arc<Known>>,
    reading: Mutex<()>,
}

impl Slots {
    pub(super) async fn read(control: Storage, opened: Vec<Arc<Shard>>) -> Result<Self, Error> {
        let known = RwLock::new(Arc::new(read(&control, &opened).await?));
        Ok(Self { control, opened, known, reading: Mutex::default() })
    }

    /// Where the rows of a bucket are.
    pub(super) async fn of(&self, bucket: BucketId) -> Result<Place, Error> {
        let known = self.known().await;
        let place = known.places.get(usize::from(slot_of(bucket))).cloned().flatten();
        place.ok_or_else(|| {
            let message = "this server was not started with the shard that the bucket is in";
            Error::unavailable(message, MAX_AGE)
        })
    }

    /// All shards that have rows.
    pub(super) async fn all(&self) -> Vec<Arc<Shard>> {
        self.known().await.shards.clone()
    }

    /// Has what is known read anew when it is next asked for.
    pub(super) async fn forget(&self) -> Result<(), Error> {
        let read = Arc::new(read(&self.control, &self.opened).await?);
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = read;
        Ok(())
    }

    async fn known(&self) -> Arc<Known> {
        let known = self.last();
        if known.read_at.elapsed() < MAX_AGE {
            return known;
        }
        let _one_at_a_time = self.reading.lock().await;
        let known = self.last();
        if known.read_at.elapsed() < MAX_AGE {
            return known;
        }
        let again = async {
            match version(&self.control).await? {
                version if version == known.version => Ok(known.as_of(Instant::now())),
                _ => read(&self.control, &self.opened).await,
            }
        };
        let read = match timeout(READ_WITHIN, again).await {
            Ok(Ok(read)) => read,
            failed => {
                // Rows that are written to a shard which a slot has left are found there.
                let error = failed.map(Result::err);
                tracing::warn!(?error, "the slots cannot be read: they are taken as they were");
                known.as_of(
                    Instant::now().checked_sub(MAX_AGE - READ_WITHIN).unwrap_or(known.read_at),
                )
            }
        };
        let read = Arc::new(read);
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&read);
        read
    }

    fn last(&self) -> Arc<Known> {
        Arc::clone(&self.known.read().unwrap_or_else(PoisonError::into_inner))
    }
}

async fn version(control: &Storage) -> Result<Vec<u8>, Error> {
    let find = with("SELECT value FROM meta WHERE name = ?", [VERSION_NAME.into()]);
    let found = control.database().routes.query_one(find, |row| row.get::<Vec<u8>>("value")).await;
    Ok(found.map_err(failed)?.unwrap_or_default())
}

async fn read(control: &Storage, opened: &[Arc<Shard>]) -> Result<Known, Error> {
    let read_at = Instant::now();
    // A change between the two is seen the next time.
    let version = version(control).await?;
    let rows = rows(&control.database().routes).await.map_err(failed)?;
    let mut by_slot = BTreeMap::<u16, (Option<(Arc<Shard>, Timestamp)>, Vec<Arc<Shard>>)>::new();
    let (mut shards, mut missing) = (Vec::new(), BTreeSet::new());
    for row in rows {
        let Some(shard) = opened.iter().find(|shard| shard.number == row.shard) else {
            missing.insert(row.shard);
            continue;
        };
        let (current, former) = by_slot.entry(row.slot).or_default();
        match row.is_current {
            true => *current = Some((Arc::clone(shard), row.moved_at)),
            false => former.push(Arc::clone(shard)),
        }
        if shards.iter().all(|known: &Arc<Shard>| known.number != shard.number) {
            shards.push(Arc::clone(shard));
        }
    }
    if !missing.is_empty() {
        tracing::error!(?missing, "slots are in shards that this server was not started with");
    }
    shards.sort_by_key(|shard| shard.number);
    let place = |slot| {
        let (current, former) = by_slot.remove(&slot)?;
        let (current, moved_at) = current?;
        Some(Place { current, former, moved_at })
    };
    let places = (0..SLOTS).map(place).collect();
    Ok(Known { version, read_at, places, shards })
}

/// All rows of the table.
pub(super) async fn rows(tx: &impl Read) -> Result<Vec<SlotRow>, DatabaseError> {
    let find = "SELECT number, shard, is_current, moved_at FROM slot ORDER BY number, shard";
    let small = |number: i64| u16::try_from(number).unwrap_or(u16::MAX);
    let read = move |row: &Row<'_>| {
        Ok((
            row.get::<i64>("number")?,
            row.get::<i64>("shard")?,
            row.get::<bool>("is_current")?,
            row.get::<i64>("moved_at")?,
        ))
    };
    let rows = tx.query(with(find, []), read).await?.into_iter();
    let row = |(slot, shard, is_current, moved_at)| SlotRow {
        slot: small(slot),
        shard: small(shard),
        is_current,
        moved_at: moment(moved_at),
    };
    Ok(rows.map(row).collect())
}

pub(super) fn failed(error: impl Into<DatabaseError>) -> Error {
    fault::error(error, "slot")
}

/// When an identifier was made, as it says itself.
pub(super) fn made_at(id: Uuid) -> Option<Timestamp> {
    let (seconds, nanos) = id.get_timestamp()?.to_unix();
    let millis = i64::try_from(seconds).ok()?.checked_mul(1_000)?;
    Some(Timestamp::from_millis(millis + i64::from(nanos / 1_000_000)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_of_buckets_never_change() {
        let slot = |id: u128| slot_of(BucketId::from_uuid(Uuid::from_u128(id)));
        assert_eq!([slot(0), slot(1), slot(u128::MAX)], [771, 1236, 3740]);
    }

    #[test]
    fn buckets_spread_over_the_slots() {
        let mut counts = [0_u32; 8];
        for _ in 0..8_000 {
            counts[usize::from(slot_of(BucketId::generate()) / (SLOTS / 8))] += 1;
        }
        assert!(counts.iter().all(|count| (800..1_200).contains(count)), "{counts:?}");
    }
}
