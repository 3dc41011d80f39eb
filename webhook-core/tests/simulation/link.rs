//! What is between a node and the store: it is slow, breaks, and ends with the node.

use std::{
    fmt,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use tokio::time::{Instant, sleep};
use webhook_core::{
    AccountId, Clock, DeliveryId, Error, NodeId, OutputId, TokioClock, WebhookId,
    model::Log,
    store::{
        Accept, Accepted, ApplyError, Backlog, Change, Claim, Claimed, DeliveryStore, Document,
        DocumentKey, DocumentKind, DocumentStore, Extended, Find, Lease, Redeliver, Settle, Stores,
        Sweep,
    },
};

/// How long a call takes at most when nothing is wrong.
const SLOW: u64 = 200;
/// How long it takes at most until a call that failed is repeated. An outcome that the store
/// takes twice may free a delivery that was claimed in between.
const REPEATED: Duration = Duration::from_secs(1);
/// How long a call over a cut connection waits for its end.
const CUT: Duration = Duration::from_secs(3);

/// The connection of one process to the store.
pub(crate) struct Link {
    stores: Stores,
    clock: TokioClock,
    random: Mutex<fastrand::Rng>,
    is_dead: AtomicBool,
    is_cut: AtomicBool,
    /// Whether the process has read the store's clock.
    is_timed: AtomicBool,
    /// How many of a thousand calls fail.
    failures: AtomicU64,
    /// From when until when something went wrong that may make the process send twice.
    troubles: Mutex<Vec<(Instant, Instant)>>,
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link").finish_non_exhaustive()
    }
}

impl Link {
    pub(crate) fn new(stores: Stores, clock: TokioClock, seed: u64) -> Arc<Self> {
        Arc::new(Self {
            stores,
            clock,
            random: Mutex::new(fastrand::Rng::with_seed(seed)),
            is_dead: AtomicBool::new(false),
            is_cut: AtomicBool::new(false),
            is_timed: AtomicBool::new(false),
            failures: AtomicU64::new(0),
            troubles: Mutex::default(),
        })
    }

    /// The stores as the process sees them.
    pub(crate) fn stores(self: &Arc<Self>) -> Stores {
        let mut stores = self.stores.clone();
        stores.deliveries = self.clone();
        stores.routes = self.clone();
        stores
    }

    /// The stores of a program that configures things and forwards nothing.
    pub(crate) fn stores_of_administrator(self: &Arc<Self>) -> Stores {
        self.stores.clone().with_documents(self.clone())
    }

    /// Ends the process as `kill -9` does: nothing that it does from now on has an effect.
    pub(crate) fn kill(&self) {
        self.trouble();
        self.is_dead.store(true, Ordering::Relaxed);
    }

    pub(crate) fn cut(&self, is_cut: bool) {
        self.trouble();
        self.is_cut.store(is_cut, Ordering::Relaxed);
    }

    pub(crate) fn fail(&self, of_a_thousand: u64) {
        self.failures.store(of_a_thousand, Ordering::Relaxed);
    }

    pub(crate) fn is_dead(&self) -> bool {
        self.is_dead.load(Ordering::Relaxed)
    }

    pub(crate) fn is_timed(&self) -> bool {
        self.is_timed.load(Ordering::Relaxed)
    }

    /// Whether something was wrong between two moments.
    pub(crate) fn was_troubled(&self, from: Instant, to: Instant) -> bool {
        let troubles = self.troubles.lock().unwrap_or_else(PoisonError::into_inner);
        self.is_cut.load(Ordering::Relaxed)
            || troubles.iter().any(|(began, ended)| *began <= to && from <= *ended)
    }

    /// Never returns in a process that is dead.
    pub(crate) async fn lives(&self) {
        if self.is_dead() {
            std::future::pending::<()>().await;
        }
    }

    fn trouble(&self) {
        self.trouble_for(Duration::ZERO);
    }

