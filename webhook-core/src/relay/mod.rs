//! The data path: a folder for each stretch of the way of a webhook.
//!
//! ```text
//!  sender ──► intake/   receive ──► stage ──► route ──► accept ──► the answer to the sender
//!                       finds the   the       the       one transaction: the webhook
//!                       input,      input's   rules of  and a delivery for each output
//!                       checks,     function  outputs     │
//!                       reads         ▲                   │ after the commit
//!                                     │ inject            ▼
//!  sources/  crons, notify, ──────────┘      deliver/   queue ──► attempt ──► settle
//!            resend, replays                   ▲        one for   function,   outcome,
//!                                              │        each      request     retry
//!                 the store, with deliveries ──┘        output
//! ```
//!
//! Each part is a struct that is made once, from the parts that it uses. `clients` connect and get
//! webhooks instead of requests. `erase` removes webhooks, also from queues. Parts of several
//! folders use the `cache` of stored buckets, the runs of `functions` and the `waiters` for the
//! response of a destination. `parts` has the options, the observer and the stores.
//! Imports lead down only: sources → intake → deliver → clients → cache, without a circle.
//!
//! A delivery is attempted at least once: after a crash between the request and
//! the commit of its outcome it is sent again, with the same `X-Webhook-Relay-Id`.

mod byte_semaphore;
mod cache;
mod changes;
mod clients;
mod cluster;
mod deliver;
mod detach;
mod erase;
mod functions;
mod headers;
mod held;
mod intake;
mod loops;
#[cfg(feature = "admin")]
mod management;
mod parts;
mod run;
mod sources;
mod take_part;
mod waiters;
mod watch;

use std::sync::Arc;

pub use crate::cluster::{ClientInfo, ConnectedClient, Listening, StreamedWebhook};

#[cfg(test)]
pub(crate) use self::deliver::findings::{Finding, Found};
use self::{
    cache::BucketCache,
    clients::Clients,
    cluster::Cluster,
    deliver::{Deliverer, DelivererParts, Workers, findings::Findings},
    erase::Eraser,
    intake::{accept::Intake, checks::Checker, receive::Receiver},
    sources::{crons::Crons, notify::Notifier, replays::Replays, resend::Resender},
    waiters::Waiters,
    watch::Watch,
};
pub use self::{
    clients::{Streamed, Subscription},
    intake::receive::{
        ClientAddr, IngestService, InvalidProxies, TrustedProxies, host_name, requested_host,
    },
    parts::{
        observer::{NoObserver, Observer, Swept},
        options::RelayOptions,
    },
};
pub(crate) use self::{functions::Functions, parts::RelayParts};
#[cfg(feature = "admin")]
pub(crate) use self::{
    functions::{Candidate, Tried},
    intake::{route::answers, signature_check::Asked},
    parts::quota::{Quota, Ticket},
    sources::replays::Source,
};
use crate::{
    error::Error,
    id::{AccountId, FunctionId},
    model::{Invoked, Resend},
};

/// Receives webhooks and delivers them. A clone is a handle on the same relay.
#[derive(Clone, Debug)]
pub struct Relay {
    pub(crate) receiver: Arc<Receiver>,
    pub(crate) deliverer: Arc<Deliverer>,
    pub(crate) clients: Arc<Clients>,
    resender: Arc<Resender>,
    crons: Arc<Crons>,
    pub(crate) replays: Arc<Replays>,
    pub(crate) eraser: Arc<Eraser>,
    pub(crate) functions: Arc<Functions>,
    buckets: Arc<BucketCache>,
    pub(crate) findings: Arc<Findings>,
    watch: Arc<Watch>,
    pub(crate) notifier: Arc<Notifier>,
    cluster: Option<Arc<Cluster>>,
    #[cfg(feature = "admin")]
    pub(crate) destinations: Arc<crate::destination::Destinations>,
}

impl Relay {
    /// A relay of these parts.
    #[must_use]
    pub(crate) fn new(parts: &RelayParts) -> Self {
        let cluster = Cluster::join(parts);
        let waiters = Arc::new(Waiters::new(cluster.clone()));
        let (workers, findings) = (Arc::<Workers>::default(), Arc::new(Findings::new(parts)));
        let watch = Arc::new(Watch::new(&parts.stores, parts.clock.clone()));
        let buckets = parts.buckets();
        let functions = Arc::new(Functions::new(parts, &watch));
        let clients = Arc::new(Clients::new(parts, &buckets, &waiters, &cluster));
        let checker = Arc::new(Checker::new(parts, &buckets, &watch));
        let with = DelivererParts {
            buckets: &buckets,
            functions: &functions,
            clients: &clients,
            waiters: &waiters,
            findings: &findings,
            watch: &watch,
            workers: &workers,
        };
        let deliverer = Arc::new(Deliverer::new(parts, &with));
        let intake = Arc::new(Intake::new(parts, &deliverer, &functions, &clients, &waiters));
        let resender = Arc::new(Resender::new(parts, &intake, &buckets, &checker));
        let receiver = Receiver::new(parts, &buckets, &checker, &intake, &cluster);
        Self {
            receiver: Arc::new(receiver),
            crons: Arc::new(Crons::new(parts, &intake, &workers)),
            replays: Arc::new(Replays::new(parts, &resender, &watch)),
            eraser: Arc::new(Eraser::new(parts, &deliverer)),
            notifier: Arc::new(Notifier::new(parts, &watch, &intake)),
            deliverer,
            clients,
            resender,
            functions,
            buckets,
            findings,
            watch,
            cluster,
            #[cfg(feature = "admin")]
            destinations: parts.destinations.clone(),
        }
    }

    /// The service that receives webhooks.
    #[must_use]
    pub fn ingest(&self) -> IngestService {
        IngestService::new(Arc::clone(&self.receiver))
    }

    /// Delivers, runs crons and goes on with replays until `shutdown` completes, then finishes what is in flight
    /// (for [`RelayOptions::drain_timeout`] at most) and returns.
    ///
    /// Until this runs, webhooks are received and stored but not delivered. It
    /// fails when the store cannot be read at the start.
    pub async fn run(&self, shutdown: impl Future<Output = ()>) -> Result<(), Error> {
        let ended = tokio::select! {
            ended = self.run_alone(shutdown) => ended,
            () = self.take_part() => Ok(()),
        };
        self.take_leave();
        ended
    }

    /// The number of slow outputs. Their last 50 attempts have failed, and this relay makes at most
    /// 2 attempts a second for each.
    #[must_use]
    pub fn slow_outputs(&self) -> usize {
        self.deliverer.slow_outputs()
    }

    /// Sends a webhook again, as a delivery and log of its own; see [`Resend`].
    ///
    /// # Errors
    ///
    /// `NotFound` when the account has no such log or output, `Conflict` when
    /// the content has been erased or the output is disabled.
    pub async fn resend(&self, account: AccountId, resend: Resend) -> Result<(), Error> {
        self.resender.resend(account, resend).await
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
}

#[cfg(test)]
mod tests;
