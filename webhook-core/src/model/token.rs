//! Accounts, their API keys and access tokens.

use serde::{Deserialize, Deserializer, Serialize};

use super::{Secret, wire};
use crate::{
    clock::Timestamp,
    id::{AccountId, TokenId},
};

/// A credential with a narrower reach than the API key. Its secret is shown
/// once, when it is made, and kept only as a hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessToken {
    /// Identifies the token; the `key` of the credential.
    pub id: TokenId,
    /// The account it acts for.
    pub account_id: AccountId,
    /// The SHA-256 digest of the secret, which has 256 random bits of its own.
    pub secret_hash: [u8; 32],
    /// What a caller may write.
    pub spec: TokenSpec,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// When it was last shown, a minute or so more or less; none for never.
    pub last_login: Option<Timestamp>,
}

/// What a caller may write of an [`AccessToken`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
#[non_exhaustive]
pub struct TokenSpec {
    /// Free text for people.
    #[serde(deserialize_with = "wire::null_default")]
    pub description: String,
    /// Which buckets it reaches.
    #[serde(deserialize_with = "wire::null_default")]
    pub scopes: TokenScopes,
    /// Whether it may call the management API; subscribing is always allowed. `enabled` unless
    /// said otherwise: `none` and the empty text count as absent.
    #[serde(deserialize_with = "wire::null_default")]
    pub api_access: ApiAccess,
}

/// What an access token reaches. Empty lists mean everything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct TokenScopes {
    /// Names or IDs of buckets.
    #[serde(deserialize_with = "wire::null_default")]
    pub buckets: Vec<String>,
    /// Kept for clients that set it; there are no tunnels here.
    #[serde(deserialize_with = "wire::null_default")]
    pub tunnels: Vec<String>,
}

/// Whether an access token may call the management API.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(rename_all = "lowercase"))]
#[serde(rename_all = "lowercase")]
pub enum ApiAccess {
    /// Not said: it is stored as `Enabled`.
    #[default]
    None,
    /// It may only subscribe.
    Disabled,
    /// It may call the management API within its scopes.
    Enabled,
}

impl wire::WireEnum for ApiAccess {
    const VALUES: &'static [(Self, &'static str, u64)] =
        &[(Self::None, "none", 0), (Self::Disabled, "disabled", 1), (Self::Enabled, "enabled", 2)];
}

impl<'de> Deserialize<'de> for ApiAccess {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        wire::deserialize_enum(deserializer)
    }
}

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
