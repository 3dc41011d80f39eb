//! The stores that only the management uses.

use std::sync::Arc;

use super::Stores;
#[cfg(feature = "admin")]
use super::{AccountStore, BillingStore, SessionStore, TokenStore};

/// The stores that only management uses.
#[cfg(feature = "admin")]
pub trait ManagementStore: AccountStore + TokenStore + SessionStore + BillingStore {}

#[cfg(feature = "admin")]
impl<S: AccountStore + TokenStore + SessionStore + BillingStore> ManagementStore for S {}

/// Without management any value will do.
#[cfg(not(feature = "admin"))]
pub trait ManagementStore {}

#[cfg(not(feature = "admin"))]
impl<S> ManagementStore for S {}

/// Adds the stores of management, if there is any.
#[cfg(feature = "admin")]
pub(super) fn add<S: ManagementStore + 'static>(stores: Stores, store: Arc<S>) -> Stores {
    let stores = stores.with_accounts(store.clone()).with_tokens(store.clone());
    stores.with_sessions(store.clone()).with_billing(store)
}

#[cfg(not(feature = "admin"))]
pub(super) fn add<S>(stores: Stores, _: Arc<S>) -> Stores {
    stores
}

#[cfg(feature = "admin")]
impl Stores {
    /// For managing accounts and their API keys.
    #[must_use]
    pub fn with_accounts(mut self, accounts: Arc<dyn AccountStore>) -> Self {
        self.accounts = accounts;
        self
    }

    /// For access tokens.
    #[must_use]
    pub fn with_tokens(mut self, tokens: Arc<dyn TokenStore>) -> Self {
        self.tokens = tokens;
        self
    }

    /// For browsers that are signed in to the pages of an account.
    #[must_use]
    pub fn with_sessions(mut self, sessions: Arc<dyn SessionStore>) -> Self {
        self.sessions = sessions;
        self
    }

    /// For plans that accounts subscribe to, and who pays.
    #[must_use]
    pub fn with_billing(mut self, billing: Arc<dyn BillingStore>) -> Self {
        self.billing = billing;
        self
    }
}
