//! Billing details, subscriptions, and the payment processor's events.

use std::fmt;

use async_trait::async_trait;

use crate::{
    clock::Timestamp,
    error::Error,
    id::AccountId,
    model::{Billing, BillingDetailsSpec, Subscription},
};

/// Keeps who pays, and what an account is subscribed to.
///
/// No account need be stored before its billing; what was never put is empty.
#[async_trait]
pub trait BillingStore: Send + Sync + fmt::Debug {
    /// What is known about the account's bills.
    async fn billing(&self, account: AccountId) -> Result<Billing, Error>;

    /// The account that the payment processor calls by this name.
    async fn account_of_customer(&self, customer_id: &str) -> Result<Option<AccountId>, Error>;

    /// Stores the details in place of the former.
    async fn put_billing_details(
        &self,
        account: AccountId,
        details: &BillingDetailsSpec,
    ) -> Result<(), Error>;

    /// Stores what the processor calls the account. A name that another account
    /// has is a conflict.
    async fn put_customer(&self, account: AccountId, customer_id: &str) -> Result<(), Error>;

    /// Stores the subscription in place of the former, unless that is the same
    /// one and was read from the processor later.
    async fn put_subscription(
        &self,
        account: AccountId,
        subscription: &Subscription,
    ) -> Result<(), Error>;

    /// Whether this event of the processor was recorded.
    async fn is_event_recorded(&self, id: &str) -> Result<bool, Error>;

    /// Records an event, once or again, and forgets those from before
    /// `forget_before`.
    async fn record_event(
        &self,
        id: &str,
        now: Timestamp,
        forget_before: Timestamp,
    ) -> Result<(), Error>;
}
