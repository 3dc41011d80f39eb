//! What the agent has in hand under a lease, and longer than that while it lives.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use http::Method;
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};
use webhook_core::DeliveryId;

use super::api::Api;

/// Logs that one report may be for.
const AT_ONCE: usize = 100;
/// How long giving back may take at the end.
const FAREWELL: Duration = Duration::from_secs(2);

/// Webhooks that nobody else gets before this agent has said what became of them, or is gone.
#[derive(Debug)]
pub(super) struct Leases {
    lease: Duration,
    held: Mutex<HashSet<DeliveryId>>,
}

impl Leases {
    pub(super) fn new(lease: Duration) -> Arc<Self> {
        Arc::new(Self { lease, held: Mutex::default() })
    }

    /// For how long a webhook is leased at once.
    pub(super) fn lease(&self) -> Duration {
        self.lease
    }

    /// It has come.
    pub(super) fn hold(&self, id: DeliveryId) {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).insert(id);
    }

    /// It was reported on.
    pub(super) fn let_go(&self, id: DeliveryId) {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
    }

    /// Keeps what is in hand, for ever. Three attempts fail before a lease is over.
    pub(super) async fn keep(&self, api: &Api) {
        let preparing = json!({ "status": "preparing", "lease": nanoseconds(self.lease) });
        loop {
            sleep(self.lease / 4).await;
            self.report(api, &preparing).await;
        }
    }

    /// Gives back what is in hand, so that nobody waits for the end of the leases.
    pub(super) async fn give_back(&self, api: &Api) {
        let _ = timeout(FAREWELL, self.report(api, &json!({ "status": "received" }))).await;
    }

    async fn report(&self, api: &Api, report: &Value) {
        let held: Vec<_> =
            self.held.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect();
        for ids in held.chunks(AT_ONCE) {
            let mut report = report.clone();
            report["ids"] = json!(ids);
            if let Err(error) = api.json(Method::POST, "/v1/events/ack", Some(&report)).await {
                tracing::debug!(%error, "what is in hand could not be reported");
            }
        }
    }
}

/// As the API takes it.
pub(super) fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
