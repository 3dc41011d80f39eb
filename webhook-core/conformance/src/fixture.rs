//! What a case runs on.

use std::{any::Any, fmt, future::Future, panic::AssertUnwindSafe, pin::Pin, time::Duration};

use futures_util::FutureExt;

use webhook_core::store::{
    AccountStore, BillingStore, CronStore, DeliveryStore, DocumentStore, ErasureStore,
    FunctionStore, LogStore, NotificationStore, QueueStore, ReplayStore, SessionStore, Stores,
    TokenStore,
};

/// How long one case may take before it fails; a hundredth is ample for a local database.
pub const CASE_TIME_LIMIT: Duration = Duration::from_secs(120);

type Teardown = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Fresh, empty stores for one case, or the reason why there are none.
///
/// ```
/// use webhook_conformance::Fixture;
/// use webhook_core::store::memory::MemoryStore;
///
/// async fn make_store() -> Fixture {
///     let Ok(url) = std::env::var("TEST_STORE_URL") else {
///         return Fixture::skip("TEST_STORE_URL is not set");
///     };
///     Fixture::new(MemoryStore::default()).teardown(async move { println!("clean up {url}") })
/// }
/// # let _ = make_store();
/// ```
pub struct Fixture {
    stores: Result<Stores, String>,
    kept: Vec<Box<dyn Any + Send>>,
    teardown: Option<Teardown>,
}

impl Fixture {
    /// A store that implements every trait.
    pub fn new<S>(store: S) -> Self
    where
        S: AccountStore
            + DocumentStore
            + FunctionStore
            + DeliveryStore
            + LogStore
            + ReplayStore
            + ErasureStore
            + QueueStore
            + TokenStore
            + SessionStore
            + CronStore
            + NotificationStore
            + BillingStore
            + 'static,
    {
        Self::of(Stores::of(store))
    }

    /// Stores of which some are under test. The ones that a suite does not use
    /// may be anything:
    ///
    /// ```
    /// # use std::sync::Arc;
    /// use webhook_conformance::Fixture;
    /// use webhook_core::store::{Stores, memory::MemoryStore};
    ///
    /// # type MyFunctionStore = MemoryStore;
    /// let functions = Arc::new(MyFunctionStore::default());
    /// let stores = Stores::of(MemoryStore::default()).with_functions(functions);
    /// let fixture = Fixture::of(stores);
    /// # let _ = fixture;
    /// ```
    #[must_use]
    pub fn of(stores: Stores) -> Self {
        Self { stores: Ok(stores), kept: Vec::new(), teardown: None }
    }

    /// No stores: the case is skipped, and a line says why.
    pub fn skip(reason: impl Into<String>) -> Self {
        Self { stores: Err(reason.into()), kept: Vec::new(), teardown: None }
    }

    /// Keeps `guard`, say a temporary folder, until the case is over and its
    /// stores are dropped.
    #[must_use]
    pub fn keep(mut self, guard: impl Any + Send) -> Self {
        self.kept.push(Box::new(guard));
        self
    }

    /// Awaits `cleanup` after the case, even a failed one, when its stores are
    /// dropped and what is [kept](Self::keep) is not yet.
    #[must_use]
    pub fn teardown(mut self, cleanup: impl Future<Output = ()> + Send + 'static) -> Self {
        self.teardown = Some(Box::pin(cleanup));
        self
    }
}

impl fmt::Debug for Fixture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fixture").field("stores", &self.stores).finish_non_exhaustive()
    }
}

/// Runs one case on a fixture: what the macros make of each case.
///
/// # Panics
///
/// When the case fails or takes longer than [`CASE_TIME_LIMIT`].
pub async fn run(fixture: impl Future<Output = Fixture>, case: impl AsyncFnOnce(&Stores)) {
    let Fixture { stores, kept, teardown } = fixture.await;
    let stores = match stores {
        Ok(stores) => stores,
        Err(reason) => {
            println!("skipped: {reason}");
            return;
        }
    };
    let outcome =
        AssertUnwindSafe(tokio::time::timeout(CASE_TIME_LIMIT, case(&stores))).catch_unwind().await;
    drop(stores);
    if let Some(teardown) = teardown {
        teardown.await;
    }
    drop(kept);
    match outcome {
        Ok(finished) => finished.expect("the case finishes within CASE_TIME_LIMIT"),
        Err(panic) => std::panic::resume_unwind(panic),
    }
}
