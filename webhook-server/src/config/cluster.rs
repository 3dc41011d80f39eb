//! Several servers over one database.

use std::{ops::RangeInclusive, time::Duration};

use webhook_core::model::Secret;

use super::{ConfigError, StorageConfig, refuse_if, value};

const NATS_URL: &str = "WEBHOOK_NATS_URL";
const SERVER_LEASE: &str = "WEBHOOK_SERVER_LEASE";

/// The leases that a server may have: a shorter one ends when its database is slow once.
const LEASES: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_secs(60);

/// How many times a server looks during its lease whether another server is gone.
const LOOKS_PER_LEASE: u32 = 5;

/// What servers over one database tell one another.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Several machines")]
pub(crate) struct ClusterConfig {
    /// NATS servers, separated by commas, such as nats://user:password@host:4222, over which
    /// the servers on one PostgreSQL database tell one another what changes and what they
    /// receive. Nothing is lost without them; it only takes longer.
    #[arg(long, env = "WEBHOOK_NATS_URL", hide_env_values = true)]
    #[arg(value_name = "URL", value_parser = super::secret)]
    pub(crate) nats_url: Option<Secret>,
    /// How long a server that is gone holds its deliveries in a shared PostgreSQL database, 1s to
    /// 60s. Hidden: the pages describe a lease of 5s, and tests take a shorter one.
    #[arg(long, env = "WEBHOOK_SERVER_LEASE", default_value = "5s", hide = true)]
    #[arg(value_name = "DURATION", value_parser = value::duration)]
    pub(crate) server_lease: Duration,
}

impl ClusterConfig {
    pub(super) fn validate(&self, storage: &StorageConfig) -> Result<(), ConfigError> {
        refuse_if(!LEASES.contains(&self.server_lease), SERVER_LEASE, "must be from 1s to 60s")?;
        let Some(url) = &self.nats_url else { return Ok(()) };
        let reason = "is for servers that share a PostgreSQL database: set WEBHOOK_DATABASE_URL";
        refuse_if(!storage.is_shared(), NATS_URL, reason)?;
        check(url).map_err(|reason| ConfigError::new(NATS_URL, reason))
    }

    /// How often a server renews its lease and offers to look for what a server left behind
    /// that is gone.
    pub(crate) fn sweep_interval(&self) -> Duration {
        self.server_lease / LOOKS_PER_LEASE
    }
}

/// Checks the address. The error says what is wrong with it.
#[cfg(feature = "nats")]
fn check(url: &Secret) -> Result<(), String> {
    webhook_core::cluster::nats::check(url.expose()).map_err(|error| error.to_string())
}

#[cfg(not(feature = "nats"))]
fn check(_: &Secret) -> Result<(), String> {
    Err("this program was built without the feature nats".to_owned())
}
