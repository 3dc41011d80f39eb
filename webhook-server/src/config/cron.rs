//! Crons.

use std::time::Duration;

use webhook_core::admin::AdminOptions;

use super::{ConfigError, refuse_if, value};

/// How many crons an account may have, and how often they may run.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Crons")]
pub(crate) struct CronConfig {
    /// Crons of one account; over it 400.
    #[arg(long, env = "WEBHOOK_MAX_CRONS", default_value_t = 100, value_name = "COUNT")]
    pub(crate) max_crons: usize,
    /// The shortest time between two runs of a cron; under it 400. What is
    /// there already keeps its schedule.
    #[arg(long, env = "WEBHOOK_MIN_CRON_PERIOD", default_value = "1s")]
    #[arg(value_name = "DURATION", value_parser = value::duration)]
    pub(crate) min_cron_period: Duration,
    /// The longest payload of a cron; over it 400.
    #[arg(long, env = "WEBHOOK_MAX_CRON_PAYLOAD_BYTES", default_value = "256KiB")]
    #[arg(value_name = "SIZE", value_parser = value::bytes)]
    pub(crate) max_cron_payload_bytes: usize,
}

impl CronConfig {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        let is_short = self.min_cron_period < Duration::from_secs(1);
        refuse_if(is_short, "WEBHOOK_MIN_CRON_PERIOD", "must be at least 1s")
    }

    /// Puts the bounds that the library checks into `options`.
    pub(crate) fn bound(&self, options: &mut AdminOptions) {
        options.max_crons_per_account = self.max_crons;
        options.min_cron_period = self.min_cron_period;
        options.max_cron_payload_bytes = self.max_cron_payload_bytes;
    }
}
