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

mod absent;
#[cfg(feature = "admin")]
mod account;
mod construct;
mod cron;
mod cursor;
mod delivery;
mod document;
mod erase;
mod erasure;
mod function;
mod lease;
mod log;
mod management;
pub mod memory;
mod notification;
mod replay;
mod route;
mod row;
mod search;
#[cfg(feature = "admin")]
mod session;
#[cfg(feature = "admin")]
pub mod tally;
#[cfg(not(feature = "admin"))]
#[expect(dead_code, unreachable_pub, reason = "other stores read it for the management")]
mod tally;
mod words;
mod work;

use std::sync::Arc;

pub use crate::function::kv::{
    KV_MAX_NUMBER, KvChange, KvEntry, KvKey, KvValue, KvWrite, too_many_keys,
};
#[cfg(feature = "admin")]
pub use account::{AccountStore, BillingStore, TokenStore};
pub use cron::{AdvanceCron, CronStore};
pub use cursor::{InvalidCursor, LogCursor};
pub use delivery::{
    Accept, Accepted, Claim, ClaimOrder, Claimed, DeliveryStore, NewDelivery, Origin, Pending,
    Redeliver, Seen, Settle,
};
pub(crate) use document::again;
pub use document::{
    ApplyError, Bounds, BucketStore, Change, Configured, CronState, Document, DocumentKey,
    DocumentKind, DocumentState, DocumentStore, Find, InputStore, MAX_VERSIONS, OutputStore, Page,
    Refusal, RulesVersion, SCHEMA, StateChange,
};
pub use erase::{EraseWebhook, ErasedWebhook};
pub use erasure::{EraseOutcome, EraseStep, ErasureStore};
pub use function::{ExecutionPage, FunctionStore, NewExecution, too_many_variables};
pub use lease::{Backlog, Extended, Lease, OwnQueue, OwnedQueue, QueueStore, Sweep};
pub use log::{
    ClientReport, CountQuery, DayCount, Drain, Drained, LogHeads, LogPage, LogQuery, LogStore,
    MAX_COUNTED_DURATION, MinuteCount, OldLogs, Reported,
};
pub use notification::{Note, Notice, NoticeSent, NotificationStore};
pub use replay::{FeedReplay, ReplayItem, ReplayStore, ReplayedWebhook};
pub use route::RouteStore;
pub use row::StoredDelivery;
pub use search::{LogFilter, LogOrder, LogSearch, LogsFound, Scan, ScanBounds};
#[cfg(feature = "admin")]
pub use session::SessionStore;
pub use work::{ClaimWork, KEPT_WORK};

use absent::Absent;
use management::ManagementStore;

/// One handle on each store.
///
/// A relay needs two of them, with eleven methods together, to receive and to
/// deliver. What else is wanted is added by name; an operation on a store that
/// is not there is [`Unsupported`](crate::ErrorKind::Unsupported), and the relay
/// goes without it: without domains no host is anybody's, without crons none runs,
/// without functions an output that has one fails.
///
/// ```
/// use std::sync::Arc;
/// use webhook_core::store::{Stores, memory::MemoryStore};
///
/// let everything = Stores::of(MemoryStore::default());
///
/// let mine = Arc::new(MemoryStore::default()); // two traits are enough
/// let for_a_relay = Stores::relay(mine.clone(), mine.clone()).with_logs(mine);
/// # let _ = (everything, for_a_relay);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each field is named after the trait that documents it")]
pub struct Stores {
    pub routes: Arc<dyn RouteStore>,
    pub deliveries: Arc<dyn DeliveryStore>,
    pub documents: Arc<dyn DocumentStore>,
    pub functions: Arc<dyn FunctionStore>,
    pub crons: Arc<dyn CronStore>,
    pub notifications: Arc<dyn NotificationStore>,
    pub logs: Arc<dyn LogStore>,
    pub replays: Arc<dyn ReplayStore>,
    pub erasures: Arc<dyn ErasureStore>,
    pub queues: Arc<dyn QueueStore>,
    #[cfg(feature = "admin")]
    pub accounts: Arc<dyn AccountStore>,
    #[cfg(feature = "admin")]
    pub tokens: Arc<dyn TokenStore>,
    #[cfg(feature = "admin")]
    pub sessions: Arc<dyn SessionStore>,
    #[cfg(feature = "admin")]
    pub billing: Arc<dyn BillingStore>,
}

