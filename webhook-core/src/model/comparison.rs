//! What a candidate for a function would do with stored webhooks.

use serde::{Deserialize, Serialize};

use super::{Driver, TraceFunctionOutcome, wire};
use crate::{
    id::{DeliveryId, OutputId},
    rule::RequestChange,
};

/// A source that may replace the source of a function, and the webhooks it is tried on.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
#[non_exhaustive]
pub struct CompareRequest {
    /// The source text of the candidate; base64 of it is taken as well.
    #[serde(deserialize_with = "wire::null_default")]
    pub payload: String,
    /// The language of the candidate.
    #[serde(deserialize_with = "wire::null_default")]
    pub driver: Driver,
    /// On how many webhooks, the newest; 1 to 1000.
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 1000))]
    pub last: usize,
    /// The `next_cursor` of the answer before.
    #[serde(deserialize_with = "wire::null_default")]
    pub cursor: String,
}

impl CompareRequest {
    /// The most webhooks of one call.
    pub const MAX_LAST: usize = 1_000;
}

impl Default for CompareRequest {
    fn default() -> Self {
        Self { payload: String::new(), driver: Driver::default(), last: 100, cursor: String::new() }
    }
}

/// The runs of a candidate on stored webhooks, compared with the runs of the saved function.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct Comparison {
    /// On how many webhooks both have run. The counts below add up to it, `different` excepted.
    pub compared: usize,
    /// How many the candidate changes.
    pub changed: usize,
    /// How many it forwards as they came.
    pub unmodified: usize,
    /// How many it stops.
    pub stopped: usize,
    /// On how many it fails.
    pub failed: usize,
    /// With how many it does something else than the function as it is saved.
    pub different: usize,
    /// The first of them, 10 at most.
    pub differences: Vec<Difference>,
    /// The `cursor` of the next call, when this call has reached `last` or its bounds; empty
    /// when there are no older webhooks.
    pub next_cursor: String,
}

impl Comparison {
    /// The most differences that are told.
    pub const MAX_DIFFERENCES: usize = 10;
}

/// A webhook with which the candidate does something else.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct Difference {
    /// The log of the webhook.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = Uuid))]
    pub log_id: DeliveryId,
    /// The output that the webhook was for.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = Uuid))]
    pub output_id: OutputId,
    /// What the function does with it, as it is saved.
    pub saved: TriedRun,
    /// What the candidate does.
    pub candidate: TriedRun,
    /// What the candidate leaves otherwise than the saved function, 100 changes at most. A run
    /// that fails or stops the webhook counts as if it left the webhook as it came.
    pub changes: Vec<RequestChange>,
    /// Whether there are more changes than that, or longer values.
    pub cut: bool,
}

/// How one run ended.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct TriedRun {
    /// `success`, `unmodified`, `stopped` or `error`.
    pub outcome: TraceFunctionOutcome,
    /// Why it failed; empty when it did not.
    pub error: String,
}
