//! Access tokens.

use std::fmt;

use async_trait::async_trait;

use crate::{
    clock::Timestamp,
    error::Error,
    id::{AccountId, TokenId},
    model::AccessToken,
};

/// Keeps access tokens, of whose secrets only the hashes are known.
#[async_trait]
pub trait TokenStore: Send + Sync + fmt::Debug {
    /// Stores a new token. A taken ID is a conflict.
    async fn create_token(&self, token: &AccessToken) -> Result<(), Error>;

    /// The token with this ID, whoever asks: what authentication starts with.
    async fn token(&self, id: TokenId) -> Result<Option<AccessToken>, Error>;

    /// All tokens of the account, in ID order.
    async fn tokens(&self, account: AccountId) -> Result<Vec<AccessToken>, Error>;

    /// How many tokens the account has.
    async fn token_count(&self, account: AccountId) -> Result<u64, Error>;

    /// Replaces what a caller may write of a token of the account, and its
    /// `updated_at`; the secret, the time of creation and the last login stay.
    async fn update_token(&self, token: &AccessToken) -> Result<(), Error>;

    /// Notes when a token was shown. Nothing else of it changes; a token that
    /// is gone stays so, and is no error.
    async fn note_login(&self, id: TokenId, at: Timestamp) -> Result<(), Error>;

    /// Removes a token of the account.
    async fn delete_token(&self, account: AccountId, id: TokenId) -> Result<(), Error>;
}
