//! Accounts and API keys in memory.

use std::collections::{BTreeMap, HashMap, HashSet};

use async_trait::async_trait;
use ring::digest::{SHA256, SHA256_OUTPUT_LEN, digest};

use super::MemoryStore;
use crate::{
    error::Error,
    id::AccountId,
    model::{Account, ApiKey},
    store::AccountStore,
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

    async fn put_api_key(&self, key: &ApiKey) -> Result<(), Error> {
        let digest = key_digest(key.key.expose());
        let mut accounts = self.accounts.lock();
        if !accounts.rows.contains_key(&key.account_id) {
            return Err(Error::not_found("account"));
        }
        if accounts.by_digest.get(&digest).is_some_and(|holder| *holder != key.account_id) {
            return Err(Error::conflict("another account has this api key"));
        }
        if let Some(former) = accounts.keys.insert(key.account_id, key.clone()) {
            accounts.by_digest.remove(&key_digest(former.key.expose()));
        }
        accounts.by_digest.insert(digest, key.account_id);
        Ok(())
    }
}
