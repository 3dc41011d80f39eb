//! The data path: one part for each stretch of the way, in reading order.
//!
//! ```text
//!  sender ──► receive/ ──► route ──► accept ────────► the sender's answer
//!             ingest:      rules     Intake, one transaction:
//!             Receiver     pick      the webhook and one
//!             finds the    outputs   delivery per output
//!             input and                  │ after the commit
//!             reads the                  ▼
//!             body         deliver/  dispatch: Deliverer,
//!                          a queue and workers per output
//!                                        │        ▲ claims what waits
//!                                        ▼        │ in the store
//!                          settle ◄── attempt
//!                          outcome    function,
//!                          and retry  request
//! ```
//!
//! Each part is a struct that holds what it uses, and is made once. Beside the way are
//! `clients`, who listen instead of being sent to, and `replay` and `crons`, which put
//! webhooks into `accept` as `ingest` does. Several parts use the `cache` of what is
//! stored, the runs of `functions` and the `waiters` for a destination's response.
//! Imports lead down only: receive → accept → deliver → clients → cache.
//!
//! A delivery is attempted at least once: after a crash between the request and
//! the commit of its outcome it is sent again, with the same `X-Webhook-Relay-Id`.

mod accept;
mod byte_semaphore;
mod cache;
mod checks;
mod clients;
mod credentials;
mod crons;
mod deliver;
mod detach;
mod duplicates;
mod fetched;
mod functions;
mod gone;
mod headers;
mod keep;
mod observer;
mod options;
mod outgoing;
mod receive;
mod refused;
mod replay;
mod route;
mod run;
mod waiters;

use std::sync::Arc;

use tokio::sync::Notify;

use self::{
    accept::Intake,
    byte_semaphore::ByteSemaphore,
    cache::{BucketCache, DomainCache, FunctionCache, MaxAge, VerifierCache},
    checks::Checker,
    clients::{Clients, Hub},
    crons::Crons,
    deliver::{Deliverer, DelivererParts, Workers},
    fetched::FetchedKeys,
    functions::Functions,
    gone::Gone,
    receive::Receiver,
    refused::RefusedLogs,
    replay::Replayer,
    run::Runner,
    waiters::Waiters,
};
pub(crate) use self::{checks::Asked, functions::Tried, gone::GoneOutput};
pub use self::{
    clients::{ClientInfo, ConnectedClient, Listening, Streamed, StreamedWebhook, Subscription},
    observer::{NoObserver, Observer},
    options::RelayOptions,
    receive::{
        ClientAddr, DomainService, IngestService, InvalidProxies, TrustedProxies, host_name,
        requested_host,
    },
};
use crate::{
    clock::StoreClock,
    error::Error,
    forward::Forwarder,
    function::FunctionRuntime,
    id::{AccountId, FunctionId, NodeId},
    ids::Ids,
    model::{Bucket, Input, Invoked, Log, Output, Replay, SignatureCheck, Webhook},
    plan::Quotas,
    store::{ClientReport, Stores},
};

/// Receives webhooks and delivers them. A clone is a handle on the same relay.
#[derive(Clone, Debug)]
pub struct Relay {
    receiver: Arc<Receiver>,
    deliverer: Arc<Deliverer>,
    clients: Arc<Clients>,
    replayer: Arc<Replayer>,
    crons: Arc<Crons>,
    functions: Arc<Functions>,
    buckets: Arc<BucketCache>,
    gone: Arc<Gone>,
}

