//! Who may read the metrics.

use std::net::SocketAddr;

use webhook_core::model::Secret;

use super::{ConfigError, refuse_if};

/// The shortest token, in bytes.
const MIN_TOKEN_BYTES: usize = 16;

/// Where the metrics are, and what has to be shown for them.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Metrics")]
pub(crate) struct MetricsConfig {
    /// Address and port of their own for /metrics, /healthz and /readyz, without TLS; port 0
    /// takes a free one. Then /metrics is there only.
    #[arg(long, env = "WEBHOOK_METRICS_LISTEN", value_name = "ADDRESS:PORT")]
    pub(crate) metrics_listen: Option<SocketAddr>,
    /// What whoever reads the metrics has to show as Authorization: Bearer, at least 16
    /// characters. With neither this nor an address of their own they are for this machine,
    /// unless a proxy forwards the request, and for whoever shows an API key.
    #[arg(long, env = "WEBHOOK_METRICS_TOKEN", hide_env_values = true)]
    #[arg(value_name = "TOKEN", value_parser = super::secret)]
    pub(crate) metrics_token: Option<Secret>,
}

impl MetricsConfig {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        let Some(token) = &self.metrics_token else { return Ok(()) };
        let token = token.expose();
        // It is not repeated here.
        let fits =
            token.len() >= MIN_TOKEN_BYTES && token.bytes().all(|byte| byte.is_ascii_graphic());
        let reason = "must be at least 16 characters of ASCII without blanks";
        refuse_if(!fits, "WEBHOOK_METRICS_TOKEN", reason)
    }
}
