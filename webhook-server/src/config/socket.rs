//! Connected clients.

use std::time::Duration;

use super::{ConfigError, at_least_one, not_zero, refuse_if, value};

/// What clients of `/v1/socket` may cost.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Connected clients")]
pub(crate) struct SocketConfig {
    /// Clients that are connected to the WebSocket at once and have said who they
    /// are; over it 503.
    #[arg(long, env = "WEBHOOK_MAX_SOCKETS", default_value_t = 5_000, value_name = "COUNT")]
    pub(crate) max_sockets: u32,
    /// Clients that have not said yet who they are, half of them from one address
    /// (of IPv6: one /64 network) at most; over it 503. Each has 10 s.
    #[arg(long, env = "WEBHOOK_MAX_UNAUTHENTICATED_SOCKETS", default_value_t = 256)]
    #[arg(value_name = "COUNT")]
    pub(crate) max_unauthenticated_sockets: u32,
    /// How often a client is asked whether it is there; one that does not
    /// answer two times is disconnected.
    #[arg(long, env = "WEBHOOK_SOCKET_PING_INTERVAL", default_value = "30s")]
    #[arg(value_name = "DURATION", value_parser = value::duration)]
    pub(crate) socket_ping_interval: Duration,
    /// How long a client may take to read what it is sent before it is disconnected.
    #[arg(long, env = "WEBHOOK_SOCKET_WRITE_TIMEOUT", default_value = "30s")]
    #[arg(value_name = "DURATION", value_parser = value::duration)]
    pub(crate) socket_write_timeout: Duration,
}

/// More would be no bound, and is more than a semaphore can count everywhere.
const MAX_SOCKETS: u32 = 1 << 24;

impl SocketConfig {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        at_least_one("WEBHOOK_MAX_SOCKETS", self.max_sockets as usize)?;
        let unauthenticated = self.max_unauthenticated_sockets as usize;
        at_least_one("WEBHOOK_MAX_UNAUTHENTICATED_SOCKETS", unauthenticated)?;
        let reason = format!("must be at most {MAX_SOCKETS}");
        refuse_if(self.max_sockets > MAX_SOCKETS, "WEBHOOK_MAX_SOCKETS", reason)?;
        not_zero("WEBHOOK_SOCKET_PING_INTERVAL", self.socket_ping_interval)?;
        not_zero("WEBHOOK_SOCKET_WRITE_TIMEOUT", self.socket_write_timeout)
    }
}
