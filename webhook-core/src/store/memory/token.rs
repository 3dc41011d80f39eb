//! Access tokens in memory.

use std::collections::{BTreeMap, btree_map};

use async_trait::async_trait;

use super::MemoryStore;
use crate::{
    clock::Timestamp,
    error::Error,
    id::{AccountId, TokenId},
    model::AccessToken,
    store::TokenStore,
};

pub(super) type Tokens = BTreeMap<TokenId, AccessToken>;

#[async_trait]
impl TokenStore for MemoryStore {
    async fn create_token(&self, token: &AccessToken) -> Result<(), Error> {
        match self.tokens.lock().entry(token.id) {
            btree_map::Entry::Occupied(_) => {
                Err(Error::conflict("an access token with this id exists"))
            }
            btree_map::Entry::Vacant(entry) => {
                entry.insert(token.clone());
                Ok(())
            }
        }
    }

    async fn token(&self, id: TokenId) -> Result<Option<AccessToken>, Error> {
        Ok(self.tokens.lock().get(&id).cloned())
    }

    async fn tokens(&self, account: AccountId) -> Result<Vec<AccessToken>, Error> {
        let tokens = self.tokens.lock();
        Ok(tokens.values().filter(|token| token.account_id == account).cloned().collect())
    }

    async fn token_count(&self, account: AccountId) -> Result<u64, Error> {
        let tokens = self.tokens.lock();
        let count = tokens.values().filter(|token| token.account_id == account).count();
        Ok(u64::try_from(count).unwrap_or(u64::MAX))
    }

    async fn update_token(&self, token: &AccessToken) -> Result<(), Error> {
        let AccessToken {
            id,
            account_id,
            secret_hash: _,
            spec,
            created_at: _,
            updated_at,
            last_login: _,
        } = token;
        let mut tokens = self.tokens.lock();
        let stored = tokens.get_mut(id).filter(|stored| stored.account_id == *account_id);
        let stored = stored.ok_or_else(|| Error::not_found("access token"))?;
        stored.spec = spec.clone();
        stored.updated_at = *updated_at;
        Ok(())
    }

    async fn note_login(&self, id: TokenId, at: Timestamp) -> Result<(), Error> {
        if let Some(token) = self.tokens.lock().get_mut(&id) {
            token.last_login = Some(at);
        }
        Ok(())
    }

    async fn delete_token(&self, account: AccountId, id: TokenId) -> Result<(), Error> {
        let mut tokens = self.tokens.lock();
        if tokens.get(&id).is_none_or(|token| token.account_id != account) {
            return Err(Error::not_found("access token"));
        }
        tokens.remove(&id);
        Ok(())
    }
}
