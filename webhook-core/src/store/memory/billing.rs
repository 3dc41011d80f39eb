//! Billing in memory.

use std::collections::HashMap;

use async_trait::async_trait;

use super::MemoryStore;
use crate::{
    clock::Timestamp,
    error::Error,
    id::AccountId,
    model::{Billing, BillingDetailsSpec, Subscription},
    store::BillingStore,
};

#[derive(Default)]
pub(super) struct Bills {
    accounts: HashMap<AccountId, Billing>,
    by_customer: HashMap<String, AccountId>,
    events: HashMap<String, Timestamp>,
}

#[async_trait]
impl BillingStore for MemoryStore {
    async fn billing(&self, account: AccountId) -> Result<Billing, Error> {
        Ok(self.bills.lock().accounts.get(&account).cloned().unwrap_or_default())
    }

    async fn account_of_customer(&self, customer_id: &str) -> Result<Option<AccountId>, Error> {
        Ok(self.bills.lock().by_customer.get(customer_id).copied())
    }

    async fn put_billing_details(
        &self,
        account: AccountId,
        details: &BillingDetailsSpec,
    ) -> Result<(), Error> {
        self.bills.lock().accounts.entry(account).or_default().details = Some(details.clone());
        Ok(())
    }

    async fn put_customer(&self, account: AccountId, customer_id: &str) -> Result<(), Error> {
        let mut bills = self.bills.lock();
        if bills.by_customer.get(customer_id).is_some_and(|holder| *holder != account) {
            return Err(Error::conflict("another account has this customer id"));
        }
        let billing = bills.accounts.entry(account).or_default();
        if let Some(former) = billing.customer_id.replace(customer_id.to_owned()) {
            bills.by_customer.remove(&former);
        }
        bills.by_customer.insert(customer_id.to_owned(), account);
        Ok(())
    }

    async fn put_subscription(
        &self,
        account: AccountId,
        subscription: &Subscription,
    ) -> Result<(), Error> {
        let mut bills = self.bills.lock();
        let stored = &mut bills.accounts.entry(account).or_default().subscription;
        let is_older = |stored: &Subscription| {
            stored.id == subscription.id && stored.read_at > subscription.read_at
        };
        if !stored.as_ref().is_some_and(is_older) {
            *stored = Some(subscription.clone());
        }
        Ok(())
    }

    async fn is_event_recorded(&self, id: &str) -> Result<bool, Error> {
        Ok(self.bills.lock().events.contains_key(id))
    }

    async fn record_event(
        &self,
        id: &str,
        now: Timestamp,
        forget_before: Timestamp,
    ) -> Result<(), Error> {
        let mut bills = self.bills.lock();
        bills.events.retain(|_, recorded_at| *recorded_at >= forget_before);
        bills.events.entry(id.to_owned()).or_insert(now);
        Ok(())
    }
}
