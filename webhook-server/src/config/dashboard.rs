//! The dashboard.

use std::net::SocketAddr;

use super::{ConfigError, ListenConfig, refuse_if};

/// Where the dashboard is.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Dashboard")]
pub(crate) struct DashboardConfig {
    /// Address and port of the dashboard, of its own because what inputs answer must not
    /// share an origin with it; port 0 takes a free one. TLS is as at WEBHOOK_LISTEN. There
    /// is no dashboard without it, unless with --dev, which puts it at WEBHOOK_LISTEN.
    #[arg(long, env = "WEBHOOK_DASHBOARD_LISTEN", value_name = "ADDRESS:PORT")]
    pub(crate) dashboard_listen: Option<SocketAddr>,
}

impl DashboardConfig {
    pub(super) fn validate(&self, listen: &ListenConfig) -> Result<(), ConfigError> {
        let Some(address) = self.dashboard_listen else { return Ok(()) };
        let option = "WEBHOOK_DASHBOARD_LISTEN";
        let reason = "this server was built without the dashboard";
        refuse_if(!cfg!(feature = "dashboard"), option, reason)?;
        let reason = format!("with --dev it must be a loopback address, not {address}");
        refuse_if(listen.dev && !address.ip().is_loopback(), option, reason)
    }
}
