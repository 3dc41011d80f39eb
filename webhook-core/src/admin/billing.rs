//! Billing details, checkout sessions, and what the payment processor reports.

use std::time::Duration;

use http::HeaderMap;

use super::{Admin, Caller, check, log::before};
use crate::{
    billing::{BillingError, Checkout, CheckoutSession, Customer, Event, Subscribed},
    error::{Error, ErrorKind, invalid_if},
    id::AccountId,
    model::{Billing, BillingDetailsSpec, PlanChange, PlanItem},
};

/// What a checkout session is for.
#[derive(Clone, Copy)]
enum Wanted<'a> {
    Subscription { price: &'a str, items: &'a [PlanItem], replaces: Option<&'a str> },
    Setup,
}

impl Admin {
    /// Who the account's bills are made out to, and what the payment processor
    /// calls it, if it knows it.
    ///
    /// # Errors
    ///
    /// [`NotFound`](ErrorKind::NotFound) before that was said.
    pub async fn billing_details(
        &self,
        caller: &Caller,
    ) -> Result<(BillingDetailsSpec, Option<String>), Error> {
        caller.require_account()?;
        let billing = self.stores.billing.billing(caller.account_id()).await?;
        let details = billing.details.ok_or_else(|| Error::not_found("billing details"))?;
        Ok((details, billing.customer_id))
    }

    /// Says who the account's bills are made out to: here and, if there is one,
    /// to the payment processor.
    ///
    /// # Errors
    ///
    /// [`Invalid`](ErrorKind::Invalid), naming the field;
    /// [`Conflict`](ErrorKind::Conflict) with the processor's reason when it
    /// refuses them, a tax ID for example; [`Internal`](ErrorKind::Internal)
    /// when it cannot be reached. Nothing is stored then.
    pub async fn put_billing_details(
        &self,
        caller: &Caller,
        mut details: BillingDetailsSpec,
    ) -> Result<(BillingDetailsSpec, Option<String>), Error> {
        caller.require_account()?;
        details.country.make_ascii_uppercase();
        check::billing_details(&details)?;
        let account = caller.account_id();
        let _turn = self.bill(account).await;
        let billing = self.stores.billing.billing(account).await?;
        let mut customer_id = billing.customer_id.clone();
        if self.billing.is_configured() {
            let billing = Billing { details: Some(details.clone()), ..billing };
            customer_id = Some(self.customer(account, &billing).await?);
        }
        self.stores.billing.put_billing_details(account, &details).await?;
        Ok((details, customer_id))
    }

    /// Starts a checkout session for a new subscription. When the account has
    /// another one, that ends as soon as the new one begins.
    ///
    /// # Errors
    ///
    /// [`Invalid`](ErrorKind::Invalid), naming the field;
    /// [`NotFound`](ErrorKind::NotFound) when there is no such price;
    /// [`Conflict`](ErrorKind::Conflict) when the account is subscribed to it,
    /// there is no payment processor, or it refuses;
    /// [`Internal`](ErrorKind::Internal) when it cannot be reached.
    pub async fn start_checkout(
        &self,
        caller: &Caller,
        change: PlanChange,
    ) -> Result<CheckoutSession, Error> {
        caller.require_account()?;
        check::plan_change(&change)?;
        if !self.billing.is_configured() {
            return Err(BillingError::Unconfigured.into_error());
        }
        let PlanChange { plan_id, optional_items } = change;
        let account = caller.account_id();
        let _turn = self.bill(account).await;
        let billing = self.stores.billing.billing(account).await?;
        let current = billing.subscription.as_ref().filter(|current| current.status.is_current());
        if current.is_some_and(|current| current.prices.contains(&plan_id)) {
            return Err(Error::conflict("plan_id: the account is subscribed to it already"));
        }
        let no_such_price =
            |reason: &str| Error::new(ErrorKind::NotFound, format!("plan_id: {reason}"));
        if !self.quotas.plans().sells(&plan_id) {
            return Err(no_such_price("there is no such price"));
        }
        let price = self.billing.price(&plan_id).await.map_err(BillingError::into_error)?;
        if !price.is_active {
            return Err(no_such_price("it is not sold any more"));
        }
        invalid_if(!price.is_recurring, "plan_id", "is not the price of a subscription")?;
        let wanted = Wanted::Subscription {
            price: &plan_id,
            items: &optional_items,
            replaces: current.map(|current| &*current.id),
        };
        self.start_session(account, &billing, wanted).await
    }

    /// Starts a checkout session that puts a means of payment on file.
    ///
    /// # Errors
    ///
    /// [`Internal`](ErrorKind::Internal), whatever the reason: the interface
    /// lists nothing else.
    pub async fn start_checkout_setup(&self, caller: &Caller) -> Result<CheckoutSession, Error> {
        caller.require_account()?;
        let internal = |error: Error| match error.kind() {
            ErrorKind::Conflict | ErrorKind::NotFound => error.with_kind(ErrorKind::Internal),
            _ => error,
        };
        if !self.billing.is_configured() {
            return Err(internal(BillingError::Unconfigured.into_error()));
        }
        let account = caller.account_id();
        let _turn = self.bill(account).await;
        let billing = self.stores.billing.billing(account).await?;
        self.start_session(account, &billing, Wanted::Setup).await.map_err(internal)
    }

    /// Starts a session for the account's customer, which is made when there
    /// is none, or when the processor has lost it.
    async fn start_session(
        &self,
        account: AccountId,
        billing: &Billing,
        wanted: Wanted<'_>,
    ) -> Result<CheckoutSession, Error> {
        if let Some(id) = &billing.customer_id {
            match self.start(account, id, wanted).await {
                Err(BillingError::NoSuchCustomer) => {}
                started => return started.map_err(BillingError::into_error),
            }
        }
        let id = self.customer(account, billing).await?;
        self.start(account, &id, wanted).await.map_err(BillingError::into_error)
    }

    async fn start(
        &self,
        account: AccountId,
        customer_id: &str,
        wanted: Wanted<'_>,
    ) -> Result<CheckoutSession, BillingError> {
        match wanted {
            Wanted::Subscription { price, items, replaces } => {
                let checkout = Checkout { account, customer_id, price, items, replaces };
                self.billing.start_subscription(&checkout).await
            }
            Wanted::Setup => self.billing.start_setup(account, customer_id).await,
        }
    }

    /// Makes or changes the account's customer, and remembers its ID.
    async fn customer(&self, account: AccountId, billing: &Billing) -> Result<String, Error> {
        let named = self.stores.accounts.account(account).await?;
        let customer = Customer {
            account,
            account_name: named.as_ref().map_or("", |account| &account.name),
            id: billing.customer_id.as_deref(),
            details: billing.details.as_ref(),
        };
        let id = self.billing.save_customer(&customer).await.map_err(BillingError::into_error)?;
        if billing.customer_id.as_ref() != Some(&id) {
            self.stores.billing.put_customer(account, &id).await?;
        }
        Ok(id)
    }
}

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
    /// The errors of [`BillingProvider::event`](crate::billing::BillingProvider::event);
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
            // No account pays twice. When this fails, the event comes again.
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