    fn trouble_for(&self, lasts: Duration) {
        let now = Instant::now();
        self.troubles.lock().unwrap_or_else(PoisonError::into_inner).push((now, now + lasts));
    }

    fn random(&self, below: u64) -> u64 {
        self.random.lock().unwrap_or_else(PoisonError::into_inner).u64(..below)
    }

    fn fails(&self) -> bool {
        let fails = self.random(1_000) < self.failures.load(Ordering::Relaxed);
        if fails {
            self.trouble_for(REPEATED);
        }
        fails
    }

    async fn wait(&self) {
        sleep(Duration::from_millis(self.random(SLOW))).await;
        self.lives().await;
    }

    /// A call: it may fail before it has an effect, and after.
    async fn call<T>(&self, call: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        self.wait().await;
        if self.is_cut.load(Ordering::Relaxed) {
            // It waits also when the connection is there again meanwhile.
            self.trouble_for(CUT);
            sleep(CUT).await;
            self.lives().await;
            return Err(broken());
        }
        if self.fails() {
            return Err(broken());
        }
        let answer = call.await;
        self.wait().await;
        if self.fails() { Err(broken()) } else { answer }
    }
}

fn broken() -> Error {
    Error::unavailable("the connection to the store is broken", Duration::from_secs(1))
}

#[async_trait]
impl DeliveryStore for Link {
    async fn accept(&self, accept: Accept) -> Result<Accepted, Error> {
        self.call(self.stores.deliveries.accept(accept)).await
    }
    async fn claim(&self, claim: Claim) -> Result<Claimed, Error> {
        self.call(self.stores.deliveries.claim(claim)).await
    }
    async fn settle(&self, settle: Settle) -> Result<(), Error> {
        self.call(self.stores.deliveries.settle(settle)).await
    }
    async fn redeliver(&self, account: AccountId, redeliver: Redeliver) -> Result<(), Error> {
        self.call(self.stores.deliveries.redeliver(account, redeliver)).await
    }
    async fn extend_lease(&self, lease: Lease) -> Result<Extended, Error> {
        let extend = async {
            let extended = self.stores.deliveries.extend_lease(lease).await?;
            // The store's clock is read during the call.
            let mut answer = Extended::new(Some(self.clock.now()), extended.sweeps);
            answer.taken_until = extended.taken_until;
            Ok(answer)
        };
        let extended = self.call(extend).await;
        self.is_timed.fetch_or(extended.is_ok(), Ordering::Relaxed);
        extended
    }
    async fn release(&self, node: NodeId, of: Option<OutputId>) -> Result<(), Error> {
        self.call(self.stores.deliveries.release(node, of)).await
    }
    async fn backlogs(&self, sweep: Sweep) -> Result<Vec<Backlog>, Error> {
        self.call(self.stores.deliveries.backlogs(sweep)).await
    }
    async fn log(&self, account: AccountId, id: DeliveryId) -> Result<Option<Log>, Error> {
        self.call(self.stores.deliveries.log(account, id)).await
    }
    async fn logs_of(&self, account: AccountId, webhook: WebhookId) -> Result<Vec<Log>, Error> {
        self.call(self.stores.deliveries.logs_of(account, webhook)).await
    }
}

/// With this it is a store of routes, too.
#[async_trait]
impl DocumentStore for Link {
    async fn find(&self, find: Find) -> Result<Vec<Document>, Error> {
        self.call(self.stores.documents.find(find)).await
    }
    async fn apply(&self, changes: &[Change]) -> Result<(), ApplyError> {
        // A refusal is an answer like others.
        self.call(async { Ok(self.stores.documents.apply(changes).await) }).await?
    }
    async fn counts(&self, account: AccountId) -> Result<Vec<(DocumentKind, u64)>, Error> {
        self.call(self.stores.documents.counts(account)).await
    }
    async fn history(&self, account: AccountId, key: DocumentKey) -> Result<Vec<Document>, Error> {
        self.call(self.stores.documents.history(account, key)).await
    }
}
