//! The dashboard.

use std::net::SocketAddr;

use super::{ConfigError, ListenConfig};

const HEADING: &str = "Dashboard";

/// Where the dashboard is.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = HEADING)]
pub(crate) struct DashboardConfig {
    /// Address and port of the dashboard, of its own because what inputs answer must not
    /// share an origin with it; port 0 takes a free one. TLS is as at WEBHOOK_LISTEN. There
    /// is no dashboard without it, unless with --dev, which puts it at WEBHOOK_LISTEN.
    #[arg(long, env = "WEBHOOK_DASHBOARD_LISTEN", global = true, value_name = "ADDRESS:PORT")]
    pub(crate) dashboard_listen: Option<SocketAddr>,
}

impl DashboardConfig {
    pub(super) fn validate(&self, listen: &ListenConfig) -> Result<(), ConfigError> {
        let Some(address) = self.dashboard_listen else { return Ok(()) };
        let option = "WEBHOOK_DASHBOARD_LISTEN";
        if !cfg!(feature = "dashboard") {
            return Err(ConfigError::new(option, "this server was built without the dashboard"));
        }
        if listen.dev && !address.ip().is_loopback() {
            let reason = format!("with --dev it must be a loopback address, not {address}");
            return Err(ConfigError::new(option, reason));
        }
        Ok(())
    }
}
