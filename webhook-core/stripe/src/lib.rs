//! Stripe, over its HTTP API: a [`BillingProvider`].
//!
//! ```
//! use std::{sync::Arc, time::Duration};
//! use webhook_core::{SystemClock, forward::Forwarder, model::Secret};
//! use webhook_stripe::{DEFAULT_API_BASE, Stripe, StripeOptions};
//!
//! fn stripe(secret_key: Secret, forwarder: Arc<dyn Forwarder>) -> Stripe {
//!     let options = StripeOptions {
//!         secret_key,
//!         publishable_key: "pk_live_…".to_owned(),
//!         webhook_secret: None,
//!         api_base: DEFAULT_API_BASE.to_owned(),
//!         success_url: "https://shop.example/thanks".to_owned(),
//!         cancel_url: "https://shop.example/".to_owned(),
//!         timeout: Duration::from_secs(15),
//!     };
//!     Stripe::new(options, forwarder, Arc::new(SystemClock))
//! }
//! ```
//!
//! Sent are forms, read is JSON. A request is tried three times, half a second
//! and two seconds apart, when there is no answer or one of 409, 429 and 5xx,
//! each time with the same `Idempotency-Key`, so that Stripe does it once. When
//! Stripe says `Stripe-Should-Retry`, that decides; a `Retry-After` is waited
//! for as long as a caller can be kept waiting.
//!
//! The secret key is in one header and nowhere else: `Debug` hides it, and what
//! Stripe answers is searched for keys before it goes anywhere.

mod client;
mod customer;
mod event;
mod failure;
mod form;
mod object;
#[cfg(test)]
mod tests;

use std::{fmt, sync::Arc, time::Duration};

use async_trait::async_trait;
use http::{HeaderMap, Method};
use webhook_core::{
    AccountId, Clock, Error, Timestamp,
    billing::{
        BillingError, BillingProvider, Checkout, CheckoutSession, Customer, Event, Price,
        Subscribed,
    },
    forward::Forwarder,
    model::{PlanItem, Secret},
};

use failure::Failure;
use form::Form;

/// Where Stripe's API is.
pub const DEFAULT_API_BASE: &str = "https://api.stripe.com";

/// The keys of a Stripe account, and where it sends customers back to.
#[derive(Clone, Debug)]
pub struct StripeOptions {
    /// `sk_…` or `rk_…`: what this program shows Stripe.
    pub secret_key: Secret,
    /// `pk_…`: what a browser shows Stripe.
    pub publishable_key: String,
    /// `whsec_…`: what Stripe signs its events with; without one they are not expected.
    pub webhook_secret: Option<Secret>,
    /// Where the API is, without a slash at the end.
    pub api_base: String,
    /// Where a customer lands who has paid.
    pub success_url: String,
    /// Where a customer lands who has not.
    pub cancel_url: String,
    /// How long one request may take.
    pub timeout: Duration,
}

/// Bills through Stripe.
pub struct Stripe {
    options: StripeOptions,
    forwarder: Arc<dyn Forwarder>,
    clock: Arc<dyn Clock>,
}

impl Stripe {
    /// Sends through `forwarder`, which must be allowed to connect to `api_base`.
    #[must_use]
    pub fn new(
        options: StripeOptions,
        forwarder: Arc<dyn Forwarder>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { options, forwarder, clock }
    }

    /// Starts a checkout session of which this much is known.
    async fn start_session(
        &self,
        mode: &str,
        account: AccountId,
        customer_id: &str,
        mut form: Form,
    ) -> Result<CheckoutSession, BillingError> {
        form.add("mode", mode);
        form.add("customer", customer_id);
        form.add("client_reference_id", account);
        form.add("metadata[account_id]", account);
        form.add("success_url", &self.options.success_url);
        form.add("cancel_url", &self.options.cancel_url);
        let started: object::Session = self
            .call(Method::POST, "/v1/checkout/sessions", form)
            .await
            .map_err(|failure| match failure.missing() {
                Some("customer") => BillingError::NoSuchCustomer,
                Some(param) if param.starts_with("line_items") => {
                    BillingError::NoSuchPrice { item: item_of(param) }
                }
                _ => failure.into(),
            })?;
        Ok(CheckoutSession {
            publishable_key: self.options.publishable_key.clone(),
            session_id: started.id,
            url: started.url,
        })
    }
}

