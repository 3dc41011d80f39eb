//! The log.

use std::time::Duration;

use super::{ConfigError, refuse_if, value};

/// What is logged, to standard error, and how.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Logging")]
pub(crate) struct LogConfig {
    /// What is logged: error, warn, info, debug, trace, or a filter such as
    /// info,webhook_core::relay=debug.
    #[arg(long, env = "WEBHOOK_LOG", default_value = "info", value_name = "FILTER")]
    pub(crate) log: String,
    /// How a line looks.
    #[arg(long, env = "WEBHOOK_LOG_FORMAT", default_value = "text", value_name = "FORMAT")]
    pub(crate) log_format: LogFormat,
    /// How long a line that is no warning or error may wait for others that are
    /// written with it, at most 60s. 0s writes each line at once, a system call for every attempt.
    #[arg(long, env = "WEBHOOK_LOG_DELAY", default_value = "100ms")]
    #[arg(value_name = "DURATION", value_parser = value::duration)]
    pub(crate) log_delay: Duration,
}

/// A log that is further behind is of no use to who looks at it.
const LONGEST_DELAY: Duration = Duration::from_secs(60);

/// How a line of the log looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum LogFormat {
    /// For people.
    Text,
    /// One JSON object per line.
    Json,
}

impl LogConfig {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        let is_long = self.log_delay > LONGEST_DELAY;
        refuse_if(is_long, "WEBHOOK_LOG_DELAY", "must not be longer than 60s")?;
        match tracing_subscriber::EnvFilter::try_new(&self.log) {
            Ok(_) => Ok(()),
            Err(error) => Err(ConfigError::new("WEBHOOK_LOG", error.to_string())),
        }
    }
}
