//! Requests to pause and resume outputs.

use serde::{Deserialize, Serialize};

use super::RateInterval;
use crate::{clock::Timestamp, wire::Described};

/// What a caller says of a pause.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Described)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct PauseRequest {
    /// The reason, for people, at most 1 000 bytes.
    #[field(label = "Reason")]
    pub reason: String,
    /// The moment at which the pause ends by itself, such as 2026-01-31 or 2026-01-31T12:00:00Z; 0
    /// for no end.
    #[cfg_attr(feature = "openapi", schema(value_type = i64, default = 0))]
    #[field(label = "Until")]
    pub until: Timestamp,
}

/// What a caller says of the end of a pause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Described)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ResumeRequest {
    /// The number of waiting webhooks that are sent in each `interval`, at most 1 000 000; 0 for 10
    /// a second, and twice as many each ten seconds. The throttle of the output holds, too.
    #[field(label = "Waiting webhooks leave at most so fast: webhooks")]
    pub rate: u32,
    /// The interval of `rate`.
    #[field(label = "In each", brief)]
    pub interval: RateInterval,
    /// Waiting webhooks that were received before this moment are not sent, and `rejected` when
    /// their turn comes; not after now. 0 for none, and a day like 2026-01-31 or a moment like
    /// 2026-01-31T12:00:00Z in a form.
    #[cfg_attr(feature = "openapi", schema(value_type = i64, default = 0))]
    #[field(label = "Do not send what came before")]
    pub discard_before: Timestamp,
}
