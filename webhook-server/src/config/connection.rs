//! What a connection may hold, and for how long.

use std::time::Duration;

use super::{ConfigError, at_least_one, not_zero, refuse_if, value};

/// The bounds that keep slow and hostile clients from the others.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Connections")]
pub(crate) struct ConnectionConfig {
    /// Connections of one address, or of one /64 network of IPv6; over it they
    /// are closed at once. Those of WEBHOOK_TRUSTED_PROXIES are not counted.
    #[arg(long, env = "WEBHOOK_MAX_CONNECTIONS_PER_ADDRESS", default_value_t = 1_000)]
    #[arg(value_name = "COUNT")]
    pub(crate) max_connections_per_address: usize,
    /// How long a client may read nothing of an answer before its connection is cut.
    #[arg(long, env = "WEBHOOK_WRITE_TIMEOUT", default_value = "30s")]
    #[arg(value_name = "DURATION", value_parser = value::duration)]
    pub(crate) write_timeout: Duration,
    /// How long is read on after an answer that came before the whole request,
    /// such as 413, so that the client sees the answer; 0s closes at once.
    #[arg(long, env = "WEBHOOK_LINGER_TIMEOUT", default_value = "5s")]
    #[arg(value_name = "DURATION", value_parser = value::duration)]
    pub(crate) linger_timeout: Duration,
    /// How much of such a request is read at most.
    #[arg(long, env = "WEBHOOK_MAX_LINGER_BYTES", default_value = "64MiB")]
    #[arg(value_name = "SIZE", value_parser = value::bytes)]
    pub(crate) max_linger_bytes: usize,
    /// Requests at once on one HTTP/2 connection; more are refused.
    #[arg(long, env = "WEBHOOK_MAX_STREAMS", default_value_t = 32, value_name = "COUNT")]
    pub(crate) max_streams: u32,
    /// What is buffered of each answer over HTTP/2 that is not read.
    #[arg(long, env = "WEBHOOK_MAX_STREAM_BUFFER_BYTES", default_value = "16KiB")]
    #[arg(value_name = "SIZE", value_parser = value::bytes)]
    pub(crate) max_stream_buffer_bytes: usize,
    /// All answers over 4 KiB together that wait to be read; over it clients
    /// get 503. The pages of the reference are held once and do not count. A
    /// sixteenth of the memory limit of a container, if that is less.
    #[arg(long, env = "WEBHOOK_MAX_SENDING_BYTES", default_value = "64MiB")]
    #[arg(value_name = "SIZE", value_parser = value::bytes)]
    pub(crate) max_sending_bytes: usize,
}

impl ConnectionConfig {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        at_least_one("WEBHOOK_MAX_CONNECTIONS_PER_ADDRESS", self.max_connections_per_address)?;
        at_least_one("WEBHOOK_MAX_STREAMS", self.max_streams as usize)?;
        at_least_one("WEBHOOK_MAX_STREAM_BUFFER_BYTES", self.max_stream_buffer_bytes)?;
        not_zero("WEBHOOK_WRITE_TIMEOUT", self.write_timeout)?;
        let is_small = self.max_sending_bytes < 1 << 20;
        refuse_if(is_small, "WEBHOOK_MAX_SENDING_BYTES", "must be at least 1MiB")
    }
}
