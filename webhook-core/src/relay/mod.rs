//! The data path: one file for each step, in reading order.
//!
//! ```text
//!  sender ──► ingest ──► route ──► accept ──────────► the sender's answer
//!             find the   rules     one transaction:
//!             input,     pick      the webhook and one
//!             read the   outputs   delivery per output
//!             body                     │ after the commit
//!                                      ▼
//!             settle ◄── attempt ◄── dispatch (a lane for each output)
//!             outcome    function,   claims what waits
//!             and retry  request     in the store
//! ```
//!
//! A delivery is attempted at least once: after a crash between the request and
//! the commit of its outcome it is sent again, with the same `X-Webhook-Relay-Id`.

mod accept;
mod again;
mod answer;
mod answers;
mod attempt;
pub(crate) mod body;
mod budget;
mod credentials;
mod crons;
mod detach;
mod dispatch;
mod domain;
mod functions;
mod headers;
mod hosts;
mod ingest;
mod lane;
mod lease;
mod observer;
mod options;
mod outgoing;
mod pace;
mod proxies;
mod refusals;
mod report;
mod resend;
mod route;
mod routes;
mod scripts;
mod settle;
mod sites;
mod stream;
mod timers;

use std::{collections::BTreeMap, sync::Arc};

use answers::Answers;
use budget::Budget;
use crons::Crons;
use dispatch::Dispatch;
use refusals::Refusals;
use routes::{Route, Routes, Source};
use scripts::Scripts;
use sites::Sites;
use stream::Hub;

use crate::{
    clock::{Clock, SystemClock},
    error::Error,
    forward::Forwarder,
    function::{FunctionRuntime, ScriptResponse},
    id::{AccountId, FunctionId, InputId, NodeId, OutputId},
    model::{Bucket, Log, Request},
    plan::Limits,
    store::{ClientReport, Stores},
};

pub use domain::DomainService;
pub use hosts::{host_name, requested_host};
pub use ingest::{ClientAddr, IngestService};
pub use observer::{Observer, Silent};
pub use options::RelayOptions;
pub use proxies::{InvalidProxies, TrustedProxies};
pub use resend::{ProcessPolicy, Resend};
pub use stream::{ClientInfo, ConnectedClient, Listening, Streamed, StreamedWebhook, Subscription};

/// Receives webhooks and delivers them. A clone is a handle on the same relay.
#[derive(Clone, Debug)]
pub struct Relay {
    inner: Arc<Inner>,
}

/// What the steps share.
#[derive(Debug)]
struct Inner {
    stores: Stores,
    clock: Arc<dyn Clock>,
    forwarder: Arc<dyn Forwarder>,
    functions: Option<Arc<dyn FunctionRuntime>>,
    limits: Option<Arc<Limits>>,
    observer: Arc<dyn Observer>,
    options: RelayOptions,
    node: NodeId,
    routes: Routes,
    scripts: Scripts,
    sites: Sites,
    answers: Answers,
    dispatch: Dispatch,
    hub: Hub,
    crons: Crons,
    refusals: Arc<Refusals>,
    /// Bodies that are being received.
    receiving: Budget,
    /// Webhooks that wait in memory.
    memory: Budget,
}

impl Relay {
    /// A relay over these stores that sends with this forwarder; everything
    /// else has a default.
    pub fn builder(stores: Stores, forwarder: impl Forwarder + 'static) -> RelayBuilder {
        RelayBuilder {
            stores,
            forwarder: Arc::new(forwarder),
            clock: Arc::new(SystemClock),
            functions: None,
            limits: None,
            observer: Arc::new(Silent),
            options: RelayOptions::default(),
            node: NodeId::generate(),
        }
    }

    /// The service that receives webhooks.
    #[must_use]
    pub fn ingest(&self) -> IngestService {
        IngestService::new(Arc::clone(&self.inner))
    }

    /// Delivers and runs crons until `shutdown` completes, then finishes what is in flight
    /// (for [`RelayOptions::drain_timeout`] at most) and returns.
    ///
    /// Until this runs, webhooks are received and stored but not delivered. It
    /// fails when the store cannot be read at the start.
    pub async fn run(&self, shutdown: impl Future<Output = ()>) -> Result<(), Error> {
        self.inner.run(shutdown).await
    }

    /// Runs the crons that are due, delivers everything that is and returns when nothing is: for tests
    /// and for programs that run from time to time. Not beside [`run`](Self::run).
    pub async fn run_until_idle(&self) -> Result<(), Error> {
        self.inner.run_until_idle().await
    }

    /// Subscribes a client to webhooks of the account.
    #[must_use]
    pub fn subscribe(
        &self,
        account: AccountId,
        listening: Listening,
        client: ClientInfo,
    ) -> Subscription {
        Subscription::new(Arc::clone(&self.inner), account, listening, client)
    }

    /// The account's clients that are connected to this relay.
    #[must_use]
    pub fn clients(&self, account: AccountId) -> Vec<ConnectedClient> {
        self.inner.hub.clients(account)
    }

