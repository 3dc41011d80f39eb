//! One process: a relay with its connection to the store and its machine's clock.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use bytes::Bytes;
use http_body_util::Full;
use tokio::{sync::oneshot, task::JoinHandle};
use tower_service::Service;
use webhook_core::{
    Clock, Error, InputId, NodeId, Random, Timestamp, TokioClock, Webhooks, relay::RelayOptions,
};

use crate::{cluster::Cluster, link::Link};

pub(crate) const LEASE: Duration = Duration::from_secs(5);

/// A process.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) name: NodeId,
    pub(crate) link: Arc<Link>,
    webhooks: Webhooks,
    ahead: Arc<AtomicI64>,
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<Result<(), Error>>,
}

impl Node {
    /// Starts a process on a machine whose clock is `ahead` milliseconds ahead.
    pub(crate) fn start(cluster: &Cluster, name: NodeId, ahead: i64, seed: u64) -> Self {
        let link = Link::new(cluster.stores.clone(), cluster.clock, seed);
        let ahead = Arc::new(AtomicI64::new(ahead));
        let mut options = RelayOptions::default();
        options.lease = LEASE;
        options.sweep_interval = Some(Duration::from_secs(1));
        options.route_max_age = Some(Duration::from_secs(5));
        let mut builder = Webhooks::builder(link.stores());
        if let Some(carrier) = &cluster.carrier {
            builder = builder.broadcast(carrier.of(&link, seed));
        }
        let webhooks = builder
            .forwarder(cluster.sink.over(&link))
            .clock(Machine { clock: cluster.clock, ahead: ahead.clone() })
            .random(Seeded::new(seed))
            .options(options)
            .node(name)
            .build();
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn({
            let webhooks = webhooks.clone();
            async move { webhooks.run(async { drop(stopped.await) }).await }
        });
        Self { name, link, webhooks, ahead, stop: Some(stop), task }
    }

    /// Sends it a webhook; whether that was acknowledged.
    pub(crate) fn post(&self, input: InputId, body: String) -> impl Future<Output = bool> + use<> {
        let (mut ingest, link) = (self.webhooks.ingest(), self.link.clone());
        async move {
            let request = http::Request::post(format!("/v1/webhooks/{input}"));
            let request = request.body(Full::new(Bytes::from(body))).expect("a request");
            let answer = ingest.call(request).await.expect("infallible");
            link.lives().await;
            answer.status().is_success()
        }
    }

    pub(crate) fn set_clock(&self, ahead: i64) {
        self.ahead.store(ahead, Ordering::Relaxed);
    }

    /// Asks it to end, as SIGTERM does.
    pub(crate) fn stop(&mut self) {
        drop(self.stop.take());
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stop.is_none()
    }

    /// Whether it ended by itself.
    pub(crate) fn has_failed(&self) -> bool {
        !self.is_stopping() && !self.link.is_dead() && self.task.is_finished()
    }

    /// Why it ended by itself.
    pub(crate) async fn error(self) -> Error {
        self.task.await.expect("no panic").expect_err("nobody stopped it")
    }
}

/// A machine's clock, which somebody sets.
#[derive(Clone, Debug)]
struct Machine {
    clock: TokioClock,
    ahead: Arc<AtomicI64>,
}

#[async_trait]
impl Clock for Machine {
    fn now(&self) -> Timestamp {
        let ahead = self.ahead.load(Ordering::Relaxed);
        Timestamp::from_millis(self.clock.now().as_millis() + ahead)
    }

    async fn sleep_until(&self, moment: Timestamp) {
        self.clock.sleep_until(moment).await;
    }
}

/// Identifiers that are the same for each seed.
#[derive(Debug)]
pub(crate) struct Seeded(std::sync::Mutex<fastrand::Rng>);

impl Seeded {
    pub(crate) fn new(seed: u64) -> Self {
        Self(std::sync::Mutex::new(fastrand::Rng::with_seed(seed)))
    }
}

impl Random for Seeded {
    fn bits(&self) -> u128 {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner).u128(..)
    }
}
