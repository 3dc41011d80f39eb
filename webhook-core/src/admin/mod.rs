//! The management operations: what a caller may do with accounts, keys,
//! buckets, inputs, outputs and rules.
//!
//! Everything here acts for a [`Caller`] and on its account only. A server adds
//! transport and nothing else, because the kind of each error is the one that
//! the interface lists for the operation (wire.md section 9):
//!
//! | operation | no such bucket | another account's bucket | no such input or output | duplicate name, quota |
//! |---|---|---|---|---|
//! | get bucket | `NotFound` | `Forbidden` | | |
//! | update bucket | `NotFound` | `NotFound` | | `Conflict` |
//! | delete bucket | `NotFound` | `Forbidden` | | `Conflict` when it is not empty |
//! | create input | `Invalid` | `Invalid` | | `Conflict` |
//! | create output | `NotFound` | `NotFound` | | `Conflict` |
//! | everything else on inputs, outputs and rules | `NotFound` | `NotFound` | `NotFound` | `Conflict` |
//!
//! An access token with a scope gets `Forbidden` for everything else, one
//! without API access for everything but subscribing; see [`Caller`].
//!
//! What a caller sends is checked whole before anything is stored, and every
//! refusal names the field.
//!
//! ```
//! use std::sync::Arc;
//! use webhook_core::{
//!     SystemClock,
//!     admin::{Admin, AdminOptions, Caller, Unwatched},
//!     model::BucketSpec,
//!     store::{Stores, memory::MemoryStore},
//! };
//!
//! # async fn example() -> Result<(), webhook_core::Error> {
//! let stores = Stores::of(MemoryStore::default());
//! let admin = Admin::new(stores, Arc::new(SystemClock), AdminOptions::default(), Arc::new(Unwatched));
//!
//! let (account, _key) = admin.create_account("example", None).await?;
//! let caller = Caller::for_account(account.id);
//! let spec = BucketSpec { name: "orders".into(), ..BucketSpec::default() };
//! let bucket = admin.create_bucket(&caller, spec).await?;
//! assert_eq!(bucket.inputs[0].spec.name, "Default public endpoint");
//! # Ok(())
//! # }
//! ```

mod account;
mod bucket;
mod caller;
mod check;
mod input;
mod log;
mod options;
mod output;
mod token;

use std::{fmt, sync::Arc};

use tokio::sync::{Mutex, MutexGuard};
use uuid::Uuid;

pub use bucket::DEFAULT_INPUT_NAME;
pub use caller::{Caller, Credential};
pub use log::{DayRequest, DrainRequest, Handed, LogRequest, LogsPage, MinuteRequest};
pub use options::AdminOptions;
pub use token::{API_KEY_USER, NewToken};

use crate::{
    clock::{Clock, Timestamp},
    error::Error,
    id::{AccountId, BucketId, TokenId},
    model::Bucket,
    relay::Relay,
    store::Stores,
};

/// How many locks all buckets and accounts share.
const LOCKS: usize = 64;

/// Told of every change to a bucket or an access token before the operation that made it returns,
/// so that what it caches is never older than an answer the caller has seen.
pub trait BucketWatcher: Send + Sync + fmt::Debug {
    /// `bucket` was made, changed or removed. Its inputs and outputs are all
    /// that it had before the change and all that it has after it.
    fn bucket_changed(&self, bucket: &Bucket);

    /// An access token of `account` was removed or reaches other buckets now:
    /// what is still open with it must end.
    fn token_changed(&self, account: AccountId, token: TokenId);
}

impl BucketWatcher for Relay {
    fn bucket_changed(&self, bucket: &Bucket) {
        self.bucket_changed(bucket);
    }

    fn token_changed(&self, account: AccountId, token: TokenId) {
        self.close_clients(account, |client| client.token_id == Some(token));
    }
}

/// Watches nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl BucketWatcher for Unwatched {
    fn bucket_changed(&self, _: &Bucket) {}

    fn token_changed(&self, _: AccountId, _: TokenId) {}
}

/// The management operations over a set of stores.
///
/// Changes within one bucket, and changes of one account's key, follow one
/// another: two callers of the same `Admin` never overwrite parts of each
/// other's change, and the bounds on counts hold exactly.
#[derive(Debug)]
pub struct Admin {
    stores: Stores,
    clock: Arc<dyn Clock>,
    options: AdminOptions,
    watcher: Arc<dyn BucketWatcher>,
    locks: [Mutex<()>; LOCKS],
}

impl Admin {
    /// Operations on `stores`, at the time that `clock` shows, within the
    /// bounds of `options`; `watcher` is told of every change.
    #[must_use]
    pub fn new(
        stores: Stores,
        clock: Arc<dyn Clock>,
        options: AdminOptions,
        watcher: Arc<dyn BucketWatcher>,
    ) -> Self {
        Self { stores, clock, options, watcher, locks: [const { Mutex::const_new(()) }; LOCKS] }
    }

    /// The bounds that specs are checked against.
    #[must_use]
    pub fn options(&self) -> &AdminOptions {
        &self.options
    }

    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Waits until nobody else changes what `id` names.
    async fn lock(&self, id: Uuid) -> MutexGuard<'_, ()> {
        // The last bytes of a version 7 identifier are the random ones.
        let slot = usize::from(id.as_bytes()[15]) % LOCKS;
        self.locks[slot].lock().await
    }

    /// The caller's bucket, which the operation needs.
    async fn owned_bucket(&self, caller: &Caller, id: BucketId) -> Result<Bucket, Error> {
        let bucket = self.stores.buckets.bucket(caller.account_id(), id).await?;
        let bucket = bucket.ok_or_else(|| Error::not_found("bucket"))?;
        caller.require_bucket(&bucket).map(|()| bucket)
    }
}

#[cfg(test)]
mod tests;