    /// Takes a client's report on a webhook and answers the log. A sender that
    /// waits for the output's answer gets it from here; a second final report
    /// is ignored.
    ///
    /// # Errors
    ///
    /// `NotFound` when the account has no such log.
    pub async fn report(&self, account: AccountId, report: ClientReport) -> Result<Log, Error> {
        self.inner.report(account, report).await
    }

    /// Sends a webhook again, as a delivery and log of its own; see [`Resend`].
    ///
    /// # Errors
    ///
    /// `NotFound` when the account has no such log or output, `Conflict` when
    /// the content has been erased or the output is disabled.
    pub async fn resend(&self, account: AccountId, resend: Resend) -> Result<(), Error> {
        self.inner.resend(account, resend).await
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
        request: Request,
        response: Option<ScriptResponse>,
        metadata: BTreeMap<String, String>,
    ) -> Result<serde_json::Value, Error> {
        self.inner.invoke(account, function, request, response, metadata).await
    }

    /// How many of the account's clients are connected to this relay.
    #[must_use]
    pub fn client_count(&self, account: AccountId) -> u64 {
        self.inner.hub.count(account)
    }

    /// Ends the subscriptions of the account's clients that `ends` picks: when
    /// their credential has been withdrawn.
    pub fn close_clients(&self, account: AccountId, ends: impl Fn(&ClientInfo) -> bool) {
        self.inner.hub.close(account, ends);
    }

    /// Says that a bucket has changed, with the inputs and outputs that it has
    /// and that it had: the next webhook sees the change.
    pub fn bucket_changed(&self, bucket: &Bucket) {
        self.inner.routes.forget(bucket);
        for input in &bucket.inputs {
            if !input.spec.custom_domain.is_empty() {
                self.domain_changed(&input.spec.custom_domain);
            }
        }
    }

    /// Says that a domain has been reserved or given back, or that an input has
    /// come to it or left it: the next request sees the change.
    pub fn domain_changed(&self, name: &str) {
        self.inner.sites.forget(name);
    }

    /// Says that a function or one of its variables has changed: the next run
    /// sees the change.
    pub fn function_changed(&self, function: FunctionId) {
        self.inner.scripts.forget(function);
    }

    /// Says that a cron was made or changed: it may run sooner than any other.
    pub fn crons_changed(&self) {
        self.inner.crons.changed();
    }
}

impl Inner {
    fn source(&self) -> Source<'_> {
        Source { stores: &self.stores, clock: &*self.clock, options: &self.options }
    }

    async fn route_of_input(&self, id: InputId) -> Result<Option<Arc<Route>>, Error> {
        self.routes.of_input(id, &self.source()).await
    }

    async fn route_of_output(&self, id: OutputId) -> Result<Option<Arc<Route>>, Error> {
        self.routes.of_output(id, &self.source()).await
    }
}

/// Puts a [`Relay`] together.
#[derive(Debug)]
pub struct RelayBuilder {
    stores: Stores,
    forwarder: Arc<dyn Forwarder>,
    clock: Arc<dyn Clock>,
    functions: Option<Arc<dyn FunctionRuntime>>,
    limits: Option<Arc<Limits>>,
    observer: Arc<dyn Observer>,
    options: RelayOptions,
    node: NodeId,
}

impl RelayBuilder {
    /// Takes the time from `clock` in place of the machine's.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Runs functions; without a runtime, what needs one fails.
    #[must_use]
    pub fn functions(mut self, runtime: Arc<dyn FunctionRuntime>) -> Self {
        self.functions = Some(runtime);
        self
    }

    /// Holds accounts to the webhooks a month that their plans include; past
    /// them senders get 429. Without this there is no limit.
    #[must_use]
    pub fn limits(mut self, limits: Arc<Limits>) -> Self {
        self.limits = Some(limits);
        self
    }

    /// Tells `observer` what happens.
    #[must_use]
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observer = observer;
        self
    }

    /// Sets the bounds.
    #[must_use]
    pub fn options(mut self, options: RelayOptions) -> Self {
        self.options = options;
        self
    }

    /// Names this node among those that share a store. A node that keeps its
    /// name over a restart goes on at once with what it held.
    #[must_use]
    pub fn node(mut self, node: NodeId) -> Self {
        self.node = node;
        self
    }

    /// The relay.
    #[must_use]
    pub fn build(self) -> Relay {
        let Self { stores, forwarder, clock, functions, limits, observer, options, node } = self;
        let inner = Inner {
            routes: Routes::new(&options),
            scripts: Scripts::new(&options),
            sites: Sites::new(&options),
            answers: Answers::default(),
            dispatch: Dispatch::default(),
            hub: Hub::default(),
            crons: Crons::new(options.cron_concurrency),
            refusals: Arc::default(),
            receiving: Budget::new(options.max_receiving_bytes),
            memory: Budget::new(options.memory_budget_bytes),
            stores,
            clock,
            forwarder,
            functions,
            limits,
            observer,
            options,
            node,
        };
        Relay { inner: Arc::new(inner) }
    }
}

#[cfg(test)]
mod tests;
