//! The management operations.

use std::time::Duration;

use webhook_core::{admin::AdminOptions, guard::AddressGuard};

use super::{ConfigError, at_least_one, refuse_if, value};

/// The body of a report: 3 MiB in base64, and the JSON around it.
pub(crate) const MAX_REPORT_BYTES: usize = 5 << 20;
/// Clients that wait for an answer give up some time.
const MAX_DELAY: Duration = Duration::from_secs(5);

/// The product that decides where this server and the hosted product differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Compatibility {
    /// The hosted product decides.
    Hosted,
}

/// What management requests may cost, and how much an account may have.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Management operations")]
pub(crate) struct ManagementConfig {
    /// Whose decisions count where the hosted product differs from the document, for Terraform:
    /// with `hosted`, a missing function is 404, and an absent tls_verification or stream is false.
    #[arg(long, env = "WEBHOOK_COMPATIBILITY", value_name = "hosted")]
    pub(crate) compatibility: Option<Compatibility>,
    /// The longest body of a management request; over it 413.
    #[arg(long, env = "WEBHOOK_MAX_REQUEST_BYTES", default_value = "1MiB")]
    #[arg(value_name = "SIZE", value_parser = value::bytes)]
    pub(crate) max_request_bytes: usize,
    /// Management requests that are answered at once; over it 503.
    #[arg(long, env = "WEBHOOK_MAX_REQUESTS", default_value_t = 256, value_name = "COUNT")]
    pub(crate) max_requests: usize,
    /// Their bodies that are arriving, together, and half of it for one account;
    /// over it 503. An eighth of the memory limit of a container, if that is less.
    #[arg(long, env = "WEBHOOK_MAX_ARRIVING_BYTES", default_value = "128MiB")]
    #[arg(value_name = "SIZE", value_parser = value::bytes)]
    pub(crate) max_arriving_bytes: usize,
    /// Wrong credentials of one address (of IPv6: one /64 network) in a minute
    /// that are answered at once, over HTTP and the WebSocket. Right ones always are.
    #[arg(long, env = "WEBHOOK_WRONG_CREDENTIALS", default_value_t = 10, value_name = "COUNT")]
    pub(crate) wrong_credentials: u32,
    /// How long the answer to further ones is held back, four at a time; over
    /// it 429. With 0s nobody is slowed down.
    #[arg(long, env = "WEBHOOK_WRONG_CREDENTIALS_DELAY", default_value = "1s")]
    #[arg(value_name = "DURATION", value_parser = value::duration)]
    pub(crate) wrong_credentials_delay: Duration,
    /// Buckets of one account; over it 412.
    #[arg(long, env = "WEBHOOK_MAX_BUCKETS", default_value_t = 1_000, value_name = "COUNT")]
    pub(crate) max_buckets: usize,
    /// Inputs of one bucket; over it 412.
    #[arg(long, env = "WEBHOOK_MAX_INPUTS", default_value_t = 100, value_name = "COUNT")]
    pub(crate) max_inputs: usize,
    /// Outputs of one bucket; over it 412.
    #[arg(long, env = "WEBHOOK_MAX_OUTPUTS", default_value_t = 100, value_name = "COUNT")]
    pub(crate) max_outputs: usize,
    /// Bytes of webhooks and answers that one call of a search in logs looks at; its
    /// answer says how far it came.
    #[arg(long, env = "WEBHOOK_MAX_SEARCH_BYTES", default_value = "64MiB")]
    #[arg(value_name = "SIZE", value_parser = value::bytes)]
    pub(crate) max_search_bytes: usize,
    /// How long it looks, at most 5s.
    #[arg(long, env = "WEBHOOK_MAX_SEARCH_TIME", default_value = "300ms")]
    #[arg(value_name = "DURATION", value_parser = value::duration)]
    pub(crate) max_search_time: Duration,
}

impl ManagementConfig {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        at_least_one("WEBHOOK_MAX_REQUEST_BYTES", self.max_request_bytes)?;
        at_least_one("WEBHOOK_MAX_REQUESTS", self.max_requests)?;
        let longest = self.max_request_bytes.max(MAX_REPORT_BYTES);
        let reason = format!("must be at least {} bytes", longest.saturating_mul(2));
        let is_small = self.max_arriving_bytes / 2 < longest;
        refuse_if(is_small, "WEBHOOK_MAX_ARRIVING_BYTES", reason)?;
        at_least_one("WEBHOOK_WRONG_CREDENTIALS", self.wrong_credentials as usize)?;
        let at_most = format!("must be at most {}s", MAX_DELAY.as_secs());
        let is_long = self.wrong_credentials_delay > MAX_DELAY;
        refuse_if(is_long, "WEBHOOK_WRONG_CREDENTIALS_DELAY", &at_most)?;
        at_least_one("WEBHOOK_MAX_SEARCH_BYTES", self.max_search_bytes)?;
        refuse_if(self.max_search_time > MAX_DELAY, "WEBHOOK_MAX_SEARCH_TIME", at_most)?;
        at_least_one("WEBHOOK_MAX_BUCKETS", self.max_buckets)?;
        at_least_one("WEBHOOK_MAX_INPUTS", self.max_inputs)?;
        at_least_one("WEBHOOK_MAX_OUTPUTS", self.max_outputs)
    }

    /// The bounds that the library checks.
    pub(crate) fn admin_options(&self, guard: AddressGuard) -> AdminOptions {
        let mut options = AdminOptions::default();
        options.guard = guard;
        options.missing_functions_are_not_found = self.compatibility.is_some();
        options.max_buckets_per_account = self.max_buckets;
        options.max_inputs_per_bucket = self.max_inputs;
        options.max_outputs_per_bucket = self.max_outputs;
        options.max_search_bytes = self.max_search_bytes;
        options.max_search_time = self.max_search_time;
        options
    }
}
