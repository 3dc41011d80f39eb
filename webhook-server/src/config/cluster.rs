//! Several servers over one database.

use webhook_core::model::Secret;
use webhook_storage::DatabaseUrl;

use super::{ConfigError, StorageConfig};
use crate::nats;

const HEADING: &str = "Several machines";
const NATS_URL: &str = "WEBHOOK_NATS_URL";

/// What servers over one database tell one another.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = HEADING)]
pub(crate) struct ClusterConfig {
    /// NATS servers, separated by commas, such as nats://user:password@host:4222, over which
    /// the servers on one PostgreSQL database tell one another what changes and what they
    /// receive. Nothing is lost without them; it only takes longer.
    #[arg(long, env = "WEBHOOK_NATS_URL", global = true, hide_env_values = true)]
    #[arg(value_name = "URL", value_parser = super::secret)]
    pub(crate) nats_url: Option<Secret>,
}

impl ClusterConfig {
    pub(super) fn validate(&self, storage: &StorageConfig) -> Result<(), ConfigError> {
        let Some(url) = &self.nats_url else { return Ok(()) };
        if !matches!(storage.database_url, Some(DatabaseUrl::Postgres(_))) {
            let reason =
                "is for servers that share a PostgreSQL database: set WEBHOOK_DATABASE_URL";
            return Err(ConfigError::new(NATS_URL, reason));
        }
        nats::check(url).map_err(|reason| ConfigError::new(NATS_URL, reason))
    }
}
