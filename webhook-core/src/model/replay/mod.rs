//! Many webhooks are sent again: which, how fast, and how far it has come.

mod filter;
#[cfg(feature = "admin")]
mod plan;
mod totals;

use crate::wire::{Choice, Described};
pub use filter::ReplayFilter;
#[cfg(feature = "admin")]
pub use plan::ReplayPlan;
use serde::{Deserialize, Serialize};
pub use totals::ReplayTotals;

use super::{ProcessPolicy, RateInterval, resend::process_policy, wire};
use crate::{
    clock::Timestamp,
    error::Error,
    id::{AccountId, BucketId, OutputId, ReplayId},
};

/// What is to be sent again, and how.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Described)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ReplaySpec {
    /// Which logs. It is closed when the replay is made: what is stored later is not sent.
    #[serde(deserialize_with = "wire::null_default")]
    #[field]
    pub filter: ReplayFilter,
    /// Where to: the ID of an output of the bucket that the webhooks are of. Empty for the output
    /// of each log, and for all enabled outputs where a log has none.
    #[serde(with = "wire::optional_id")]
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    #[field]
    pub to_output: Option<OutputId>,
    /// `skip` sends again what was sent; `force` runs rules and functions anew, and verifies
    /// signatures that were refused again.
    #[serde(deserialize_with = "process_policy")]
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    #[field]
    pub process_policy: ProcessPolicy,
    /// Which first.
    #[serde(deserialize_with = "wire::null_default")]
    #[field]
    pub order: ReplayOrder,
    /// So many webhooks in each `interval`, 1 to 10 000.
    #[field]
    pub rate: u32,
    /// What the rate counts in.
    #[serde(deserialize_with = "wire::null_default")]
    #[field]
    pub interval: RateInterval,
    /// How many of its webhooks may wait for one output, 1 to 1 000: there it pauses, so that what
    /// comes in meanwhile does not wait behind them.
    #[field]
    pub max_waiting: u32,
    /// For people.
    #[serde(deserialize_with = "wire::null_default")]
    #[field]
    pub description: String,
    /// Whether only to say what it would do.
    #[serde(deserialize_with = "wire::null_default", skip_serializing_if = "wire::always")]
    #[cfg_attr(feature = "openapi", schema(write_only))]
    pub dry_run: bool,
}

impl ReplaySpec {
    /// The highest rate.
    pub const MAX_RATE: u32 = 10_000;
    /// The most that may wait for one output.
    pub const MAX_WAITING: u32 = 1_000;
}

impl Default for ReplaySpec {
    fn default() -> Self {
        Self {
            filter: ReplayFilter::default(),
            to_output: None,
            process_policy: ProcessPolicy::Skip,
            order: ReplayOrder::Receipt,
            rate: 10,
            interval: RateInterval::Second,
            max_waiting: 100,
            description: String::new(),
            dry_run: false,
        }
    }
}

/// Which webhooks of a replay come first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Choice)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum ReplayOrder {
    /// The oldest; `""` is read as this.
    #[default]
    #[serde(alias = "")]
    Receipt,
    /// The newest.
    Newest,
}

/// Where a replay stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Choice)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ReplayStatus {
    /// It queues webhooks, or waits until those that it queued have left.
    Running,
    /// It queues nothing; what it queued leaves.
    Paused,
    /// Everything has been queued, and nothing waits for its first attempt.
    Done,
    /// Somebody ended it: what had not started is withdrawn.
    Cancelled,
    /// It cannot go on; its `error` says why.
    Failed,
}

impl ReplayStatus {
    /// Whether nothing more comes of it.
    #[must_use]
    pub const fn is_over(self) -> bool {
        matches!(self, Self::Done | Self::Cancelled | Self::Failed)
    }