impl Relay {
    /// A relay of these parts.
    #[must_use]
    pub(crate) fn new(parts: RelayParts) -> Self {
        let RelayParts {
            stores,
            clock,
            ids,
            forwarder,
            functions,
            quotas,
            observer,
            options,
            node,
        } = parts;
        let options = Arc::new(options);
        let max_age = MaxAge { clock: clock.clone(), max_age: options.route_max_age };
        let (waiters, workers) = (Arc::new(Waiters::default()), Arc::new(Workers::default()));

        let gone = Arc::new(Gone::default());
        let buckets = BucketCache::new(options.cached_routes, max_age.clone(), stores.routes);
        let buckets = Arc::new(buckets);
        let bytes = options.cached_function_bytes;
        let functions = Arc::new(Functions {
            cache: FunctionCache::new(bytes, max_age.clone(), stores.functions.clone()),
            runtime: functions,
            store: stores.functions,
            clock: clock.clone(),
            ids: ids.clone(),
            options: options.clone(),
        });
        let clients = Arc::new(Clients {
            hub: Hub::default(),
            buckets: buckets.clone(),
            bucket_store: stores.buckets.clone(),
            logs: stores.logs,
            waiters: waiters.clone(),
            observer: observer.clone(),
            clock: clock.clone(),
            options: options.clone(),
        });
        let checker = Arc::new(Checker {
            verifiers: VerifierCache::new(options.cached_routes),
            keys: FetchedKeys::new(forwarder.clone(), clock.clone()),
            refused: RefusedLogs::new(options.refused_logs_per_hour),
            buckets: buckets.clone(),
            inputs: stores.inputs,
            clock: clock.clone(),
        });
        let deliverer = Arc::new(Deliverer::new(DelivererParts {
            node,
            deliveries: stores.deliveries.clone(),
            buckets: buckets.clone(),
            forwarder,
            functions: functions.clone(),
            clients: clients.clone(),
            waiters: waiters.clone(),
            gone: gone.clone(),
            workers: workers.clone(),
            observer: observer.clone(),
            clock: clock.clone(),
            options: options.clone(),
        }));
        let intake = Arc::new(Intake {
            deliveries: stores.deliveries,
            deliverer: deliverer.clone(),
            clients: clients.clone(),
            waiters,
            ids: ids.clone(),
            options: options.clone(),
        });
        let replayer = Arc::new(Replayer {
            intake: intake.clone(),
            buckets: buckets.clone(),
            checker: checker.clone(),
            functions: functions.clone(),
            clock: clock.clone(),
            ids: ids.clone(),
        });
        let crons = Arc::new(Crons {
            node,
            store: stores.crons,
            buckets: stores.buckets,
            functions: functions.clone(),
            intake: intake.clone(),
            workers,
            clock: clock.clone(),
            options: options.clone(),
            changed: Notify::new(),
            permits: Crons::permits_for(options.cron_concurrency),
        });
        let receiver = Arc::new(Receiver {
            buckets: buckets.clone(),
            domains: DomainCache::new(options.cached_domains, max_age, stores.domains),
            quotas,
            body_bytes: ByteSemaphore::new(options.max_receiving_bytes),
            checker,
            functions: functions.clone(),
            intake,
            refusals: Arc::default(),
            observer,
            ids,
            options,
        });
        Self { receiver, deliverer, clients, replayer, crons, functions, buckets, gone }
    }

    /// The service that receives webhooks.
    #[must_use]
    pub fn ingest(&self) -> IngestService {
        IngestService::new(Arc::clone(&self.receiver))
    }

    /// Delivers and runs crons until `shutdown` completes, then finishes what is in flight
    /// (for [`RelayOptions::drain_timeout`] at most) and returns.
    ///
    /// Until this runs, webhooks are received and stored but not delivered. It
    /// fails when the store cannot be read at the start.
    pub async fn run(&self, shutdown: impl Future<Output = ()>) -> Result<(), Error> {
        self.runner().run(shutdown).await
    }

    /// Runs the crons that are due, delivers everything that is and returns when nothing is: for tests
    /// and for programs that run from time to time. Not beside [`run`](Self::run).
    pub async fn run_until_idle(&self) -> Result<(), Error> {
        self.runner().run_until_idle().await
    }

    // Clients are reached from outside through `webhooks::Clients`.
    #[must_use]
    pub(crate) fn subscribe(
        &self,
        account: AccountId,
        listening: Listening,
        client: ClientInfo,
    ) -> Subscription {
        Subscription::new(Arc::clone(&self.clients), account, listening, client)
    }

    #[must_use]
    pub(crate) fn clients(&self, account: AccountId) -> Vec<ConnectedClient> {
        self.clients.of(account)
    }

