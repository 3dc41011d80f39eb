//! What the data path knows without asking the store: snapshots of what is stored.
//!
//! A snapshot never changes; it is replaced whole. A change that this process makes
//! is told to [`Snapshots::changed`]. A change that another process makes is seen
//! when the snapshot has reached its greatest age.

mod buckets;
mod domains;
mod functions;
mod sample;
mod verifiers;

use std::{
    fmt,
    hash::{BuildHasher, Hash},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use quick_cache::{Equivalent, Weighter, sync::Cache};
use tokio::{sync::Mutex, time::timeout};

pub(super) use self::{
    buckets::BucketCache,
    domains::{DomainCache, DomainRoutes},
    functions::{FunctionCache, Script},
    verifiers::VerifierCache,
};
use crate::{
    clock::{Clock, Timestamp},
    error::Error,
};

/// How many keys are read at once; of one key there is one read at a time.
const READS_AT_ONCE: usize = 16;

/// How long a caller waits for its turn: a store that hangs must not let every
/// caller wait for all those before it.
const TURN_TIMEOUT: Duration = Duration::from_millis(100);

/// How old a snapshot may be.
#[derive(Clone, Debug)]
pub(crate) struct MaxAge {
    pub(super) clock: Arc<dyn Clock>,
    /// None where nobody else writes to the store.
    pub(super) max_age: Option<Duration>,
}

impl MaxAge {
    fn lets_through(&self, read_at: Timestamp) -> bool {
        self.max_age.is_none_or(|max_age| self.clock.now().since(read_at) <= max_age)
    }
}

#[derive(Clone, Copy)]
struct Snapshot<V> {
    value: V,
    read_at: Timestamp,
}

#[derive(Clone, Copy)]
struct Weight<V>(fn(&V) -> u64);

impl<K, V> Weighter<K, Snapshot<V>> for Weight<V> {
    fn weight(&self, _: &K, snapshot: &Snapshot<V>) -> u64 {
        (self.0)(&snapshot.value)
    }
}

/// Values that were read from a store, by key. `V` is cheap to clone.
pub(super) struct Snapshots<K, V> {
    values: Cache<K, Snapshot<V>, Weight<V>>,
    /// Keys that the store has no value for, where they are remembered. They are apart
    /// from `values`, so that requests for made-up keys push out no value.
    absent: Option<Cache<K, Snapshot<()>>>,
    max_age: MaxAge,
    /// Counts changes, so that what was read before a change is not kept after it.
    changes: AtomicU64,
    turns: [Mutex<()>; READS_AT_ONCE],
    turn_of_key: foldhash::fast::RandomState,
}

impl<K, V> fmt::Debug for Snapshots<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshots").field("max_age", &self.max_age.max_age).finish_non_exhaustive()
    }
}

impl<K, V> Snapshots<K, V>
where
    K: Clone + Eq + Hash,
    V: Clone,
{
    /// Keeps at most `capacity` values.
    fn new(capacity: usize, max_age: MaxAge) -> Self {
        Self::weighed(capacity, capacity as u64, |_| 1, max_age)
    }

    /// Keeps values of at most `capacity` together, some `expected` of them.
    fn weighed(expected: usize, capacity: u64, weight: fn(&V) -> u64, max_age: MaxAge) -> Self {
        Self {
            values: Cache::with_weighter(expected, capacity, Weight(weight)),
            absent: None,
            max_age,
            changes: AtomicU64::new(0),
            turns: Default::default(),
            turn_of_key: foldhash::fast::RandomState::default(),
        }
    }

    /// Remembers as well which keys have no value, at most `capacity` of them.
    fn with_absent(mut self, capacity: usize) -> Self {
        self.absent = Some(Cache::new(capacity));
        self
    }

    /// The value of `key`; none when the store has none. What is not known, or too old, is
    /// read with `read`. A value that was read is kept under all of its `keys`.
    async fn get<Q, R>(
        &self,
        key: &Q,
        read: impl FnOnce() -> R,
        keys: impl FnOnce(&V) -> Vec<K>,
    ) -> Result<Option<V>, Error>
    where
        Q: Equivalent<K> + Hash + ToOwned<Owned = K> + ?Sized,
        R: Future<Output = Result<Option<V>, Error>>,
    {
        if let Some(known) = self.known(key) {
            return Ok(known);
        }
        let turn = self.turn_of_key.hash_one(key) as usize % READS_AT_ONCE;
        let turn = self.turns.get(turn).map(|turn| timeout(TURN_TIMEOUT, turn.lock()));
        let _turn = match turn {
            Some(turn) => turn.await.ok(),
            None => None,
        };
        // Whoever had to wait mostly finds that another has read it.
        if let Some(known) = self.known(key) {
            return Ok(known);
        }
        let seen = self.changes.load(Ordering::Acquire);
        let read_at = self.max_age.clock.now();
        let value = read().await?;
        let keys = value.as_ref().map_or_else(|| vec![key.to_owned()], keys);
        for key in &keys {
            self.keep(key.clone(), value.clone(), read_at);
        }
        // A change may have come between the read and the insertions, and what it forgot
        // may have been inserted after it.
        if self.changes.load(Ordering::Acquire) != seen {
            keys.iter().for_each(|key| self.forget(key));
        }
        Ok(value)
    }

    fn known<Q>(&self, key: &Q) -> Option<Option<V>>
    where
        Q: Equivalent<K> + Hash + ?Sized,
    {
        let fresh = |read_at| self.max_age.lets_through(read_at);
        if let Some(snapshot) = self.values.get(key).filter(|known| fresh(known.read_at)) {
            return Some(Some(snapshot.value));
        }
        let absent = self.absent.as_ref()?.get(key).filter(|known| fresh(known.read_at));
        absent.map(|_| None)
    }

    fn keep(&self, key: K, value: Option<V>, read_at: Timestamp) {
        match value {
            Some(value) => {
                if let Some(absent) = &self.absent {
                    absent.remove(&key);
                }
                self.values.insert(key, Snapshot { value, read_at });
            }
            None => {
                self.values.remove(&key);
                if let Some(absent) = &self.absent {
                    absent.insert(key, Snapshot { value: (), read_at });
                }
            }
        }
    }

    /// Forgets what is known of these keys: it has changed.
    fn changed<'a, Q>(&self, keys: impl IntoIterator<Item = &'a Q>)
    where
        Q: Equivalent<K> + Hash + ?Sized + 'a,
    {
        self.changes.fetch_add(1, Ordering::AcqRel);
        keys.into_iter().for_each(|key| self.forget(key));
    }

    fn forget<Q>(&self, key: &Q)
    where
        Q: Equivalent<K> + Hash + ?Sized,
    {
        self.values.remove(key);
        if let Some(absent) = &self.absent {
            absent.remove(key);
        }
    }

    /// How many keys are known to have no value.
    #[cfg(test)]
    fn absent_len(&self) -> usize {
        self.absent.as_ref().map_or(0, Cache::len)
    }
}

#[cfg(test)]
mod tests;