    /// Its word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Done => "done",
            Self::Cancelled => "cancelled",
            Self::Failed => "failed",
        }
    }

    /// The status of this word on the wire.
    #[must_use]
    pub fn from_wire(word: &str) -> Option<Self> {
        [Self::Running, Self::Paused, Self::Done, Self::Cancelled, Self::Failed]
            .into_iter()
            .find(|status| status.as_str() == word)
    }
}

/// A replay of many webhooks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Replay {
    /// Identifies it; its logs have it as `replay_id`.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = Uuid))]
    pub id: ReplayId,
    /// Whose it is.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = Uuid))]
    pub account_id: AccountId,
    /// The bucket that it is of; empty for all of the account.
    #[serde(with = "wire::optional_id")]
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub bucket_id: Option<BucketId>,
    /// Where it stands.
    pub status: ReplayStatus,
    /// Why it failed, for people; absent else.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub error: String,
    /// How many logs it will make, counted when it was made; absent when there were too many to
    /// count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// The outputs that it was found to send to when it was made.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<String>))]
    pub outputs: Vec<OutputId>,
    /// What came of its webhooks so far. It is counted when it is asked for, and not stored.
    #[serde(flatten)]
    pub totals: ReplayTotals,
    /// What could not be sent: erased or removed meanwhile, or its output is.
    pub skipped: u64,
    /// When it was made, in unix seconds: nothing is sent that was stored later.
    #[serde(rename = "started_at")]
    #[cfg_attr(feature = "openapi", schema(value_type = i64))]
    pub created_at: Timestamp,
    /// When it came to its end, in unix seconds; absent before.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<i64>))]
    pub finished_at: Option<Timestamp>,
    /// How far it has come: the place of the last log that it looked at; empty at the start.
    pub cursor: String,
    /// What is sent, and how.
    #[serde(flatten)]
    pub spec: ReplaySpec,
}

impl Replay {
    /// Ends it. Nothing else does.
    ///
    /// # Errors
    ///
    /// [`Conflict`](crate::ErrorKind::Conflict) when it is over.
    pub fn finish(&mut self, status: ReplayStatus, now: Timestamp) -> Result<(), Error> {
        if self.status.is_over() {
            let message = format!("the replay is {}", self.status.as_str());
            return Err(Error::conflict(message));
        }
        (self.status, self.finished_at) = (status, Some(now));
        Ok(())
    }

    /// Whether `other`, which is not over, sends to one of the same outputs.
    #[must_use]
    pub fn collides(&self, other: &Self) -> bool {
        !other.status.is_over() && self.outputs.iter().any(|id| other.outputs.contains(id))
    }

    /// Whether it may begin beside the account's others.
    ///
    /// # Errors
    ///
    /// [`Conflict`](crate::ErrorKind::Conflict) when another one sends to one of its outputs,
    /// [`Busy`](crate::ErrorKind::Busy) when `most` are not over.
    pub fn may_begin<'a>(
        &self,
        others: impl Iterator<Item = &'a Self>,
        most: usize,
    ) -> Result<(), Error> {
        let mut open = 0;
        for other in others.filter(|other| !other.status.is_over()) {
            if self.collides(other) {
                let id = other.id;
                let message = format!("replay {id} sends to the same output: wait for its end");
                return Err(Error::conflict(message));
            }
            open += 1;
        }
        room_for("replays", open, most)
    }
}

/// Whether an account may begin another piece of work, where `open` of them are not over.
pub(super) fn room_for(work: &str, open: usize, most: usize) -> Result<(), Error> {
    if open < most {
        return Ok(());
    }
    let message = format!("the account has {most} {work} that are not over");
    Err(Error::busy(message, std::time::Duration::from_secs(10)))
}

/// What is to change about a replay. What is absent stays.
#[cfg(feature = "admin")]
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
#[non_exhaustive]
pub struct ReplayChange {
    /// `paused`, `running` or `cancelled`.
    pub status: Option<ReplayStatus>,
    /// So many webhooks in each `interval`, 1 to 10 000.
    pub rate: Option<u32>,
    /// What the rate counts in.
    pub interval: Option<RateInterval>,
}
