//! What a replay would do, and what it has done.

use std::{collections::BTreeMap, time::Duration};

use serde::Serialize;

use super::super::{Log, wire};
use crate::{clock::Timestamp, id::OutputId};

/// What a replay would do, found without doing it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct ReplayPlan {
    /// How many logs it would make.
    pub count: u64,
    /// Whether all logs were looked at: of very many, or in very long searches, only some are.
    pub exact: bool,
    /// How many webhooks they are of.
    pub webhooks: u64,
    /// How many bytes of requests.
    pub bytes: u64,
    /// What of the filter cannot be sent: erased, or its output is gone or disabled.
    pub skipped: u64,
    /// When the oldest of the logs was stored, in unix seconds; absent when there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<i64>))]
    pub oldest: Option<Timestamp>,
    /// When the newest was.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<i64>))]
    pub newest: Option<Timestamp>,
    /// How many for each output, by its ID; `""` for webhooks of buckets without outputs.
    #[cfg_attr(feature = "openapi", schema(value_type = HashMap<String, u64>))]
    pub by_output: BTreeMap<String, u64>,
    /// How many of the logs are in each status.
    #[cfg_attr(feature = "openapi", schema(value_type = HashMap<String, u64>))]
    pub by_status: BTreeMap<&'static str, u64>,
    /// The outputs that are paused: what is sent to them waits.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<String>))]
    pub paused_outputs: Vec<OutputId>,
    /// How long it would take at its rate, in nanoseconds.
    #[serde(with = "wire::nanoseconds")]
    #[cfg_attr(feature = "openapi", schema(value_type = i64))]
    pub duration_at_rate: Duration,
    /// The first logs, 10 at most.
    pub sample: Vec<Log>,
}
