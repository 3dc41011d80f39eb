//! Accounts, their API keys and access tokens, and who pays for them.

use std::fmt;

use async_trait::async_trait;

use crate::{
    clock::Timestamp,
    error::Error,
    id::{AccountId, TokenId},
    model::{AccessToken, Account, ApiKey, Billing, BillingDetailsSpec, Subscription},
    store::Page,
};

/// Keeps accounts and the API key of each.
///
/// An implementation that writes to disk keeps keys encrypted and looks them
/// up by a hash.
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

    /// Stores the account's key, if `former` is still the stored key, with the same `enabled`;
    /// otherwise this changes nothing and answers `false`. A key that another account holds is a
    /// conflict; a missing account is not found.
    async fn put_api_key(&self, key: &ApiKey, former: Option<&ApiKey>) -> Result<bool, Error>;
}

/// Keeps access tokens. Only the hash of each secret is stored.
#[async_trait]
pub trait TokenStore: Send + Sync + fmt::Debug {
    /// Stores a new token, unless the account has `bound` of them, which is `false`. A taken ID
    /// is a conflict.
    async fn create_token(&self, token: &AccessToken, bound: u64) -> Result<bool, Error>;

    /// The token with this ID, of any account: authentication starts here.
    async fn token(&self, id: TokenId) -> Result<Option<AccessToken>, Error>;

    /// A page of the tokens of the account, in ID order.
    async fn tokens(&self, account: AccountId, page: Page) -> Result<Vec<AccessToken>, Error>;

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

/// Keeps who pays, and what an account is subscribed to.
///
/// No account need be stored before its billing; what was never put is empty.
#[async_trait]
pub trait BillingStore: Send + Sync + fmt::Debug {
    /// The account's billing details, customer and subscription.
    async fn billing(&self, account: AccountId) -> Result<Billing, Error>;

    /// The account that the payment processor calls by this name.
    async fn account_of_customer(&self, customer_id: &str) -> Result<Option<AccountId>, Error>;

    /// Replaces the details.
    async fn put_billing_details(
        &self,
        account: AccountId,
        details: &BillingDetailsSpec,
    ) -> Result<(), Error>;

    /// Stores what the processor calls the account. A name that another account
    /// has is a conflict.
    async fn put_customer(&self, account: AccountId, customer_id: &str) -> Result<(), Error>;

    /// Replaces the subscription, unless the stored one is the same and was read from the
    /// processor later.
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
