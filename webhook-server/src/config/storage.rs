//! Where everything is kept.

use std::path::PathBuf;

use webhook_core::model::Secret;

use super::ConfigError;

const HEADING: &str = "Storage";

/// The database, the key of its secrets, and the first account.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = HEADING)]
pub(crate) struct StorageConfig {
    /// The data folder; made when it is missing.
    #[arg(long, env = "WEBHOOK_DATA_DIR", default_value = "./webhook-data", global = true)]
    #[arg(value_name = "FOLDER")]
    pub(crate) data_dir: PathBuf,
    /// The database: sqlite://file or postgres://user:password@host/name.
    /// Without it, SQLite in the data folder.
    #[arg(long, env = "WEBHOOK_DATABASE_URL", global = true, hide_env_values = true)]
    #[arg(value_name = "URL", value_parser = secret)]
    pub(crate) database_url: Option<Secret>,
    /// The API key of the first account, starting with sk-. Without it one is
    /// made and printed at the first start. Later it replaces the key of the
    /// first account when they differ.
    #[arg(long, env = "WEBHOOK_API_KEY", global = true, hide_env_values = true)]
    #[arg(value_name = "KEY", value_parser = secret)]
    pub(crate) api_key: Option<Secret>,
    /// 32 bytes in base64 that secrets in the database are encrypted with.
    /// Without it, the file secret.key in the data folder, made at the first start.
    #[arg(long, env = "WEBHOOK_SECRET_KEY", global = true, hide_env_values = true)]
    #[arg(value_name = "BASE64", value_parser = secret)]
    pub(crate) secret_key: Option<Secret>,
}

fn secret(text: &str) -> Result<Secret, std::convert::Infallible> {
    Ok(Secret::new(text))
}

impl StorageConfig {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        match &self.database_url {
            Some(url)
                if !["sqlite:", "postgres:", "postgresql:"]
                    .iter()
                    .any(|scheme| url.expose().starts_with(scheme)) =>
            {
                let reason = "must start with sqlite:// or postgres://";
                Err(ConfigError::new("WEBHOOK_DATABASE_URL", reason))
            }
            _ => Ok(()),
        }
    }
}
