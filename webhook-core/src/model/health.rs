//! How an output behaves when its destination fails, and the present state of an output.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{ExtensionObject, wire};
use crate::{
    clock::Timestamp,
    error::{Error, invalid_if},
};

/// What becomes of an output whose destination fails.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Health {
    /// Whether the rest applies.
    #[serde(deserialize_with = "wire::null_true")]
    pub enabled: bool,
    /// Whether an answer of 410 (Gone) pauses the output, until somebody resumes it.
    #[serde(deserialize_with = "wire::null_true")]
    pub pause_on_gone: bool,
    /// After how long of failing `output.failing` is told ([notifications](super::Notification)),
    /// in nanoseconds. A minute to 30 days; 0 for never.
    #[serde(with = "wire::nanoseconds")]
    #[cfg_attr(feature = "openapi", schema(value_type = i64, default = 3_600_000_000_000_i64))]
    pub notify_after: Duration,
    /// After how long of failing the output is paused, in nanoseconds. Then the oldest webhook
    /// that waits is tried once an hour, and the pause ends when that succeeds. 12 h to 90 days;
    /// 0 for never.
    #[serde(with = "wire::nanoseconds")]
    #[cfg_attr(feature = "openapi", schema(value_type = i64, default = 432_000_000_000_000_i64))]
    pub pause_after: Duration,
    /// When attempts stop for a while because most fail.
    #[serde(deserialize_with = "wire::null_default_object")]
    pub circuit: CircuitBreaker,
}

impl Default for Health {
    fn default() -> Self {
        let circuit = CircuitBreaker::default();
        Self {
            enabled: true,
            pause_on_gone: true,
            notify_after: hours(1),
            pause_after: hours(5 * 24),
            circuit,
        }
    }
}

impl ExtensionObject for Health {}

const fn hours(hours: u64) -> Duration {
    Duration::from_secs(hours * 3600)
}

/// When attempts stop because most fail: no connection, no answer in time, 429 and 5xx. Then
/// one attempt at a time tries whether the destination is back, and the others wait without
/// using up an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct CircuitBreaker {
    /// Whether the rest applies.
    #[serde(deserialize_with = "wire::null_true")]
    pub enabled: bool,
    /// How many attempts have to have failed within `window`; 1 to 1 000.
    #[cfg_attr(feature = "openapi", schema(default = 20, minimum = 1, maximum = 1000))]
    pub failures: u32,
    /// Which part of the attempts within `window` they have to be; over 0, at most 1.
    #[cfg_attr(feature = "openapi", schema(default = 0.7, minimum = 0, maximum = 1))]
    pub ratio: f64,
    /// The time that is looked at, in nanoseconds; a second to an hour.
    #[serde(with = "wire::nanoseconds")]
    #[cfg_attr(feature = "openapi", schema(value_type = i64, default = 60_000_000_000_i64))]
    pub window: Duration,
    /// After how long the destination is tried again, in nanoseconds; a second to an hour. It
    /// doubles with each try that fails.
    #[serde(with = "wire::nanoseconds")]
    #[cfg_attr(feature = "openapi", schema(value_type = i64, default = 30_000_000_000_i64))]
    pub open_for: Duration,
    /// How long that becomes at most, in nanoseconds; `open_for` to an hour.
    #[serde(with = "wire::nanoseconds")]
    #[cfg_attr(feature = "openapi", schema(value_type = i64, default = 300_000_000_000_i64))]
    pub max_open_for: Duration,
}

impl Default for CircuitBreaker {
    fn default() -> Self {
        let [window, open_for, max_open_for] = [60, 30, 300].map(Duration::from_secs);
        Self { enabled: true, failures: 20, ratio: 0.7, window, open_for, max_open_for }
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

    /// Says what is out of range.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let [second, hour] = [1, 3600].map(Duration::from_secs);
        let minute = Duration::from_secs(60);
        for (field, time, least, most) in [
            ("notify_after", self.notify_after, minute, hours(30 * 24)),
            ("pause_after", self.pause_after, hours(12), hours(90 * 24)),
        ] {
            let is_within = time.is_zero() || (least..=most).contains(&time);
            let (least, most) = (least.as_nanos(), most.as_nanos());
            let reason = format_args!("must be 0 or from {least} to {most} nanoseconds");
            invalid_if(!is_within, &format!("health.{field}"), reason)?;
        }
        let CircuitBreaker { enabled: _, failures, ratio, window, open_for, max_open_for } =
            self.circuit;
        let reason = "must be from 1 to 1000";
        invalid_if(!(1..=1_000).contains(&failures), "health.circuit.failures", reason)?;
        let reason = "must be over 0 and at most 1";
        invalid_if(!(ratio > 0.0 && ratio <= 1.0), "health.circuit.ratio", reason)?;
        for (field, time, least) in [
            ("window", window, second),
            ("open_for", open_for, second),
            ("max_open_for", max_open_for, open_for),
        ] {
            let is_within = (least..=hour).contains(&time);
            let (least, most) = (least.as_nanos(), hour.as_nanos());
            let reason = format_args!("must be from {least} to {most} nanoseconds");
            invalid_if(!is_within, &format!("health.circuit.{field}"), reason)?;
        }
        Ok(())
    }
}

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