    pub(crate) async fn report(
        &self,
        account: AccountId,
        report: ClientReport,
    ) -> Result<Log, Error> {
        self.clients.report(account, report).await
    }

    /// Sends a webhook again, as a delivery and log of its own; see [`Replay`].
    ///
    /// # Errors
    ///
    /// `NotFound` when the account has no such log or output, `Conflict` when
    /// the content has been erased or the output is disabled.
    pub async fn replay(&self, account: AccountId, replay: Replay) -> Result<(), Error> {
        self.replayer.replay(account, replay).await
    }

    pub(crate) async fn check_signature(
        &self,
        input: &Input,
        asked: Asked<'_>,
    ) -> Result<SignatureCheck, Error> {
        let Receiver { checker, options, .. } = &*self.receiver;
        checker.explain(input, asked, &options.path_prefix).await
    }

    /// Runs a function of the account once, for somebody who wants to see what
    /// it does, and answers what it left as an `ExecuteResponse`; a script that
    /// fails says so there, in `error`. With `response` it runs as a response
    /// function does. The run is recorded like any other.
    ///
    /// # Errors
    ///
    /// `NotFound` when the account has no such function, `Unavailable` when too
    /// many are running.
    pub async fn invoke(
        &self,
        account: AccountId,
        function: FunctionId,
        invoked: Invoked,
    ) -> Result<serde_json::Value, Error> {
        self.functions.invoke(account, function, invoked).await
    }

    /// Runs a function as the output's on a stored webhook; nothing of it is recorded.
    pub(crate) async fn try_function(
        &self,
        function: FunctionId,
        bucket: &Bucket,
        output: &Output,
        webhook: &Webhook,
    ) -> Result<Tried, Error> {
        self.functions.try_on(function, bucket, output, webhook).await
    }

    #[must_use]
    pub(crate) fn client_count(&self, account: AccountId) -> u64 {
        self.clients.count(account)
    }

    pub(crate) fn close_clients(&self, account: AccountId, ends: impl Fn(&ClientInfo) -> bool) {
        self.clients.close(account, ends);
    }

    /// Says that a bucket has changed, with the inputs and outputs that it has
    /// and that it had: the next webhook sees the change.
    pub fn bucket_changed(&self, bucket: &Bucket) {
        self.buckets.changed(bucket);
        // One of them may have been resumed.
        self.deliverer.wake(bucket.outputs.iter().map(|output| output.id));
        for input in &bucket.inputs {
            if !input.spec.custom_domain.is_empty() {
                self.domain_changed(&input.spec.custom_domain);
            }
        }
    }

    /// Says that a domain has been reserved or given back, or that an input has
    /// come to it or left it: the next request sees the change.
    pub fn domain_changed(&self, name: &str) {
        self.receiver.domains.changed(name);
    }

    /// Says that a function or one of its variables has changed: the next run
    /// sees the change.
    pub fn function_changed(&self, function: FunctionId) {
        self.functions.cache.changed(function);
    }

    /// Says that a cron was made or changed: it may run sooner than any other.
    pub fn crons_changed(&self) {
        self.crons.changed();
    }

    /// Waits for an output whose destination is gone and that nobody has paused.
    pub(crate) async fn gone(&self) -> GoneOutput {
        self.gone.next().await
    }

    fn runner(&self) -> Runner<'_> {
        Runner { deliverer: &self.deliverer, crons: &self.crons }
    }
}

/// What a [`Relay`] is made of; [`Webhooks`](crate::Webhooks) puts it together.
#[derive(Debug)]
pub(crate) struct RelayParts {
    pub(crate) stores: Stores,
    pub(crate) clock: Arc<StoreClock>,
    pub(crate) ids: Arc<Ids>,
    pub(crate) forwarder: Arc<dyn Forwarder>,
    pub(crate) functions: Option<Arc<dyn FunctionRuntime>>,
    pub(crate) quotas: Option<Arc<Quotas>>,
    pub(crate) observer: Arc<dyn Observer>,
    pub(crate) options: RelayOptions,
    pub(crate) node: NodeId,
}

#[cfg(test)]
mod tests;
