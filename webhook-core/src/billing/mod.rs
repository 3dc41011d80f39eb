//! The payment processor: who pays, checkout sessions, and what it reports.
//!
//! It is behind [`BillingProvider`], which the crate `webhook-stripe` implements over
//! Stripe's API; [`Unconfigured`] stands for none. What the account may have is decided
//! by its [plan](crate::plan), which follows its subscription.

mod country;
mod tax;
mod unconfigured;

use std::fmt;

use async_trait::async_trait;
use http::HeaderMap;

pub use country::is_country;
pub use tax::is_tax_id_type;
pub use unconfigured::Unconfigured;

use crate::{
    clock::Timestamp,
    error::{Error, ErrorKind},
    id::AccountId,
    model::{BillingDetailsSpec, PlanItem, Subscription},
};

/// A payment processor.
///
/// Each call is complete when it returns: what can be tried again has been,
/// with the processor's means against doing it twice.
#[async_trait]
pub trait BillingProvider: Send + Sync + fmt::Debug {
    /// Whether there is one at all.
    fn is_configured(&self) -> bool {
        true
    }

    /// Makes or changes the customer that stands for an account, and returns
    /// its ID, which is another one when the processor had lost it.
    async fn save_customer(&self, customer: &Customer<'_>) -> Result<String, BillingError>;

    /// What is sold at this price.
    async fn price(&self, id: &str) -> Result<Price, BillingError>;

    /// Starts a checkout session for a new subscription.
    async fn start_subscription(
        &self,
        checkout: &Checkout<'_>,
    ) -> Result<CheckoutSession, BillingError>;

    /// Starts a checkout session that puts a means of payment on file.
    async fn start_setup(
        &self,
        account: AccountId,
        customer_id: &str,
    ) -> Result<CheckoutSession, BillingError>;

    /// A subscription as it is at this moment; none when there is none any more.
    async fn subscription(&self, id: &str) -> Result<Option<Subscribed>, BillingError>;

    /// Ends a subscription at once and gives back what is paid for the rest of
    /// its time. One that has ended is left alone.
    async fn end_subscription(&self, id: &str) -> Result<(), BillingError>;

    /// Checks who sent a request of the processor's, and reads it.
    ///
    /// # Errors
    ///
    /// [`Unauthorized`](ErrorKind::Unauthorized) unless the processor signed
    /// it, [`Invalid`](ErrorKind::Invalid) when it cannot be read,
    /// [`NotFound`](ErrorKind::NotFound) when no such requests are expected.
    fn event(&self, headers: &HeaderMap, body: &[u8], now: Timestamp) -> Result<Event, Error>;
}

/// An account as the processor is to know it.
#[derive(Clone, Copy, Debug)]
pub struct Customer<'a> {
    /// The account.
    pub account: AccountId,
    /// What the operator calls it; used where there are no details.
    pub account_name: &'a str,
    /// What the processor called it so far.
    pub id: Option<&'a str>,
    /// Who bills are made out to.
    pub details: Option<&'a BillingDetailsSpec>,
}

/// What is sold at a price.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Price {
    /// Whether it can be bought now.
    pub is_active: bool,
    /// Whether it is paid again and again.
    pub is_recurring: bool,
}

/// A subscription that is to be paid for.
#[derive(Clone, Copy, Debug)]
pub struct Checkout<'a> {
    /// The account.
    pub account: AccountId,
    /// What the processor calls it.
    pub customer_id: &'a str,
    /// The price of the plan.
    pub price: &'a str,
    /// What is subscribed to besides.
    pub items: &'a [PlanItem],
    /// The subscription that ends when this one begins.
    pub replaces: Option<&'a str>,
}

/// A checkout session that was started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckoutSession {
    /// What a browser shows the payment processor.
    pub publishable_key: String,
    /// The session.
    pub session_id: String,
    /// Where somebody pays; none when the processor has no page of its own for that.
    pub url: Option<String>,
}

/// A subscription, and whose it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscribed {
    /// The subscription; `read_at` is when the processor was asked.
    pub subscription: Subscription,
    /// Who pays.
    pub customer_id: String,
    /// The account that it was started for, when it was started here.
    pub account: Option<AccountId>,
    /// The subscription whose place it takes.
    pub replaces: Option<String>,
}

/// Something that the processor reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Identifies it; it may be reported more than once.
    pub id: String,
    /// What happened, in the processor's words.
    pub kind: String,
    /// The subscription that has changed, if one has.
    pub subscription_id: Option<String>,
}

/// Why the processor did not do what it was asked for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BillingError {
    /// There is none.
    #[error("no payment processor is configured")]
    Unconfigured,
    /// It refuses the request, and says why.
    #[error("{0}")]
    Refused(String),
    /// There is no such price. Which of several: `items[n]` by its number, the
    /// plan's own when there is none.
    #[error("there is no such price")]
    NoSuchPrice {
        /// The item's number, from 0.
        item: Option<usize>,
    },
    /// The customer has been deleted there.
    #[error("there is no such customer")]
    NoSuchCustomer,
    /// It cannot be reached, or answers nothing that makes sense. The cause is for the log.
    #[error("{message}")]
    Failed {
        /// For the caller.
        message: &'static str,
        /// For the log.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl BillingError {
    /// The same for a caller, with the status that the interface has for it.
    #[must_use]
    pub fn into_error(self) -> Error {
        let message = self.to_string();
        match self {
            Self::Unconfigured | Self::Refused(_) | Self::NoSuchCustomer => {
                Error::conflict(message)
            }
            Self::NoSuchPrice { item } => {
                let field = match item {
                    Some(number) => format!("optional_items[{number}].price_id"),
                    None => "plan_id".to_owned(),
                };
                Error::new(ErrorKind::NotFound, format!("{field}: {message}"))
            }
            Self::Failed { source, .. } => {
                Error::new(ErrorKind::Internal, message).caused_by(source)
            }
        }
    }
}
