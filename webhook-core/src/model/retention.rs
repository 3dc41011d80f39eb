//! How long a bucket keeps its logs.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use webhook_wire::Error;

use super::{ExtensionObject, wire};

/// How long the logs of a bucket are kept, where that is shorter than its account's are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct LogRetention {
    /// How long logs are kept, in nanoseconds: a second at least; 0 for as long as the
    /// account's.
    #[serde(with = "wire::nanoseconds")]
    #[cfg_attr(feature = "openapi", schema(value_type = i64, default = 0, minimum = 0))]
    pub logs: Duration,
    /// How long those are kept that are `failed` or `stalled`, in nanoseconds: a second at
    /// least; 0 for as long as the others.
    #[serde(with = "wire::nanoseconds")]
    #[cfg_attr(feature = "openapi", schema(value_type = i64, default = 0, minimum = 0))]
    pub failed: Duration,
}

impl ExtensionObject for LogRetention {}

impl LogRetention {
    /// The least that can be said.
    const LEAST: Duration = Duration::from_secs(1);

    /// Logs are kept for `logs`, and those that did not arrive for `failed`.
    #[must_use]
    pub const fn new(logs: Duration, failed: Duration) -> Self {
        Self { logs, failed }
    }

    /// Says what is out of range, where the account's logs are kept for `longest`.
    pub(crate) fn check(&self, longest: Option<Duration>) -> Result<(), Error> {
        if *self == Self::default() {
            return Err(Error::invalid("retention", "must say logs, failed or both"));
        }
        let longest = longest.unwrap_or(Duration::from_nanos(i64::MAX.unsigned_abs()));
        for (field, time) in [("logs", self.logs), ("failed", self.failed)] {
            if !time.is_zero() && !(Self::LEAST..=longest).contains(&time) {
                let (least, most) = (Self::LEAST.as_nanos(), longest.as_nanos());
                let reason = format!(
                    "must be 0 or from {least} to {most} nanoseconds, which is how long the \
                     account's logs are kept"
                );
                return Err(Error::invalid(&format!("retention.{field}"), reason));
            }
        }
        Ok(())
    }

    /// What is kept for how long: `Some(true)` are the failed ones, `Some(false)` the others.
    pub(crate) fn parts(&self) -> impl Iterator<Item = (Option<bool>, Duration)> {
        let parts = match (self.logs, self.failed) {
            (logs, failed) if failed.is_zero() || logs == failed => [(None, logs); 2],
            (logs, failed) => [(Some(false), logs), (Some(true), failed)],
        };
        let count = if parts[0] == parts[1] { 1 } else { 2 };
        parts.into_iter().take(count).filter(|(_, keep)| !keep.is_zero())
    }
}
