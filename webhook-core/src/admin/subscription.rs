//! What the payment processor reports.

use std::time::Duration;

use http::HeaderMap;

use super::{Admin, log::before};
use crate::{
    billing::{BillingError, Event, Subscribed},
    error::{Error, ErrorKind},
    id::AccountId,
};

/// How long an event is remembered. Stripe reports one for three days.
const REMEMBERED: Duration = Duration::from_secs(7 * 24 * 60 * 60);

impl Admin {
    /// Takes a request of the payment processor's: the subscription that it is
    /// about becomes the account's plan.
    ///
    /// What the subscription is like is asked of the processor, not read from
    /// the event: so events may come late, twice and in any order.
    ///
    /// # Errors
    ///
    /// Those of [`BillingProvider::event`](crate::billing::BillingProvider::event);
    /// [`Internal`](crate::ErrorKind::Internal) when the processor cannot be
    /// asked: it reports again, because the event is not recorded then.
    pub async fn take_billing_event(&self, headers: &HeaderMap, body: &[u8]) -> Result<(), Error> {
        let now = self.now();
        let Event { id, kind, subscription_id } = self.billing.event(headers, body, now)?;
        if self.stores.billing.is_event_recorded(&id).await? {
            return Ok(());
        }
        if let Some(subscription) = subscription_id {
            tracing::debug!(kind, "the payment processor reports on a subscription");
            self.follow(&subscription).await?;
        }
        self.stores.billing.record_event(&id, now, before(now, REMEMBERED)).await
    }

    /// Gives the account what its subscription is good for.
    async fn follow(&self, id: &str) -> Result<(), Error> {
        let read = self.billing.subscription(id).await.map_err(comes_again)?;
        let Some(Subscribed { subscription, customer_id, account, replaces }) = read else {
            tracing::warn!("the payment processor reports on a subscription that it does not have");
            return Ok(());
        };
        let Some(account) = self.account_of(&customer_id, account).await? else {
            tracing::warn!("a subscription at the payment processor belongs to no account");
            return Ok(());
        };
        {
            let _turn = self.bill(account).await;
            let stored = self.stores.billing.billing(account).await?.subscription;
            if stored.as_ref().is_some_and(|stored| !subscription.replaces(stored)) {
                return Ok(());
            }
            self.stores.billing.put_subscription(account, &subscription).await?;
        }
        self.relay.plan_changed(account);
        if self.quotas.limits_logs() {
            self.retention_changed.notify_one();
        }
        let replaced = replaces.filter(|replaced| *replaced != subscription.id);
        match replaced.filter(|_| subscription.status.is_current()) {
            // Nobody pays twice. When this fails the event comes again.
            Some(replaced) => self.billing.end_subscription(&replaced).await.map_err(comes_again),
            None => Ok(()),
        }
    }

    /// Whose subscription it is: that of the account with this customer, or of
    /// the one that it was started for.
    async fn account_of(
        &self,
        customer_id: &str,
        started_for: Option<AccountId>,
    ) -> Result<Option<AccountId>, Error> {
        if let Some(account) = self.stores.billing.account_of_customer(customer_id).await? {
            return Ok(Some(account));
        }
        let Some(account) = started_for else { return Ok(None) };
        Ok(self.stores.accounts.account(account).await?.map(|account| account.id))
    }
}

/// Whatever the processor says to its own event, it has to send it again.
fn comes_again(error: BillingError) -> Error {
    error.into_error().with_kind(ErrorKind::Internal)
}
