//! What the handlers share, and how it is put together.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use tokio::sync::{Semaphore, SemaphorePermit};
use webhook_core::{admin::Admin, relay::Relay};

use crate::{
    config::Config, dev::Inbox, failure::Failure, openapi, socket::Sockets, telemetry::Metrics,
};

/// What the handlers share; a clone is a handle on the same.
#[derive(Clone, Debug)]
pub(crate) struct AppState {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    admin: Arc<Admin>,
    relay: Relay,
    sockets: Sockets,
    metrics: Arc<Metrics>,
    document: String,
    inbox: Option<Inbox>,
    max_request_bytes: usize,
    requests: Semaphore,
    stopping: AtomicBool,
}

impl AppState {
    pub(crate) fn new(
        admin: Arc<Admin>,
        relay: Relay,
        metrics: Arc<Metrics>,
        config: &Config,
    ) -> Result<Self, Failure> {
        let shared = Shared {
            admin,
            relay,
            sockets: Sockets::new(&config.socket, metrics.sockets.clone()),
            metrics,
            document: openapi::document_text()?,
            inbox: config.listen.dev.then(Inbox::default),
            max_request_bytes: config.management.max_request_bytes,
            requests: Semaphore::new(config.management.max_requests.min(Semaphore::MAX_PERMITS)),
            stopping: AtomicBool::new(false),
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    pub(crate) fn admin(&self) -> &Admin {
        &self.shared.admin
    }

    pub(crate) fn relay(&self) -> &Relay {
        &self.shared.relay
    }

    pub(crate) fn sockets(&self) -> &Sockets {
        &self.shared.sockets
    }

    pub(crate) fn metrics(&self) -> &Metrics {
        &self.shared.metrics
    }

    /// The OpenAPI document.
    pub(crate) fn document(&self) -> String {
        self.shared.document.clone()
    }

    /// Where webhooks arrive that are sent to the server itself, with `--dev`.
    pub(crate) fn inbox(&self) -> Option<&Inbox> {
        self.shared.inbox.as_ref()
    }

    pub(crate) fn max_request_bytes(&self) -> usize {
        self.shared.max_request_bytes
    }

    /// The right to answer one more management request, unless too many are being answered.
    pub(crate) fn request_permit(&self) -> Option<SemaphorePermit<'_>> {
        self.shared.requests.try_acquire().ok()
    }

    /// Says that the server is about to end: it is not ready any more.
    pub(crate) fn stop(&self) {
        self.shared.stopping.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.shared.stopping.load(Ordering::Relaxed)
    }
}
