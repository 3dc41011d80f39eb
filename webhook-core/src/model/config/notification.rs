//! What an account wants to be told of.

use std::{fmt, time::Duration};

use crate::wire::{
    Choice, Described,
    described::{days, seconds},
};
use serde::{Deserialize, Serialize};

use crate::model::wire;
use crate::{
    clock::Timestamp,
    id::{AccountId, BucketId, NotificationId},
};

use super::MAX_NAME;

/// The buckets that one notification names.
const MAX_NOTIFIED: usize = 100;

/// Puts a webhook into a bucket of the account when something happens to its other buckets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Notification {
    /// Identifies it.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = Uuid, read_only))]
    pub id: NotificationId,
    /// The account that owns it; not on the wire.
    #[serde(skip)]
    pub account_id: AccountId,
    /// Which version of it this is: 1 when it is made, one more with each change of what it is
    /// configured to be. Pauses and other states are no part of it. Not on the wire: the `ETag`.
    #[serde(skip)]
    pub version: u64,
    /// When it was made, in unix seconds.
    #[cfg_attr(feature = "openapi", schema(value_type = i64, read_only))]
    pub created_at: Timestamp,
    /// When it was last changed, in unix seconds.
    #[cfg_attr(feature = "openapi", schema(value_type = i64, read_only))]
    pub updated_at: Timestamp,
    /// When it last put a webhook into its bucket, in unix seconds; not there for never.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<i64>, read_only))]
    pub last_sent_at: Option<Timestamp>,
    /// What a caller may write.
    #[serde(flatten)]
    pub spec: NotificationSpec,
}

/// What a caller may write of a [`Notification`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Described)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
#[non_exhaustive]
pub struct NotificationSpec {
    /// The events that it tells of: one in each line of a form.
    #[serde(deserialize_with = "wire::null_default")]
    #[field(label = "Events", required, lines = 10, example = "output.failing")]
    pub events: Vec<NotificationEvent>,
    /// The buckets that it is about, by ID or name, answered by ID; empty for all of the account.
    #[serde(deserialize_with = "wire::null_default")]
    #[field(label = "About these buckets", max = MAX_NOTIFIED, lines = 2)]
    pub buckets: Vec<String>,
    /// The bucket that its webhooks come into, by ID or name, answered by ID. No notification tells
    /// of events in such a bucket.
    #[serde(deserialize_with = "wire::null_default")]
    #[field(label = "Its webhooks come into", required, max = MAX_NAME)]
    pub to_bucket: String,
    /// Whether it tells nothing.
    #[serde(deserialize_with = "wire::null_default")]
    #[field(label = "It is switched off", brief)]
    pub disabled: bool,
    /// The least time between two webhooks about one event of one subject. The webhook at its end
    /// says how often the event happened in between.
    #[serde(with = "wire::nanoseconds")]
    #[cfg_attr(feature = "openapi", schema(value_type = i64, default = 900_000_000_000_i64))]
    #[field(label = "At most one in", range = seconds(1)..=days(1))]
    pub min_interval: Duration,
    /// The number of waiting webhooks with which the queue of an output is deep; with a tenth of
    /// that it is drained.
    #[cfg_attr(feature = "openapi", schema(default = 1000, minimum = 1, maximum = 1_000_000))]
    #[field(label = "A queue is deep with", range = 1..=1_000_000)]
    pub queue_deep_at: u32,
}

impl Default for NotificationSpec {
    fn default() -> Self {
        Self {
            events: Vec::new(),
            buckets: Vec::new(),
            to_bucket: String::new(),
            disabled: false,
            min_interval: Duration::from_secs(900),
            queue_deep_at: 1_000,
        }
    }
}

impl NotificationSpec {
    /// Tells of these events, in all buckets of the account, by webhooks in `to_bucket`.
    #[must_use]
    pub fn new(events: &[NotificationEvent], to_bucket: impl Into<String>) -> Self {
        Self { events: events.to_vec(), to_bucket: to_bucket.into(), ..Self::default() }
    }

    /// The bucket that its webhooks come into, as it is stored: by its ID.
    #[must_use]
    pub fn target(&self) -> Option<BucketId> {
        self.to_bucket.parse().ok()
    }
}

/// What a notification can be about: only changes, never how it stays.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Choice,
)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub enum NotificationEvent {
    /// The destination of an output with `health` has failed for `notify_after`.
    #[serde(rename = "output.failing")]
    OutputFailing,
    /// An output that failed works again, or somebody resumed it.
    #[serde(rename = "output.recovered")]
    OutputRecovered,
    /// An output was paused: by somebody, or because its destination fails or is gone.
    #[serde(rename = "output.paused")]
    OutputPaused,
    /// The pause of an output has ended.
    #[serde(rename = "output.resumed")]
    OutputResumed,
    /// A delivery to an output was given up.
    #[serde(rename = "delivery.failed")]
    DeliveryFailed,
    /// A function of an input or of an output failed on a webhook.
    #[serde(rename = "function.failing")]
    FunctionFailing,
    /// A webhook came that its input cannot verify.
    #[serde(rename = "signature.failing")]
    SignatureFailing,
    /// `queue_deep_at` webhooks or more wait for an output.
    #[serde(rename = "queue.deep")]
    QueueDeep,
    /// Of those at most a tenth are left.
    #[serde(rename = "queue.drained")]
    QueueDrained,
    /// A replay has come to its end, or cannot go on; nobody cancelled it.
    #[serde(rename = "replay.finished")]
    ReplayFinished,
}

impl NotificationEvent {
    /// All of them.
    pub const ALL: &'static [Self] = <Self as Choice>::VALUES;
}

impl fmt::Display for NotificationEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
