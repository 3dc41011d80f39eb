//! Receiving webhooks.

use std::time::Duration;

use super::{ConfigError, at_least_one, not_zero, refuse_if, value};

/// What a webhook may cost while it is received.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Receiving webhooks")]
pub(crate) struct IngestConfig {
    /// The longest body of a webhook; over it the sender gets 413.
    #[arg(long, env = "WEBHOOK_MAX_BODY_BYTES", default_value = "3MiB")]
    #[arg(value_name = "SIZE", value_parser = value::bytes)]
    pub(crate) max_body_bytes: usize,
    /// The longest body in buckets with large_webhooks.
    #[arg(long, env = "WEBHOOK_MAX_LARGE_BODY_BYTES", default_value = "25MiB")]
    #[arg(value_name = "SIZE", value_parser = value::bytes)]
    pub(crate) max_large_body_bytes: usize,
    /// All bodies that are being received together; over it senders get 503. A quarter of the
    /// memory limit of a container, if that is less.
    #[arg(long, env = "WEBHOOK_MAX_RECEIVING_BYTES", default_value = "256MiB")]
    #[arg(value_name = "SIZE", value_parser = value::bytes)]
    pub(crate) max_receiving_bytes: usize,
    /// How long a sender may take to send the body.
    #[arg(long, env = "WEBHOOK_BODY_TIMEOUT", default_value = "30s")]
    #[arg(value_name = "DURATION", value_parser = value::duration)]
    pub(crate) body_timeout: Duration,
    /// How long storing a webhook may take; past it the sender gets 503.
    #[arg(long, env = "WEBHOOK_ACCEPT_TIMEOUT", default_value = "5s")]
    #[arg(value_name = "DURATION", value_parser = value::duration)]
    pub(crate) accept_timeout: Duration,
    /// How many relays a webhook may pass, this one included. Past it a delivery fails as a loop, and
    /// a sender gets 508. 0 ends no loop.
    #[arg(long, env = "WEBHOOK_MAX_HOPS", default_value_t = 8)]
    #[arg(value_name = "COUNT", value_parser = clap::value_parser!(u16).range(0..=999))]
    pub(crate) max_hops: u16,
    /// Webhooks whose signature fails that are kept of each input in an hour, by each server; the
    /// others leave nothing but their 401. 0 keeps none.
    #[arg(long, env = "WEBHOOK_REFUSED_LOGS_PER_HOUR", default_value_t = 100)]
    #[arg(value_name = "COUNT")]
    pub(crate) refused_logs_per_hour: u32,
}

impl IngestConfig {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        at_least_one("WEBHOOK_MAX_BODY_BYTES", self.max_body_bytes)?;
        let reason = "must not be less than WEBHOOK_MAX_BODY_BYTES";
        let is_less = self.max_large_body_bytes < self.max_body_bytes;
        refuse_if(is_less, "WEBHOOK_MAX_LARGE_BODY_BYTES", reason)?;
        let reason = "must not be less than WEBHOOK_MAX_LARGE_BODY_BYTES";
        let is_less = self.max_receiving_bytes < self.max_large_body_bytes;
        refuse_if(is_less, "WEBHOOK_MAX_RECEIVING_BYTES", reason)?;
        not_zero("WEBHOOK_BODY_TIMEOUT", self.body_timeout)?;
        not_zero("WEBHOOK_ACCEPT_TIMEOUT", self.accept_timeout)
    }
}
