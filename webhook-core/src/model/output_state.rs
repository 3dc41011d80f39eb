//! How it stands with an output at this moment.

use serde::Serialize;

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
    /// In which minute the oldest of them was stored, in unix seconds; absent when there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<i64>))]
    pub oldest_waiting_at: Option<Timestamp>,
    /// Whether attempts stop at this server because most fail.
    pub circuit: CircuitState,
    /// When the destination is tried again while the circuit is open, in unix seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<i64>))]
    pub circuit_tries_at: Option<Timestamp>,
}

/// Whether attempts stop because most fail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CircuitState {
    /// They go on; so they do without a circuit breaker.
    #[default]
    Closed,
    /// None is made for a while.
    Open,
    /// One at a time tries whether the destination is back.
    HalfOpen,
}
