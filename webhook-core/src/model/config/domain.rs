//! Domains that accounts have reserved.

use crate::wire::Described;
use serde::{Deserialize, Serialize};

use crate::model::wire;
use crate::{
    clock::Timestamp,
    id::{AccountId, DomainId},
};

use super::MAX_PREFIX;

/// A domain whose requests go to the inputs of one account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Domain {
    /// Identifies the reservation.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = Uuid, read_only))]
    pub id: DomainId,
    /// The account it is reserved for; not on the wire.
    #[serde(skip)]
    pub account_id: AccountId,
    /// Which version of it this is: 1 when it is made, one more with each change of what it is
    /// configured to be. Pauses and other states are no part of it. Not on the wire: the `ETag`.
    #[serde(skip)]
    pub version: u64,
    /// When it was reserved, in unix seconds.
    #[cfg_attr(feature = "openapi", schema(value_type = i64, read_only))]
    pub created_at: Timestamp,
    /// When it was last changed, in unix seconds.
    #[cfg_attr(feature = "openapi", schema(value_type = i64, read_only))]
    pub updated_at: Timestamp,
    /// What a caller may write.
    #[serde(flatten)]
    pub spec: DomainSpec,
}

/// What a caller may write of a [`Domain`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Described)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
#[non_exhaustive]
pub struct DomainSpec {
    /// The DNS name, such as `hooks.example.com`, which must lead to this server. An
    /// internationalised name is answered in its ASCII form.
    #[serde(deserialize_with = "wire::null_default")]
    #[field(label = "Domain", required, max = MAX_PREFIX, example = "hooks.example.com")]
    pub domain: String,
}

impl DomainSpec {
    /// The domain of this name.
    #[must_use]
    pub fn new(domain: impl Into<String>) -> Self {
        Self { domain: domain.into() }
    }
}
