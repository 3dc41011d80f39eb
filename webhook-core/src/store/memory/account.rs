//! Accounts, their keys, access tokens and bills in memory.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use async_trait::async_trait;
use ring::digest::{SHA256, SHA256_OUTPUT_LEN, digest};

use super::MemoryStore;
use crate::{
    clock::Timestamp,
    error::Error,
    id::{AccountId, TokenId},
    model::{AccessToken, Account, ApiKey, Billing, BillingDetailsSpec, Subscription},
    store::{AccountStore, BillingStore, Page, TokenStore},
};

type KeyDigest = [u8; SHA256_OUTPUT_LEN];

#[derive(Default)]
pub(super) struct Accounts {
    rows: BTreeMap<AccountId, Account>,
    names: HashSet<String>,
    keys: HashMap<AccountId, ApiKey>,
    /// By digest, so that looking up tells nothing about a key by its timing.
    by_digest: HashMap<KeyDigest, AccountId>,
}

fn key_digest(text: &str) -> KeyDigest {
    let mut bytes = [0; SHA256_OUTPUT_LEN];
    bytes.copy_from_slice(digest(&SHA256, text.as_bytes()).as_ref());
    bytes
}

#[async_trait]
impl AccountStore for MemoryStore {
    async fn create_account(&self, account: &Account) -> Result<(), Error> {
        let mut accounts = self.accounts.lock();
        if accounts.rows.contains_key(&account.id) {
            return Err(Error::conflict("an account with this id exists"));
        }
        if !accounts.names.insert(account.name.clone()) {
            return Err(Error::conflict(format!("name: account {:?} exists", account.name)));
        }
        accounts.rows.insert(account.id, account.clone());
        Ok(())
    }

    async fn account(&self, id: AccountId) -> Result<Option<Account>, Error> {
        Ok(self.accounts.lock().rows.get(&id).cloned())
    }

    async fn accounts(&self) -> Result<Vec<Account>, Error> {
        Ok(self.accounts.lock().rows.values().cloned().collect())
    }

    async fn api_key(&self, account: AccountId) -> Result<Option<ApiKey>, Error> {
        Ok(self.accounts.lock().keys.get(&account).cloned())
    }

    async fn api_key_by_text(&self, candidate: &str) -> Result<Option<ApiKey>, Error> {
        let digest = key_digest(candidate);
        let accounts = self.accounts.lock();
        let account = accounts.by_digest.get(&digest);
        Ok(account.and_then(|account| accounts.keys.get(account)).cloned())
    }

    async fn put_api_key(&self, key: &ApiKey, former: Option<&ApiKey>) -> Result<bool, Error> {
        let digest = key_digest(key.key.expose());
        let mut accounts = self.accounts.lock();
        if !accounts.rows.contains_key(&key.account_id) {
            return Err(Error::not_found("account"));
        }
        if accounts.by_digest.get(&digest).is_some_and(|holder| *holder != key.account_id) {
            return Err(Error::conflict("another account has this api key"));
        }
        let is = |key: &ApiKey| (key.key.clone(), key.enabled);
        if accounts.keys.get(&key.account_id).map(is) != former.map(is) {
            return Ok(false);
        }
        if let Some(former) = accounts.keys.insert(key.account_id, key.clone()) {
            accounts.by_digest.remove(&key_digest(former.key.expose()));
        }
        accounts.by_digest.insert(digest, key.account_id);
        Ok(true)
    }
}

#[derive(Default)]
pub(super) struct Tokens {
    rows: HashMap<TokenId, AccessToken>,
    of_account: HashMap<AccountId, BTreeSet<TokenId>>,
}

#[async_trait]
impl TokenStore for MemoryStore {
    async fn create_token(&self, token: &AccessToken, bound: u64) -> Result<bool, Error> {
        let Tokens { rows, of_account } = &mut *self.tokens.lock();
        if rows.contains_key(&token.id) {
            return Err(Error::conflict("an access token with this id exists"));
        }
        let owned = of_account.entry(token.account_id).or_default();
        let has_room = (owned.len() as u64) < bound;
        if has_room {
            owned.insert(token.id);
            rows.insert(token.id, token.clone());
        }
        Ok(has_room)
    }

    async fn token(&self, id: TokenId) -> Result<Option<AccessToken>, Error> {
        Ok(self.tokens.lock().rows.get(&id).cloned())
    }

    async fn tokens(&self, account: AccountId, page: Page) -> Result<Vec<AccessToken>, Error> {
        let Tokens { rows, of_account } = &*self.tokens.lock();
        let owned = page.of(of_account.get(&account).into_iter().flatten());
        Ok(owned.filter_map(|id| rows.get(id).cloned()).collect())
    }

    async fn token_count(&self, account: AccountId) -> Result<u64, Error> {
        Ok(self.tokens.lock().of_account.get(&account).map_or(0, |owned| owned.len() as u64))
    }

    async fn update_token(&self, token: &AccessToken) -> Result<(), Error> {
        let mut tokens = self.tokens.lock();
        let stored = tokens.rows.get_mut(&token.id);
        let stored = stored.filter(|stored| stored.account_id == token.account_id);
        let stored = stored.ok_or_else(|| Error::not_found("access token"))?;
        // Its secret, its creation and its last login stay.
        stored.spec = token.spec.clone();
        stored.updated_at = token.updated_at;
        Ok(())
    }

    async fn note_login(&self, id: TokenId, at: Timestamp) -> Result<(), Error> {
        if let Some(token) = self.tokens.lock().rows.get_mut(&id) {
            token.last_login = Some(at);
        }
        Ok(())
    }

    async fn delete_token(&self, account: AccountId, id: TokenId) -> Result<(), Error> {
        let Tokens { rows, of_account } = &mut *self.tokens.lock();
        if !of_account.get_mut(&account).is_some_and(|owned| owned.remove(&id)) {
            return Err(Error::not_found("access token"));
        }
        rows.remove(&id);
        Ok(())
    }
}

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
