//! PostgreSQL.

use std::time::Duration;

use sea_orm::{ConnectOptions, DatabaseConnection};
use webhook_core::Error;

use super::{Database, Writing};
use crate::{StorageOptions, fault};

/// Connections for writes that do not go through the queue.
const DIRECT_WRITES: u32 = 4;

/// Kept prepared: every size of a batch is a statement of its own.
const STATEMENTS: usize = 200;

/// A connection that was idle for so long is tried before it is used, because
/// the server or something between may have dropped it.
const TRIED_AFTER: Duration = Duration::from_secs(20);

pub(super) async fn open(url: &str, options: &StorageOptions) -> Result<Database, Error> {
    let writers = u32::try_from(options.writers).unwrap_or(u32::MAX);
    let write = connect(url, options, writers.saturating_add(DIRECT_WRITES)).await?;
    let read = connect(url, options, options.read_connections.max(1)).await?;
    Ok(Database {
        read,
        write: Writing::new(write, None),
        #[cfg(feature = "sqlite")]
        lock: None,
    })
}

async fn connect(
    url: &str,
    options: &StorageOptions,
    connections: u32,
) -> Result<DatabaseConnection, Error> {
    let mut connect = ConnectOptions::new(url);
    connect
        .max_connections(connections)
        .acquire_timeout(options.connection_timeout)
        .test_before_acquire_if_idle_for(TRIED_AFTER)
        .sqlx_logging(false)
        .map_sqlx_postgres_opts(|options| options.statement_cache_capacity(STATEMENTS));
    if !url.contains("application_name=") {
        connect.set_application_name("webhook-storage");
    }
    sea_orm::Database::connect(connect).await.map_err(|error| fault::error(error, "database"))
}