impl Stores {
    /// All stores from one value that implements every trait: with the feature `admin` also the
    /// traits of accounts, tokens, sessions and billing.
    pub fn of<S>(store: S) -> Self
    where
        S: DocumentStore
            + DeliveryStore
            + FunctionStore
            + CronStore
            + NotificationStore
            + LogStore
            + ReplayStore
            + ErasureStore
            + QueueStore
            + ManagementStore
            + 'static,
    {
        let store = Arc::new(store);
        let stores = Self::relay(store.clone(), store.clone())
            .with_documents(store.clone())
            .with_functions(store.clone())
            .with_crons(store.clone())
            .with_notifications(store.clone())
            .with_logs(store.clone())
            .with_replays(store.clone())
            .with_erasures(store.clone())
            .with_queues(store.clone());
        management::add(stores, store)
    }

    /// What a relay needs to receive and to deliver.
    pub fn relay(routes: Arc<dyn RouteStore>, deliveries: Arc<dyn DeliveryStore>) -> Self {
        let absent = Arc::new(Absent);
        Self {
            routes,
            deliveries,
            documents: absent.clone(),
            functions: absent.clone(),
            crons: absent.clone(),
            notifications: absent.clone(),
            logs: absent.clone(),
            replays: absent.clone(),
            erasures: absent.clone(),
            queues: absent.clone(),
            #[cfg(feature = "admin")]
            accounts: absent.clone(),
            #[cfg(feature = "admin")]
            tokens: absent.clone(),
            #[cfg(feature = "admin")]
            sessions: absent.clone(),
            #[cfg(feature = "admin")]
            billing: absent.clone(),
        }
    }

    /// For managing configured things, for requests to domains of accounts, and for functions.
    #[must_use]
    pub fn with_documents(mut self, documents: Arc<dyn DocumentStore>) -> Self {
        self.documents = documents;
        self
    }

    /// For inputs and outputs that have functions, which are
    /// [documents](Self::with_documents).
    #[must_use]
    pub fn with_functions(mut self, functions: Arc<dyn FunctionStore>) -> Self {
        self.functions = functions;
        self
    }

    /// For webhooks that are made at set times. They come into buckets, which are
    /// [documents](Self::with_documents).
    #[must_use]
    pub fn with_crons(mut self, crons: Arc<dyn CronStore>) -> Self {
        self.crons = crons;
        self
    }

    /// For webhooks about what happens to others. They come into buckets, which are
    /// [documents](Self::with_documents).
    #[must_use]
    pub fn with_notifications(mut self, notifications: Arc<dyn NotificationStore>) -> Self {
        self.notifications = notifications;
        self
    }

    /// For reading logs back, for clients that pull or subscribe, and for plans
    /// that say how many webhooks a month.
    #[must_use]
    pub fn with_logs(mut self, logs: Arc<dyn LogStore>) -> Self {
        self.logs = logs;
        self
    }

    /// For sending many stored webhooks again. They are found as
    /// [logs](Self::with_logs).
    #[must_use]
    pub fn with_replays(mut self, replays: Arc<dyn ReplayStore>) -> Self {
        self.replays = replays;
        self
    }

    /// For erasing many stored webhooks. They are found as [logs](Self::with_logs).
    #[must_use]
    pub fn with_erasures(mut self, erasures: Arc<dyn ErasureStore>) -> Self {
        self.erasures = erasures;
        self
    }

    /// For throttles that several nodes keep to together.
    #[must_use]
    pub fn with_queues(mut self, queues: Arc<dyn QueueStore>) -> Self {
        self.queues = queues;
        self
    }
}

#[cfg(test)]
mod tests {
    /// The methods of the trait in this source that have no default.
    fn methods(source: &str) -> usize {
        let is_asked = |line: &&str| line.starts_with("    async fn ") && !line.ends_with('{');
        source.lines().filter(is_asked).count()
    }

    #[test]
    fn a_relay_asks_eleven_methods() {
        let routes = methods(include_str!("route.rs"));
        let deliveries = methods(include_str!("delivery.rs"));
        assert_eq!((routes, deliveries, routes + deliveries), (2, 9, 11));
    }
}
