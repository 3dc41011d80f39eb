//! Accounts and their API keys.

use serde::{Deserialize, Serialize};

use super::Secret;
use crate::{clock::Timestamp, id::AccountId};

/// Whose buckets, functions and logs: everything is scoped to one account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// Identifies the account.
    pub id: AccountId,
    /// What the operator calls it; unique.
    pub name: String,
    /// When it was made.
    pub created_at: Timestamp,
}

/// The API key of an account: `sk-` and 43 characters of random base64url.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiKey {
    /// The account that the key acts for.
    pub account_id: AccountId,
    /// The key itself.
    pub key: Secret,
    /// A disabled key is refused everywhere.
    pub enabled: bool,
    /// When this key was made.
    pub created_at: Timestamp,
    /// When it was last enabled or disabled.
    pub updated_at: Timestamp,
}
