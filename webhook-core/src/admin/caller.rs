//! Who asks.

use crate::id::AccountId;

/// Whoever an operation acts for, and with which credential.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    account_id: AccountId,
    credential: Credential,
}

/// What a caller showed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Credential {
    /// The account's API key.
    ApiKey,
    /// None: the program that embeds the library, or its operator.
    Embedder,
}

impl Caller {
    /// A caller inside the program, who needs no credential to act for the account.
    #[must_use]
    pub const fn for_account(account_id: AccountId) -> Self {
        Self { account_id, credential: Credential::Embedder }
    }

    /// A caller who showed `credential` of the account.
    pub(super) const fn new(account_id: AccountId, credential: Credential) -> Self {
        Self { account_id, credential }
    }

    /// The account it acts for.
    #[must_use]
    pub const fn account_id(&self) -> AccountId {
        self.account_id
    }

    /// What it showed.
    #[must_use]
    pub const fn credential(&self) -> &Credential {
        &self.credential
    }

    /// What `created_by` says of things it makes.
    pub(super) fn label(&self) -> String {
        match self.credential {
            Credential::ApiKey => "api key".to_owned(),
            Credential::Embedder => String::new(),
        }
    }
}
