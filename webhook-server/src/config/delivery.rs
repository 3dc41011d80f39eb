//! Delivering webhooks.

use webhook_core::guard::AddressGuard;

use super::{ConfigError, at_least_one, refuse_if, value};

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
