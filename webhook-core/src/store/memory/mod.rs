//! Stores that keep everything in memory.

#[cfg(feature = "admin")]
mod account;
mod catalog;
mod cron;
mod delivery;
mod documents;
mod erase;
mod erasure;
mod function;
mod index;
mod log;
mod notification;
mod queue;
mod replay;
mod retention;
mod row;
mod seen;
#[cfg(feature = "admin")]
mod session;
#[cfg(test)]
mod tests;

use std::{
    fmt,
    sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
};

#[cfg(feature = "admin")]
use account::{Accounts, Bills, Tokens};
use documents::Directory;
use erasure::Erasures;
use function::Functions;
use notification::Notices;
use queue::{Locked, Queue};
use replay::Replays;
#[cfg(feature = "admin")]
use session::Sessions;

use crate::lock::Lock;

/// Implements every store trait in memory: for tests, for trying things out,
/// and for relays that may forget what they hold when they end.
///
/// # What it is bounded by
///
/// Webhooks and their deliveries are bounded by a number
/// ([`with_capacity`](Self::with_capacity)) and by about how many bytes they
/// take ([`with_max_bytes`](Self::with_max_bytes)), whichever is reached first.
/// A webhook that would go over a bound pushes out others, oldest first:
///
/// 1. the *finished* ones, all of whose deliveries are final; their logs go
///    with them;
/// 2. then those of buckets without outputs, which wait for clients that may
///    never come, and must not stop everybody else's webhooks meanwhile.
///
/// A webhook that some output is still to get is never pushed out. When nothing
/// else is left, [`accept`](super::DeliveryStore::accept) answers
/// [`Unavailable`](crate::ErrorKind::Unavailable) and pushes out nothing; it
/// takes webhooks again as soon as older ones are finished. A webhook that
/// would not fit into an empty store is
/// [`TooLarge`](crate::ErrorKind::TooLarge). That a webhook was stored before is
/// known only as long as it is kept, and keys of duplicates are remembered for as many
/// webhooks as are kept, those that end first going first.
///
/// What attempts bring, a response or what a function made of the webhook, is
/// always kept, and pushes out finished webhooks to make room. So unfinished
/// webhooks take more than the bound at worst by one response and one processed
/// request each.
///
/// The runs of a function are bounded by the `keep` of
/// [`record_execution`](super::FunctionStore::record_execution). Accounts,
/// buckets, inputs, outputs, functions, access tokens, domains, crons and notifications are not: their
/// callers limit them.
///
/// Statistics count the last 100 000 logs that were [erased](super::LogStore::erase).
///
/// # Deleted outputs
///
/// What waits for an output when it is deleted becomes
/// [`Failed`](crate::model::DeliveryStatus::Failed), with a reason.
///
/// ```
/// use webhook_core::store::memory::MemoryStore;
///
/// let store = MemoryStore::with_capacity(1_000).with_max_bytes(16 << 20);
/// # let _ = store;
/// ```
pub struct MemoryStore {
    #[cfg(feature = "admin")]
    accounts: Lock<Accounts>,
    #[cfg(feature = "admin")]
    bills: Lock<Bills>,
    /// Taken first by an operation that needs several of these locks.
    directory: RwLock<Directory>,
    /// Taken after `directory`, and before `queue`.
    functions: Lock<Functions>,
    queue: Lock<Queue>,
    #[cfg(feature = "admin")]
    tokens: Lock<Tokens>,
    #[cfg(feature = "admin")]
    sessions: Lock<Sessions>,
    /// Taken after `directory`.
    notices: Lock<Notices>,
    /// Taken before `queue`.
    replays: Lock<Replays>,
    /// Taken before `functions`.
    erasures: Lock<Erasures>,
}

impl MemoryStore {
    /// How many webhooks [`default`](Self::default) keeps.
    pub const DEFAULT_MAX_WEBHOOKS: usize = 100_000;

    /// About how many bytes of webhooks are kept unless
    /// [`with_max_bytes`](Self::with_max_bytes) says otherwise: 512 MiB.
    pub const DEFAULT_MAX_BYTES: usize = 512 << 20;

    /// A store that keeps at most `max_webhooks` webhooks with their deliveries.
    #[must_use]
    pub fn with_capacity(max_webhooks: usize) -> Self {
        Self {
            #[cfg(feature = "admin")]
            accounts: Lock::default(),
            #[cfg(feature = "admin")]
            bills: Lock::default(),
            directory: RwLock::default(),
            functions: Lock::default(),
            queue: Lock::new(Queue::new(max_webhooks, Self::DEFAULT_MAX_BYTES)),
            #[cfg(feature = "admin")]
            tokens: Lock::default(),
            #[cfg(feature = "admin")]
            sessions: Lock::default(),
            notices: Lock::default(),
            replays: Lock::default(),
            erasures: Lock::default(),
        }
    }

    /// The same store with another bound on the bytes of webhooks, deliveries
    /// and responses.
    #[must_use]
    pub fn with_max_bytes(self, max_bytes: usize) -> Self {
        self.queue().set_max_bytes(max_bytes);
        self
    }

    fn directory(&self) -> RwLockReadGuard<'_, Directory> {
        self.directory.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn directory_mut(&self) -> RwLockWriteGuard<'_, Directory> {
        self.directory.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn queue(&self) -> Locked<'_> {
        Locked::new(self.queue.lock())
    }
}

impl Default for MemoryStore {
    /// A store that keeps [`DEFAULT_MAX_WEBHOOKS`](Self::DEFAULT_MAX_WEBHOOKS).
    fn default() -> Self {
        Self::with_capacity(Self::DEFAULT_MAX_WEBHOOKS)
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore").finish_non_exhaustive()
    }
}
