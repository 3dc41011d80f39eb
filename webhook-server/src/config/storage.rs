//! Where everything is kept.

use std::{path::PathBuf, time::Duration};

use webhook_core::model::Secret;
use webhook_storage::{DatabaseUrl, SecretKey};

use super::{ConfigError, not_zero, refuse_if, value};

/// As many connections as one server may have for one purpose.
const MAX_CONNECTIONS: u32 = 100;
/// As many batches as one server may write at once: more are smaller, and cost more.
const MAX_WRITERS: u32 = 16;

/// The database, the key of its secrets, and the first account.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Storage")]
pub(crate) struct StorageConfig {
    /// The data folder; made when it is missing.
    #[arg(long, env = "WEBHOOK_DATA_DIR", default_value = "./webhook-data", value_name = "FOLDER")]
    pub(crate) data_dir: PathBuf,
    /// The database: sqlite://file or postgres://user:password@host/name, where commas separate
    /// several hosts. Without it, SQLite in the data folder.
    #[arg(long, env = "WEBHOOK_DATABASE_URL", hide_env_values = true, value_name = "URL")]
    pub(crate) database_url: Option<DatabaseUrl>,
    /// How long the start may check SQLite's file for damage, which a damaged one ends. A
    /// large file that takes longer is used unchecked, and the log says so; 0s checks nothing.
    #[arg(long, env = "WEBHOOK_DATABASE_CHECK_TIMEOUT", default_value = "5s")]
    #[arg(value_name = "DURATION", value_parser = value::duration)]
    pub(crate) database_check_timeout: Duration,
    /// Whether SQLite is written by a thread of its own, with statements that stay
    /// prepared. Otherwise it is written as PostgreSQL is, which costs more.
    #[arg(long, env = "WEBHOOK_SQLITE_THREAD", default_value_t = true)]
    #[arg(value_name = "true|false", action = clap::ArgAction::Set)]
    pub(crate) sqlite_thread: bool,
    /// Batches of webhooks and outcomes that are written to PostgreSQL at once, each over a
    /// connection of its own, 1 to 16.
    #[arg(long, env = "WEBHOOK_DATABASE_WRITERS", default_value_t = 2, value_name = "COUNT")]
    pub(crate) database_writers: u32,
    /// Connections to PostgreSQL that write the configuration and this server's lease, 1 to 100.
    #[arg(long, env = "WEBHOOK_DATABASE_WRITE_CONNECTIONS", default_value_t = 4)]
    #[arg(value_name = "COUNT")]
    pub(crate) database_write_connections: u32,
    /// Connections that read lists, logs and the configuration, 1 to 100. With SQLite each is
    /// a thread.
    #[arg(long, env = "WEBHOOK_DATABASE_READ_CONNECTIONS", default_value_t = 4)]
    #[arg(value_name = "COUNT")]
    pub(crate) database_read_connections: u32,
    /// Connections to PostgreSQL that read nothing but what webhooks are sent along, 1 to 100:
    /// no list and no write is before them.
    #[arg(long, env = "WEBHOOK_DATABASE_ROUTE_CONNECTIONS", default_value_t = 1)]
    #[arg(value_name = "COUNT")]
    pub(crate) database_route_connections: u32,
    /// Connections that search in logs, 1 to 100; further searches wait.
    #[arg(long, env = "WEBHOOK_DATABASE_SEARCH_CONNECTIONS", default_value_t = 2)]
    #[arg(value_name = "COUNT")]
    pub(crate) database_search_connections: u32,
    /// How long is waited for a free connection; past it 503.
    #[arg(long, env = "WEBHOOK_DATABASE_CONNECTION_TIMEOUT", default_value = "10s")]
    #[arg(value_name = "DURATION", value_parser = value::duration)]
    pub(crate) database_connection_timeout: Duration,
    /// The API key of the first account, starting with sk-. Without it one is
    /// made and printed at the first start. Another value than the last start had
    /// replaces the key of the first account; the same one changes nothing, so that a
    /// key which was replaced since stays.
    #[arg(long, env = "WEBHOOK_API_KEY", hide_env_values = true)]
    #[arg(value_name = "KEY", value_parser = super::secret)]
    pub(crate) api_key: Option<Secret>,
    /// 32 bytes in base64 that secrets in the database are encrypted with.
    /// Without it, the file secret.key in the data folder, made at the first start.
    /// Keep a copy: what it encrypts cannot be read without it.
    #[arg(long, env = "WEBHOOK_SECRET_KEY", hide_env_values = true, value_name = "BASE64")]
    pub(crate) secret_key: Option<SecretKey>,
}

impl StorageConfig {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        let expect = |option, count, most| {
            refuse_if(!(1..=most).contains(&count), option, format!("must be from 1 to {most}"))
        };
        expect("WEBHOOK_DATABASE_WRITERS", self.database_writers, MAX_WRITERS)?;
        for (option, count) in [
            ("WEBHOOK_DATABASE_WRITE_CONNECTIONS", self.database_write_connections),
            ("WEBHOOK_DATABASE_READ_CONNECTIONS", self.database_read_connections),
            ("WEBHOOK_DATABASE_ROUTE_CONNECTIONS", self.database_route_connections),
            ("WEBHOOK_DATABASE_SEARCH_CONNECTIONS", self.database_search_connections),
        ] {
            expect(option, count, MAX_CONNECTIONS)?;
        }
        not_zero("WEBHOOK_DATABASE_CONNECTION_TIMEOUT", self.database_connection_timeout)
    }

    /// Whether other servers may use the same database.
    pub(crate) fn is_shared(&self) -> bool {
        matches!(self.database_url, Some(DatabaseUrl::Postgres(_)))
    }
}
