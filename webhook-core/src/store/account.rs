//! Accounts and API keys.

use std::fmt;

use async_trait::async_trait;

use crate::{
    error::Error,
    id::AccountId,
    model::{Account, ApiKey},
};

/// Keeps accounts and the API key of each.
///
/// An implementation that writes to disk keeps keys encrypted and looks them
/// up by a hash (`docs/access-tokens.md`).
#[async_trait]
pub trait AccountStore: Send + Sync + fmt::Debug {
    /// Stores a new account; a taken ID or name is a conflict.
    async fn create_account(&self, account: &Account) -> Result<(), Error>;

    /// The account with this ID.
    async fn account(&self, id: AccountId) -> Result<Option<Account>, Error>;

    /// All accounts, in ID order: the operator has few.
    async fn accounts(&self) -> Result<Vec<Account>, Error>;

    /// The key of an account.
    async fn api_key(&self, account: AccountId) -> Result<Option<ApiKey>, Error>;

    /// The key, enabled or not, whose text is `candidate`.
    async fn api_key_by_text(&self, candidate: &str) -> Result<Option<ApiKey>, Error>;

    /// Stores the account's key in place of the one it had. A key that another
    /// account holds is a conflict; a missing account is not found.
    async fn put_api_key(&self, key: &ApiKey) -> Result<(), Error>;
}
