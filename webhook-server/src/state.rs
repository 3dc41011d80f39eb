//! What the handlers share, and how it is put together.

mod guesses;
pub(crate) mod permit;
pub(crate) mod shares;

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use tokio::sync::Semaphore;
use webhook_core::{AccountId, Clients, Error, Webhooks, admin::Admin};
use webhook_storage::Storage;

pub(crate) use guesses::{Guesses, network};
use permit::RequestPermit;
use shares::{Share, Shares};

use crate::{config::Config, telemetry::Metrics};

/// What the handlers share. A clone is a handle on the same state.
#[derive(Clone, Debug)]
pub(crate) struct AppState {
    /// The state itself.
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    /// The data path and the management operations.
    webhooks: Webhooks,
    /// What everything is kept in, for readiness and the figures of the writer.
    storage: Storage,
    /// The counters that `/metrics` shows.
    metrics: Arc<Metrics>,
    /// Whether the hosted product's decisions count where they differ.
    is_as_hosted: bool,
    /// The bound on the body of a management request.
    max_request_bytes: usize,
    /// One permit for each management request that may be answered at the same time.
    requests: Arc<Semaphore>,
    /// The memory for the bodies of management requests while they arrive, divided among
    /// accounts; requests without a known credential share one part.
    arriving: Shares<Option<AccountId>>,
    /// The addresses that have shown wrong credentials.
    guesses: Guesses,
    /// Whether the server is about to end.
    stopping: AtomicBool,
}

impl AppState {
    pub(crate) fn new(
        webhooks: Webhooks,
        storage: Storage,
        metrics: Arc<Metrics>,
        config: &Config,
    ) -> Self {
        let shared = Shared {
            webhooks,
            storage,
            metrics,
            is_as_hosted: config.management.compatibility.is_some(),
            max_request_bytes: config.management.max_request_bytes,
            requests: Arc::new(Semaphore::new(
                config.management.max_requests.min(Semaphore::MAX_PERMITS),
            )),
            arriving: Shares::new(config.management.max_arriving_bytes),
            guesses: Guesses::new(&config.management),
            stopping: AtomicBool::new(false),
        };
        Self { shared: Arc::new(shared) }
    }

    pub(crate) fn admin(&self) -> &Admin {
        self.shared.webhooks.admin()
    }

    /// The outputs whose attempts are seldom because their destinations fail.
    pub(crate) fn slow_outputs(&self) -> usize {
        self.shared.webhooks.relay().slow_outputs()
    }

    pub(crate) fn clients(&self) -> Clients {
        self.shared.webhooks.clients()
    }

    pub(crate) fn storage(&self) -> &Storage {
        &self.shared.storage
    }

    #[cfg(feature = "dashboard")]
    pub(crate) fn shared_metrics(&self) -> &Arc<Metrics> {
        &self.shared.metrics
    }

    pub(crate) fn metrics(&self) -> &Metrics {
        &self.shared.metrics
    }

    pub(crate) fn is_as_hosted(&self) -> bool {
        self.shared.is_as_hosted
    }

    pub(crate) fn max_request_bytes(&self) -> usize {
        self.shared.max_request_bytes
    }

    /// A permit to answer a management request, unless all are taken.
    pub(crate) fn request_permit(&self) -> Result<RequestPermit, Error> {
        RequestPermit::of(&self.shared.requests)
    }

    /// The memory that the bodies of an account's requests take while they arrive; none
    /// stands for requests without a known credential.
    pub(crate) fn arriving(&self, account: Option<AccountId>) -> Share<Option<AccountId>> {
        self.shared.arriving.of(account)
    }

    /// The addresses that have shown wrong credentials.
    pub(crate) fn guesses(&self) -> &Guesses {
        &self.shared.guesses
    }

    /// Says that the server is about to end: it is not ready any more.
    pub(crate) fn stop(&self) {
        self.shared.stopping.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.shared.stopping.load(Ordering::Relaxed)
    }
}
