//! How long logs are kept.

use std::time::Duration;

use super::{ConfigError, refuse_if, value};

/// How long logs are kept.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Logs of webhooks")]
pub(crate) struct RetentionConfig {
    /// How long webhooks, their logs and those of functions are kept, such as 30d, or forever.
    /// Older ones are removed in small batches; what is still to be delivered stays.
    #[arg(long, env = "WEBHOOK_LOG_RETENTION", default_value = "30d")]
    #[arg(value_name = "DURATION|forever", value_parser = value::retention)]
    pub(crate) log_retention: Retention,
}

/// How long something is kept; without a duration for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Retention(pub(crate) Option<Duration>);

impl RetentionConfig {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        let is_zero = self.log_retention == Retention(Some(Duration::ZERO));
        refuse_if(is_zero, "WEBHOOK_LOG_RETENTION", "must not be zero")
    }
}
