//! Many webhooks are erased: which, and how far it has come.

use crate::wire::Described;
use serde::{Deserialize, Serialize, Serializer};

use super::{ReplayFilter, ReplayStatus, replay::room_for, wire};
use crate::{
    clock::Timestamp,
    error::Error,
    id::{AccountId, BucketId, ErasureId, WebhookId},
};

/// The webhooks that are to be erased.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Described)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ErasureSpec {
    /// Which logs. Their webhooks are erased whole, with the logs at other outputs. It is closed
    /// when the erasure is made: what is stored later stays. Once the erasure is over it is
    /// forgotten, because it may tell what was erased.
    #[serde(deserialize_with = "wire::null_default")]
    #[field]
    pub filter: ReplayFilter,
    /// Whether only to count.
    #[serde(deserialize_with = "wire::null_default", skip_serializing_if = "wire::always")]
    #[cfg_attr(feature = "openapi", schema(write_only))]
    pub dry_run: bool,
}

/// What an erasure would do, found without doing it.
#[cfg(feature = "admin")]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct ErasurePlan {
    /// Empty: there is no erasure.
    pub id: String,
    /// `dry_run`
    pub status: &'static str,
    /// How many webhooks it would erase.
    pub found: u64,
    /// Whether all logs were looked at: of very many, or in very long searches, only some are.
    pub exact: bool,
    /// How many logs the filter finds.
    pub logs: u64,
    /// 0: nothing is erased.
    pub erased: u64,
    /// How many of the logs wait, and would be withdrawn.
    pub withdrawn: u64,
    /// How many of the webhooks are being attempted now.
    pub in_flight: u64,
}

/// An erasure of many webhooks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Erasure {
    /// Identifies it.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = Uuid))]
    pub id: ErasureId,
    /// Whose it is.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = Uuid))]
    pub account_id: AccountId,
    /// The bucket that it is of; empty for all of the account.
    #[serde(with = "wire::optional_id")]
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub bucket_id: Option<BucketId>,
    /// `running`, `done` or `failed`.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub status: ReplayStatus,
    /// Why it failed, for people; absent else.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub error: String,
    /// How many webhooks were found. It was counted when the erasure was made, and grows where there
    /// were too many to count.
    pub found: u64,
    /// How many webhooks are erased.
    pub erased: u64,
    /// How many of their logs were still waiting for an output or a client.
    pub withdrawn: u64,
    /// How many webhooks are left because an attempt of them is in flight.
    #[serde(serialize_with = "count")]
    #[cfg_attr(feature = "openapi", schema(value_type = u64))]
    pub in_flight: Vec<WebhookId>,
    /// When it was made, in unix seconds: nothing is erased that was stored later.
    #[serde(rename = "started_at")]
    #[cfg_attr(feature = "openapi", schema(value_type = i64))]
    pub created_at: Timestamp,
    /// When it came to its end, in unix seconds; absent before.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<i64>))]
    pub finished_at: Option<Timestamp>,
    /// How far it has come: the place of the last log that it looked at; empty at the start.
    #[serde(skip)]
    pub cursor: String,
    /// The webhooks that are erased.
    #[serde(flatten)]
    pub spec: ErasureSpec,
}

impl Erasure {
    /// How many webhooks in flight it comes back to. With more of them it looks at no further
    /// logs.
    pub const MAX_IN_FLIGHT: usize = 1_000;

    /// Whether another erasure may begin, where the account has `open` erasures that are not over.
    ///
    /// # Errors
    ///
    /// [`Busy`](crate::ErrorKind::Busy) when `open` is `most`.
    pub fn may_begin(open: usize, most: usize) -> Result<(), Error> {
        room_for("erasures", open, most)
    }
}

fn count<S: Serializer>(webhooks: &[WebhookId], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(webhooks.len() as u64)
}
