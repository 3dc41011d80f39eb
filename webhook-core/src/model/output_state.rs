//! How it stands with an output.

use serde::Serialize;

use super::CircuitState;
use crate::clock::Timestamp;

/// How it stands with an output at this moment: what waits for it, and whether its destination
/// is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct OutputState {
    /// How many of its logs have no end yet: they wait for an attempt or for a client, or are
    /// being attempted. Logs of more than 366 days ago are not counted.
    pub waiting: u64,
    /// When the oldest waiting delivery was stored, to the minute, in unix seconds; absent without
    /// waiting deliveries.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<i64>))]
    pub oldest_waiting_at: Option<Timestamp>,
    /// Whether attempts stop at this server because most fail.
    pub circuit: CircuitState,
    /// When the destination is tried again while the circuit is open, in unix seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<i64>))]
    pub circuit_tries_at: Option<Timestamp>,
    /// Since when this server makes at most 2 attempts a second, because 50 in a row have failed,
    /// in unix seconds; absent while it does not. Outputs with a circuit have no such bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<i64>))]
    pub slow_since: Option<Timestamp>,
}
