//! Where everything is kept.

use std::path::PathBuf;

use webhook_core::model::Secret;
use webhook_storage::{DatabaseUrl, SecretKey};

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
    #[arg(value_name = "URL")]
    pub(crate) database_url: Option<DatabaseUrl>,
    /// The API key of the first account, starting with sk-. Without it one is
    /// made and printed at the first start. Later it replaces the key of the
    /// first account when they differ.
    #[arg(long, env = "WEBHOOK_API_KEY", global = true, hide_env_values = true)]
    #[arg(value_name = "KEY", value_parser = secret)]
    pub(crate) api_key: Option<Secret>,
    /// 32 bytes in base64 that secrets in the database are encrypted with.
    /// Without it, the file secret.key in the data folder, made at the first start.
    #[arg(long, env = "WEBHOOK_SECRET_KEY", global = true, hide_env_values = true)]
    #[arg(value_name = "BASE64")]
    pub(crate) secret_key: Option<SecretKey>,
}

fn secret(text: &str) -> Result<Secret, std::convert::Infallible> {
    Ok(Secret::new(text))
}
