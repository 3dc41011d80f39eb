//! How an output behaves when its destination fails, and the present state of an output.

use std::time::Duration;

use crate::wire::{
    Described,
    described::{Invalid, days, hours, minutes, seconds},
};
use serde::{Deserialize, Serialize};

use crate::model::wire;

/// What becomes of an output whose destination fails.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Described)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Health {
    /// Whether the other fields apply.
    #[serde(deserialize_with = "wire::null_true")]
    #[field(label = "Look after the destination", brief)]
    pub enabled: bool,
    /// Whether an answer of 410 (Gone) pauses the output, until a person resumes it.
    #[serde(deserialize_with = "wire::null_true")]
    #[field(
        label = "Pause it when the destination answers 410 (Gone), until a person resumes it",
        brief
    )]
    pub pause_on_gone: bool,
    /// The time of failing after which notifications tell `output.failing`; 0 for never.
    #[serde(with = "wire::nanoseconds")]
    #[cfg_attr(feature = "openapi", schema(value_type = i64, default = 3_600_000_000_000_i64))]
    #[field(label = "Tell that it fails after", range = minutes(1)..=days(30), or_zero)]
    pub notify_after: Duration,
    /// The time of failing after which the output is paused; 0 for never. Then the oldest webhook
    /// is tried once an hour, and the pause ends when that is sent.
    #[serde(with = "wire::nanoseconds")]
    #[cfg_attr(feature = "openapi", schema(value_type = i64, default = 432_000_000_000_000_i64))]
    #[field(label = "Pause the output after", range = hours(12)..=days(90), or_zero)]
    pub pause_after: Duration,
    /// When attempts stop for a while because most fail.
    #[serde(deserialize_with = "wire::null_default_object")]
    #[field(group = "When most attempts fail")]
    pub circuit: CircuitBreaker,
}

impl Default for Health {
    fn default() -> Self {
        let circuit = CircuitBreaker::default();
        Self {
            enabled: true,
            pause_on_gone: true,
            notify_after: Duration::from_secs(3_600),
            pause_after: Duration::from_secs(5 * 86_400),
            circuit,
        }
    }
}

/// When attempts stop because most fail: no connection, no answer in time, 429 and 5xx. Then
/// one attempt at a time tries whether the destination is back, and the others wait without
/// using up an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Described)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
#[described(rules)]
pub struct CircuitBreaker {
    /// Whether the other fields apply.
    #[serde(deserialize_with = "wire::null_true")]
    #[field(label = "Try with one webhook at a time", brief)]
    pub enabled: bool,
    /// The number of attempts that must have failed within `window`.
    #[cfg_attr(feature = "openapi", schema(default = 20))]
    #[field(label = "Number of failures", range = 1..=1_000)]
    pub failures: u32,
    /// The part of the attempts within `window` that must have failed; over 0, at most 1.
    #[cfg_attr(feature = "openapi", schema(default = 0.7, minimum = 0, maximum = 1))]
    #[field(label = "Which are this part of all", brief)]
    pub ratio: f64,
    /// The time over which attempts are counted.
    #[serde(with = "wire::nanoseconds")]
    #[cfg_attr(feature = "openapi", schema(value_type = i64, default = 60_000_000_000_i64))]
    #[field(label = "Within", range = seconds(1)..=hours(1), brief)]
    pub window: Duration,
    /// The time after which the destination is tried again. It doubles with each try that fails.
    #[serde(with = "wire::nanoseconds")]
    #[cfg_attr(feature = "openapi", schema(value_type = i64, default = 30_000_000_000_i64))]
    #[field(label = "Wait before the next try", range = seconds(1)..=hours(1))]
    pub open_for: Duration,
    /// The longest time between two tries; at least `open_for`.
    #[serde(with = "wire::nanoseconds")]
    #[cfg_attr(feature = "openapi", schema(value_type = i64, default = 300_000_000_000_i64))]
    #[field(label = "At most so long", range = seconds(1)..=hours(1))]
    pub max_open_for: Duration,
}

impl Default for CircuitBreaker {
    fn default() -> Self {
        let [window, open_for, max_open_for] = [60, 30, 300].map(Duration::from_secs);
        Self { enabled: true, failures: 20, ratio: 0.7, window, open_for, max_open_for }
    }
}

impl CircuitBreaker {
    fn rules(&self) -> Result<(), Invalid> {
        let is_part = self.ratio > 0.0 && self.ratio <= 1.0;
        Invalid::when(!is_part, "ratio", "must be over 0 and at most 1")?;
        let is_short = self.max_open_for < self.open_for;
        Invalid::when(is_short, "max_open_for", "must be at least open_for")
    }
}

impl Health {
    /// The circuit breaker, when it is in force.
    #[must_use]
    pub fn circuit(&self) -> Option<CircuitBreaker> {
        (self.enabled && self.circuit.enabled).then_some(self.circuit)
    }

    /// Whether an output pauses whose destination has failed for so long.
    pub(crate) fn gives_up_after(&self, failed_for: Duration) -> bool {
        !self.pause_after.is_zero() && failed_for >= self.pause_after
    }
}

/// Whether attempts stop because most fail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CircuitState {
    /// Attempts continue, as they do without a circuit breaker.
    #[default]
    Closed,
    /// None is made for a while.
    Open,
    /// One at a time tries whether the destination is back.
    HalfOpen,
}
