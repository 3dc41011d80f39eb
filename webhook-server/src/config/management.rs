//! The management operations.

use webhook_core::{admin::AdminOptions, forward::guard::AddressGuard};

use super::{ConfigError, at_least_one, value};

const HEADING: &str = "Management operations";

/// What management requests may cost, and how much an account may have.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = HEADING)]
pub(crate) struct ManagementConfig {
    /// The longest body of a management request; over it 413.
    #[arg(long, env = "WEBHOOK_MAX_REQUEST_BYTES", default_value = "1MiB", global = true)]
    #[arg(value_name = "SIZE", value_parser = value::bytes)]
    pub(crate) max_request_bytes: usize,
    /// Management requests that are answered at once; over it 503.
    #[arg(long, env = "WEBHOOK_MAX_REQUESTS", default_value_t = 256, global = true)]
    #[arg(value_name = "COUNT")]
    pub(crate) max_requests: usize,
    /// Buckets of one account; over it 412.
    #[arg(long, env = "WEBHOOK_MAX_BUCKETS", default_value_t = 1_000, global = true)]
    #[arg(value_name = "COUNT")]
    pub(crate) max_buckets: usize,
    /// Inputs of one bucket; over it 412.
    #[arg(long, env = "WEBHOOK_MAX_INPUTS", default_value_t = 100, global = true)]
    #[arg(value_name = "COUNT")]
    pub(crate) max_inputs: usize,
    /// Outputs of one bucket; over it 412.
    #[arg(long, env = "WEBHOOK_MAX_OUTPUTS", default_value_t = 100, global = true)]
    #[arg(value_name = "COUNT")]
    pub(crate) max_outputs: usize,
}

impl ManagementConfig {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        at_least_one("WEBHOOK_MAX_REQUEST_BYTES", self.max_request_bytes)?;
        at_least_one("WEBHOOK_MAX_REQUESTS", self.max_requests)?;
        at_least_one("WEBHOOK_MAX_BUCKETS", self.max_buckets)?;
        at_least_one("WEBHOOK_MAX_INPUTS", self.max_inputs)?;
        at_least_one("WEBHOOK_MAX_OUTPUTS", self.max_outputs)
    }

    /// The bounds that the library checks.
    pub(crate) fn admin_options(&self, guard: AddressGuard) -> AdminOptions {
        let mut options = AdminOptions::default();
        options.guard = guard;
        options.max_buckets_per_account = self.max_buckets;
        options.max_inputs_per_bucket = self.max_inputs;
        options.max_outputs_per_bucket = self.max_outputs;
        options
    }
}
