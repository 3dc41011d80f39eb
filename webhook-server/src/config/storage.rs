//! Where everything is kept.

use std::{path::PathBuf, time::Duration};

use webhook_core::model::Secret;
use webhook_storage::{DatabaseUrl, SecretKey};

use super::value;

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
    /// How long the start may check SQLite's file for damage, which a damaged one ends. A
    /// large file that takes longer is used unchecked, and the log says so; 0s checks nothing.
    #[arg(long, env = "WEBHOOK_DATABASE_CHECK_TIMEOUT", default_value = "5s", global = true)]
    #[arg(value_name = "DURATION", value_parser = value::duration)]
    pub(crate) database_check_timeout: Duration,
    /// Whether SQLite is written by a thread of its own, with statements that stay
    /// prepared. Otherwise it is written as PostgreSQL is, which costs more.
    #[arg(long, env = "WEBHOOK_SQLITE_THREAD", default_value_t = true, global = true)]
    #[arg(value_name = "true|false", action = clap::ArgAction::Set)]
    pub(crate) sqlite_thread: bool,
    /// The API key of the first account, starting with sk-. Without it one is
    /// made and printed at the first start. Another value than the last start had
    /// replaces the key of the first account; the same one changes nothing, so that a
    /// key which was replaced since stays.
    #[arg(long, env = "WEBHOOK_API_KEY", global = true, hide_env_values = true)]
    #[arg(value_name = "KEY", value_parser = super::secret)]
    pub(crate) api_key: Option<Secret>,
    /// 32 bytes in base64 that secrets in the database are encrypted with.
    /// Without it, the file secret.key in the data folder, made at the first start.
    /// Keep a copy: what it encrypts cannot be read without it.
    #[arg(long, env = "WEBHOOK_SECRET_KEY", global = true, hide_env_values = true)]
    #[arg(value_name = "BASE64")]
    pub(crate) secret_key: Option<SecretKey>,
}
