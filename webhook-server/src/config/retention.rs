//! How long logs are kept.

use std::time::Duration;

use super::{ConfigError, value};

const HEADING: &str = "Logs of webhooks";

/// How long logs are kept.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = HEADING)]
pub(crate) struct RetentionConfig {
    /// How long webhooks, their logs and those of functions are kept, such as 30d, or forever.
    /// Older ones are removed in small batches; what is still to be delivered stays.
    #[arg(long, env = "WEBHOOK_LOG_RETENTION", default_value = "30d", global = true)]
    #[arg(value_name = "DURATION|forever", value_parser = value::retention)]
    pub(crate) log_retention: Retention,
}

/// How long something is kept; without a duration for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Retention(pub(crate) Option<Duration>);

impl RetentionConfig {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        match self.log_retention {
            Retention(Some(Duration::ZERO)) => {
                Err(ConfigError::new("WEBHOOK_LOG_RETENTION", "must not be zero"))
            }
            _ => Ok(()),
        }
    }
}
