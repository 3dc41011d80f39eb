//! The log.

use std::time::Duration;

use super::{ConfigError, refuse_if, value};

/// What is logged, to standard error, and how.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Logging")]
pub(crate) struct LogConfig {
    /// What is logged: error, warn, info, debug, trace, or a filter such as
    /// info,webhook_core::attempt=debug. Attempts that succeed are at the level debug, and with --dev
    /// they are logged by default.
    #[arg(long, env = "WEBHOOK_LOG", default_value = "info", value_name = "FILTER")]
    #[arg(default_value_if("dev", "true", "info,webhook_core::attempt=debug"))]
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

#[cfg(test)]
mod tests {
    use clap::{Args, FromArgMatches};

    use crate::config::Config;

    #[test]
    fn dev_logs_successes_unless_it_is_told_what_to_log() {
        let log = |args: &[&str]| {
            let command = Config::augment_args(clap::Command::new("serve"));
            let matches = command.get_matches_from([&["serve"], args].concat());
            Config::from_arg_matches(&matches).expect("options").log.log
        };
        assert_eq!(log(&[]), "info");
        assert_eq!(log(&["--dev"]), "info,webhook_core::attempt=debug");
        assert_eq!(log(&["--dev", "--log", "warn"]), "warn");
    }
}
