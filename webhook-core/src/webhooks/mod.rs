//! The front door: a relay with its management, put together once.

mod builder;
#[cfg(feature = "admin")]
mod management;

#[cfg(test)]
mod tests;

pub use builder::WebhooksBuilder;

use std::sync::Arc;

#[cfg(feature = "admin")]
use crate::admin::Admin;
use crate::{
    clock::Ids,
    error::{Error, ErrorKind},
    id::AccountId,
    model::Log,
    relay::{ClientInfo, ConnectedClient, IngestService, Listening, Relay, Subscription},
    store::{ClientReport, Stores},
};

/// Receives webhooks, delivers them, and manages what is received and where it
/// goes. A clone is a handle on the same.
///
/// The relay and the management share one clock, one source of identifiers, one
/// set of quotas and one runtime for functions, and the relay hears of every
/// change that the management makes.
///
/// ```
/// # async fn example(shutdown: impl Future<Output = ()>) -> Result<(), webhook_core::Error> {
/// use webhook_core::{
///     Webhooks,
///     forward::ScriptedForwarder,
///     store::{Stores, memory::MemoryStore},
/// };
///
/// let webhooks = Webhooks::builder(Stores::of(MemoryStore::default()))
///     .forwarder(ScriptedForwarder::new()) // or an `HttpForwarder`
///     .build();
/// let (account, _key) = webhooks.admin().create_account("me", None).await?;
/// # let _ = account;
/// let _service = webhooks.ingest(); // for axum, hyper or any other server
/// webhooks.run(shutdown).await
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Webhooks {
    relay: Relay,
    #[cfg(feature = "admin")]
    admin: Arc<Admin>,
    ids: Arc<Ids>,
    can_send: bool,
}

impl Webhooks {
    /// What keeps everything; the rest has defaults. Without a
    /// [forwarder](WebhooksBuilder::forwarder) or another
    /// [destination](WebhooksBuilder::destination) webhooks are received and managed
    /// here, and have to be delivered elsewhere.
    #[must_use]
    pub fn builder(stores: Stores) -> WebhooksBuilder {
        WebhooksBuilder::new(stores)
    }

    /// The service that receives webhooks.
    #[must_use]
    pub fn ingest(&self) -> IngestService {
        self.relay.ingest()
    }

    /// The management operations.
    #[cfg(feature = "admin")]
    #[must_use]
    pub fn admin(&self) -> &Arc<Admin> {
        &self.admin
    }

    /// The clients that are connected here.
    #[must_use]
    pub fn clients(&self) -> Clients {
        Clients::new(self.relay.clone())
    }

    /// The data path itself, for those who manage buckets in another way than
    /// through [`admin`](Self::admin): it has to be told of their changes.
    #[must_use]
    pub fn relay(&self) -> &Relay {
        &self.relay
    }

    /// What makes new identifiers here.
    #[must_use]
    pub fn ids(&self) -> &Ids {
        &self.ids
    }

    /// Delivers and runs crons until `shutdown` completes, then finishes what is in flight
    /// (for [`drain_timeout`](crate::relay::RelayOptions::drain_timeout) at most) and returns.
    ///
    /// Until this runs, webhooks are received and stored but not delivered.
    ///
    /// # Errors
    ///
    /// When the store cannot be read at the start, and
    /// [`Unsupported`](ErrorKind::Unsupported) without a forwarder or another destination.
    pub async fn run(&self, shutdown: impl Future<Output = ()>) -> Result<(), Error> {
        self.require_destination()?;
        let pausing = async {
            loop {
                let finding = self.relay.findings.next().await;
                match self.relay.act_on(finding).await {
                    #[cfg(feature = "admin")]
                    Ok(Some(bucket)) => self.admin.tell_listener(|it| it.bucket_changed(&bucket)),
                    Ok(_) => {}
                    Err(error) => {
                        tracing::warn!(output = %finding.output, %error, "its state cannot be stored");
                    }
                }
            }
        };
        tokio::select! {
            ended = self.relay.run(shutdown) => ended,
            never = pausing => never,
        }
    }

    /// Runs the crons that are due, delivers everything that is and returns when nothing is: for tests
    /// and for programs that run from time to time. Not beside [`run`](Self::run).
    ///
    /// # Errors
    ///
    /// As for [`run`](Self::run).
    pub async fn run_until_idle(&self) -> Result<(), Error> {
        self.require_destination()?;
        self.relay.run_until_idle().await
    }

    fn require_destination(&self) -> Result<(), Error> {
        if self.can_send {
            return Ok(());
        }
        let message = "there is no forwarder: Webhooks::builder(…).forwarder(…) takes one";
        Err(Error::new(ErrorKind::Unsupported, message))
    }
}

/// The clients that are connected to one relay. [`Admin`](crate::admin::Admin) checks the rights of
/// a client; this type does not.
#[derive(Clone, Debug)]
pub struct Clients {
    relay: Relay,
}

impl Clients {
    fn new(relay: Relay) -> Self {
        Self { relay }
    }

    /// Subscribes a client to webhooks of the account, until the subscription is dropped.
    #[must_use]
    pub fn subscribe(
        &self,
        account: AccountId,
        listening: Listening,
        client: ClientInfo,
    ) -> Subscription {
        Subscription::new(Arc::clone(&self.relay.clients), account, listening, client)
    }

    /// The account's clients.
    #[must_use]
    pub fn of(&self, account: AccountId) -> Vec<ConnectedClient> {
        self.relay.clients.of(account)
    }

    /// How many clients the account has.
    #[must_use]
    pub fn count(&self, account: AccountId) -> u64 {
        self.relay.clients.count(account)
    }

    /// Takes a client's report on a webhook and answers the log. A sender that
    /// waits for the output's answer gets it from here; a second final report
    /// is ignored.
    ///
    /// # Errors
    ///
    /// [`NotFound`](crate::ErrorKind::NotFound) when the account has no such log.
    pub async fn report(&self, account: AccountId, report: ClientReport) -> Result<Log, Error> {
        Ok(self.relay.clients.report(account, report).await?.log)
    }

    /// Ends the subscriptions of the account's clients that `ends` picks: when
    /// their credential has been withdrawn.
    pub fn close(&self, account: AccountId, ends: impl Fn(&ClientInfo) -> bool) {
        self.relay.clients.close(account, ends);
    }
}