impl fmt::Debug for Stripe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stripe").field("api_base", &self.options.api_base).finish_non_exhaustive()
    }
}

#[async_trait]
impl BillingProvider for Stripe {
    async fn save_customer(&self, customer: &Customer<'_>) -> Result<String, BillingError> {
        Ok(self.put_customer(customer).await?)
    }

    async fn price(&self, id: &str) -> Result<Price, BillingError> {
        let found = self.get::<object::Price>(&format!("/v1/prices/{id}")).await;
        let price = found.map_err(|failure| match failure {
            Failure::Refused(refusal) if refusal.status == 404 => {
                BillingError::NoSuchPrice { item: None }
            }
            failure => failure.into(),
        })?;
        Ok(Price { is_active: price.active, is_recurring: price.recurring.is_some() })
    }

    async fn start_subscription(
        &self,
        checkout: &Checkout<'_>,
    ) -> Result<CheckoutSession, BillingError> {
        let Checkout { account, customer_id, price, items, replaces } = *checkout;
        let mut form = Form::default();
        form.add("line_items[0][price]", price);
        form.add("line_items[0][quantity]", 1);
        let metadata = "subscription_data[metadata]";
        form.add(&format!("{metadata}[account_id]"), account);
        if let Some(replaced) = replaces {
            form.add(&format!("{metadata}[replaces]"), replaced);
        }
        for (number, item) in items.iter().enumerate() {
            let PlanItem { price_id, quantity, description, metadata: more } = item;
            let line = format!("line_items[{}]", number + 1);
            form.add(&format!("{line}[price]"), price_id);
            form.add(&format!("{line}[quantity]"), (*quantity).max(1));
            // A line of a session has no metadata of its own.
            if !description.is_empty() {
                form.add(&format!("{metadata}[item{number}.description]"), description);
            }
            for (key, value) in more {
                form.add(&format!("{metadata}[item{number}.{key}]"), value);
            }
        }
        self.start_session("subscription", account, customer_id, form).await
    }

    async fn start_setup(
        &self,
        account: AccountId,
        customer_id: &str,
    ) -> Result<CheckoutSession, BillingError> {
        let mut form = Form::default();
        form.add("payment_method_types[0]", "card");
        self.start_session("setup", account, customer_id, form).await
    }

    async fn subscription(&self, id: &str) -> Result<Option<Subscribed>, BillingError> {
        // Before it is asked: what is known is at least as new as that.
        let read_at = self.clock.now();
        match self.get::<object::Subscription>(&format!("/v1/subscriptions/{id}")).await {
            Ok(subscription) => Ok(Some(subscription.read(read_at))),
            Err(Failure::Refused(refusal)) if refusal.status == 404 => Ok(None),
            Err(failure) => Err(failure.into()),
        }
    }

    async fn end_subscription(&self, id: &str) -> Result<(), BillingError> {
        let mut form = Form::default();
        form.add("prorate", true);
        form.add("invoice_now", true);
        let path = format!("/v1/subscriptions/{id}");
        match self.call::<object::Named>(Method::DELETE, &path, form).await {
            Ok(_) => Ok(()),
            Err(Failure::Refused(refusal)) if refusal.status == 404 => Ok(()),
            Err(failure) => Err(failure.into()),
        }
    }

    fn event(&self, headers: &HeaderMap, body: &[u8], now: Timestamp) -> Result<Event, Error> {
        event::read(self.options.webhook_secret.as_ref(), headers, body, now)
    }
}

/// The number of the item that `line_items[n][price]` is, if it is not the plan itself.
fn item_of(param: &str) -> Option<usize> {
    let number = param.strip_prefix("line_items[")?.split(']').next()?;
    number.parse::<usize>().ok()?.checked_sub(1)
}
