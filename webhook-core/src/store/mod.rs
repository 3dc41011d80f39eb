//! What the library asks of storage.
//!
//! Each call is one transaction: it has happened whole or not at all, and when
//! it returns `Ok` it would survive a power loss (as far as the implementation
//! is durable at all; [`memory`] is not). Everything but [`DeliveryStore`]'s
//! queue side is scoped to an account: what belongs to another one is absent.
//!
//! | call | contract in every store |
//! |---|---|
//! | `get` | `Ok(None)` when absent |
//! | create twice, or a name that is taken | [`Conflict`](crate::ErrorKind::Conflict) |
//! | update or delete of nothing | [`NotFound`](crate::ErrorKind::NotFound) |
//! | `list` | in the order of identifiers, which is that of creation |
//!
//! `webhook-conformance` tests these contracts on any implementation.

mod account;
mod billing;
mod bucket;
mod cron;
mod delivery;
mod domain;
mod function;
mod log;
pub mod memory;
mod token;

use std::sync::Arc;

pub use account::AccountStore;
pub use billing::BillingStore;
pub use bucket::{BucketCounts, BucketStore, InputStore, OutputStore};
pub use cron::{AdvanceCron, ClaimCrons, CronStore};
pub use delivery::{
    Accept, Accepted, Claim, ClaimOrder, Claimed, DeliveryStore, Lane, NewDelivery, Origin,
    Pending, Redeliver, Settle,
};
pub use domain::DomainStore;
pub use function::{ExecutionPage, FunctionStore};
pub use log::{
    ClientReport, CountQuery, DayCount, Drain, Drained, InvalidCursor, LogCursor, LogPage,
    LogQuery, LogStore, MAX_COUNTED_DURATION, MinuteCount, Reported,
};
pub use token::TokenStore;

/// One handle on each store.
///
/// ```
/// use webhook_core::store::{Stores, memory::MemoryStore};
///
/// let stores = Stores::of(MemoryStore::default());
/// # let _ = stores;
/// ```
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "each field is named after the trait that documents it")]
pub struct Stores {
    pub accounts: Arc<dyn AccountStore>,
    pub buckets: Arc<dyn BucketStore>,
    pub inputs: Arc<dyn InputStore>,
    pub outputs: Arc<dyn OutputStore>,
    pub functions: Arc<dyn FunctionStore>,
    pub deliveries: Arc<dyn DeliveryStore>,
    pub logs: Arc<dyn LogStore>,
    pub tokens: Arc<dyn TokenStore>,
    pub domains: Arc<dyn DomainStore>,
    pub crons: Arc<dyn CronStore>,
    pub billing: Arc<dyn BillingStore>,
}

impl Stores {
    /// All stores from one value that implements every trait.
    pub fn of<S>(store: S) -> Self
    where
        S: AccountStore
            + BucketStore
            + InputStore
            + OutputStore
            + FunctionStore
            + DeliveryStore
            + LogStore
            + TokenStore
            + DomainStore
            + CronStore
            + BillingStore
            + 'static,
    {
        let store = Arc::new(store);
        Self {
            accounts: store.clone(),
            buckets: store.clone(),
            inputs: store.clone(),
            outputs: store.clone(),
            functions: store.clone(),
            deliveries: store.clone(),
            logs: store.clone(),
            tokens: store.clone(),
            domains: store.clone(),
            crons: store.clone(),
            billing: store,
        }
    }
}
