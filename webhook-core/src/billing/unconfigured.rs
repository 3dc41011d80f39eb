//! No payment processor.

use async_trait::async_trait;
use http::HeaderMap;

use super::{
    BillingError, BillingProvider, Checkout, CheckoutSession, Customer, Event, Price, Subscribed,
};
use crate::{
    clock::Timestamp,
    error::{Error, ErrorKind},
    id::AccountId,
};

/// Stands for none: billing details are kept, nothing can be bought.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unconfigured;

#[async_trait]
impl BillingProvider for Unconfigured {
    fn is_configured(&self) -> bool {
        false
    }

    async fn save_customer(&self, _: &Customer<'_>) -> Result<String, BillingError> {
        Err(BillingError::Unconfigured)
    }

    async fn price(&self, _: &str) -> Result<Price, BillingError> {
        Err(BillingError::Unconfigured)
    }

    async fn start_subscription(&self, _: &Checkout<'_>) -> Result<CheckoutSession, BillingError> {
        Err(BillingError::Unconfigured)
    }

    async fn start_setup(&self, _: AccountId, _: &str) -> Result<CheckoutSession, BillingError> {
        Err(BillingError::Unconfigured)
    }

    async fn subscription(&self, _: &str) -> Result<Option<Subscribed>, BillingError> {
        Err(BillingError::Unconfigured)
    }

    async fn end_subscription(&self, _: &str) -> Result<(), BillingError> {
        Err(BillingError::Unconfigured)
    }

    fn event(&self, _: &HeaderMap, _: &[u8], _: Timestamp) -> Result<Event, Error> {
        Err(Error::new(ErrorKind::NotFound, BillingError::Unconfigured.to_string()))
    }
}
