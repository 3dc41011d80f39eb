//! PostgreSQL.

use std::{io, time::Duration};

use sea_orm::{
    ConnectOptions, ConnectionTrait, DatabaseConnection, DbBackend, DbErr, RuntimeErr, SqlxError,
    Statement,
    sqlx::{Connection, PgConnection},
};
use tokio::time::timeout;
use webhook_core::Error;

use super::{Database, Writing};
use crate::{
    StorageOptions,
    fault::{self, ErrorClass},
};

/// Connections for writes that do not go through the queue.
const DIRECT_WRITES: u32 = 4;

/// Kept prepared: every size of a batch is a statement of its own.
const STATEMENTS: usize = 200;

/// A connection that was idle for so long is tried before it is used, because
/// the server or something between may have dropped it.
const TRIED_AFTER: Duration = Duration::from_secs(20);

/// How long is asked once more why a server cannot be reached.
const REASON_TIMEOUT: Duration = Duration::from_secs(2);

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

/// Whether there is a row that was sealed when the database was first opened with a key.
pub(crate) async fn is_sealed(url: &str, options: &StorageOptions) -> Result<bool, Error> {
    let connection = connect(url, options, 1).await?;
    let looked = async {
        let backend = DbBackend::Postgres;
        let table = Statement::from_string(backend, "SELECT to_regclass('meta')::text AS found");
        let found = connection.query_one_raw(table).await?;
        let found = found.map(|row| row.try_get::<Option<String>>("", "found")).transpose()?;
        if found.flatten().is_none() {
            return Ok(false);
        }
        let row = "SELECT name FROM meta WHERE name = $1";
        let row = Statement::from_sql_and_values(backend, row, [crate::storage::CHECK_NAME.into()]);
        Ok(connection.query_one_raw(row).await?.is_some())
    };
    let sealed = looked.await.map_err(|error: DbErr| fault::error(error, "database"));
    if let Err(error) = connection.close().await {
        tracing::warn!(%error, "closing the database failed");
    }
    sealed
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
    match sea_orm::Database::connect(connect).await {
        Ok(connection) => Ok(connection),
        Err(error) => match reason(url, &error).await {
            Some(reason) => Err(ErrorClass::Unavailable.error(reason, "database")),
            None => Err(fault::error(error, "database")),
        },
    }
}

/// Why nothing answers: the pool tries again until its time is over, and says only that.
async fn reason(url: &str, error: &DbErr) -> Option<SqlxError> {
    let timed_out = matches!(
        error,
        DbErr::Conn(RuntimeErr::SqlxError(error)) if matches!(**error, SqlxError::PoolTimedOut)
    );
    if !timed_out && !matches!(error, DbErr::ConnectionAcquire(_)) {
        return None;
    }
    match timeout(REASON_TIMEOUT, PgConnection::connect(url)).await {
        Ok(Ok(_)) => None,
        Ok(Err(error)) => Some(error),
        Err(_) => {
            let silent = io::Error::new(io::ErrorKind::TimedOut, "the server does not answer");
            Some(SqlxError::Io(silent))
        }
    }
}
