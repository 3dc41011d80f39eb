//! Delivering webhooks.

use webhook_core::{guard::AddressGuard, model::RetrySchedule};

use super::{ConfigError, at_least_one, refuse_if, value};

/// The attempts for an output that sets neither `durability` nor `retries`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum DefaultSchedule {
    /// Three attempts within 6 s, as the interface says.
    Interface,
    /// 25 minutes.
    Seconds,
    /// 16 hours.
    Medium,
    /// 30 days.
    Long,
}

impl DefaultSchedule {
    /// The schedule of the relay.
    pub(crate) const fn schedule(self) -> Option<RetrySchedule> {
        match self {
            Self::Interface => None,
            Self::Seconds => Some(RetrySchedule::Seconds),
            Self::Medium => Some(RetrySchedule::Medium),
            Self::Long => Some(RetrySchedule::Long),
        }
    }
}

/// Where webhooks may go, and what waits in memory on the way.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Delivering webhooks")]
pub(crate) struct DeliveryConfig {
    /// Whether destinations may be private, loopback and other non-public
    /// addresses: true, false, or the networks that may be, separated by commas.
    #[arg(long, env = "WEBHOOK_ALLOW_PRIVATE_DESTINATIONS", default_value = "false")]
    #[arg(value_name = "true|false|NETWORKS")]
    pub(crate) allow_private_destinations: AddressGuard,
    /// Requests in flight to one output, unless its throttle says less.
    #[arg(long, env = "WEBHOOK_OUTPUT_CONCURRENCY", default_value_t = 128, value_name = "COUNT")]
    pub(crate) output_concurrency: usize,
    /// The schedule of attempts for outputs that set neither durability nor retries: interface (three
    /// attempts within 6 s), seconds, medium or long. Without it interface, and medium with --dev.
    #[arg(long, env = "WEBHOOK_DEFAULT_SCHEDULE", value_name = "SCHEDULE")]
    pub(crate) default_schedule: Option<DefaultSchedule>,
    /// Deliveries of one output that may wait; over it senders get 503.
    #[arg(long, env = "WEBHOOK_OUTPUT_BACKLOG", default_value_t = 1_000_000, value_name = "COUNT")]
    pub(crate) output_backlog: u64,
    /// Webhooks that wait in memory together; what exceeds it waits in the database. An eighth of
    /// the memory limit of a container, if that is less.
    #[arg(long, env = "WEBHOOK_MEMORY_BUDGET", default_value = "64MiB")]
    #[arg(value_name = "SIZE", value_parser = value::bytes)]
    pub(crate) memory_budget: usize,
}

impl DeliveryConfig {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        at_least_one("WEBHOOK_OUTPUT_CONCURRENCY", self.output_concurrency)?;
        refuse_if(self.output_backlog == 0, "WEBHOOK_OUTPUT_BACKLOG", "must be at least 1")
    }
}
