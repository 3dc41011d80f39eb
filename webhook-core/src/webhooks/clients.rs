//! The clients that are connected: agents, and whoever else subscribes.

use crate::{
    error::Error,
    id::AccountId,
    model::Log,
    relay::{ClientInfo, ConnectedClient, Listening, Relay, Subscription},
    store::ClientReport,
};

/// The clients that are connected to one relay. Who may see and report what is
/// for [`Admin`](crate::admin::Admin) to say; here nobody is asked.
#[derive(Clone, Debug)]
pub struct Clients {
    relay: Relay,
}

impl Clients {
    pub(super) fn new(relay: Relay) -> Self {
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
        self.relay.subscribe(account, listening, client)
    }

    /// The account's clients.
    #[must_use]
    pub fn of(&self, account: AccountId) -> Vec<ConnectedClient> {
        self.relay.clients(account)
    }

    /// How many clients the account has.
    #[must_use]
    pub fn count(&self, account: AccountId) -> u64 {
        self.relay.client_count(account)
    }

    /// Takes a client's report on a webhook and answers the log. A sender that
    /// waits for the output's answer gets it from here; a second final report
    /// is ignored.
    ///
    /// # Errors
    ///
    /// [`NotFound`](crate::ErrorKind::NotFound) when the account has no such log.
    pub async fn report(&self, account: AccountId, report: ClientReport) -> Result<Log, Error> {
        Ok(self.relay.report(account, report).await?.log)
    }

    /// Ends the subscriptions of the account's clients that `ends` picks: when
    /// their credential has been withdrawn.
    pub fn close(&self, account: AccountId, ends: impl Fn(&ClientInfo) -> bool) {
        self.relay.close_clients(account, ends);
    }
}
