//! PostgreSQL.

use std::{io, time::Duration};

use sea_orm::{
    ConnectOptions, DatabaseConnection, DbErr, RuntimeErr, SqlxError,
    sqlx::{Connection, Executor, PgConnection},
};
use tokio::time::timeout;
use webhook_core::Error;

use super::{CHECK_NAME, Database, Writing, expect_one_database};
use crate::{
    StorageOptions,
    entity::meta,
    fault::{self, ErrorClass},
    tx::{Batches, Read, with},
};

/// Kept prepared, on each connection.
const STATEMENTS: usize = 200;

/// The oldest version of the server that can do what the schema asks for: identity columns.
/// Everything else is older (`ON CONFLICT`, `SKIP LOCKED`, `to_regclass`).
const OLDEST: u32 = 10;

/// A connection that was idle for so long is tried before it is used, because the server or
/// something between may have dropped it: else each of them refuses somebody after a fail-over.
const TRIED_AFTER: Duration = Duration::from_secs(1);

/// What each connection begins with. Because a log that is divided by day has so many tables,
/// PostgreSQL expects each statement to be long: it would plan it anew each time, compile it and
/// start worker processes, each of which takes longer than all that the statement reads.
const PREPARE: &str = "SELECT set_config('max_parallel_workers_per_gather', '0', false), \
    set_config('plan_cache_mode', 'force_generic_plan', false), set_config('jit', 'off', false) \
    FROM pg_class WHERE oid = to_regclass('delivery') AND relkind = 'p'";

/// How long is asked once more why a server cannot be reached.
const REASON_TIMEOUT: Duration = Duration::from_secs(2);

pub(super) async fn open(url: &str, options: &StorageOptions) -> Result<Database, Error> {
    let writers = u32::try_from(options.writers.max(1)).unwrap_or(u32::MAX);
    let batches = connect(url, options, writers, false).await?;
    expect_version(&batches).await?;
    let is_encrypted = is_encrypted(&batches).await?;
    let batches = Batches::new(batches.get_postgres_connection_pool().clone(), is_encrypted);
    Ok(Database {
        read: connect(url, options, options.read_connections.max(1), false).await?,
        search: connect(url, options, options.search_connections.max(1), true).await?,
        routes: connect(url, options, options.route_connections.max(1), false).await?,
        write: Writing::new(
            connect(url, options, options.write_connections.max(1), false).await?,
            None,
        ),
        batches: Some(batches),
        #[cfg(feature = "sqlite")]
        lock: None,
    })
}

/// Refuses a server that is too old for the schema.
async fn expect_version(connection: &DatabaseConnection) -> Result<(), Error> {
    let sql = "SELECT CAST(current_setting('server_version_num') AS bigint) AS version";
    match connection.query_one(with(sql, []), |row| row.get::<i64>("version")).await? {
        Some(version) if version < i64::from(OLDEST) * 10_000 => Err(Error::invalid(
            "database",
            format!(
                "is PostgreSQL {}, and the schema needs PostgreSQL {OLDEST} or later",
                version / 10_000
            ),
        )),
        _ => Ok(()),
    }
}

/// Whether what is sent to the server is encrypted. Something between that ends TLS, such as a
/// pool, is another client of the server: what it says of itself does not matter here, and is
/// no worse than slow.
async fn is_encrypted(connection: &DatabaseConnection) -> Result<bool, Error> {
    let sql = "SELECT ssl AS ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
    let ssl = connection.query_one(with(sql, []), |row| row.get::<bool>("ssl")).await?;
    // A server that does not say is taken as if it were.
    Ok(ssl.unwrap_or(true))
}

/// Whether there is a row that was sealed when the database was first opened with a key. Fails
/// when some webhooks are in other databases.
pub(crate) async fn is_sealed(url: &str, options: &StorageOptions) -> Result<bool, Error> {
    let connection = connect(url, options, 1, false).await?;
    let looked = async {
        let table = with("SELECT to_regclass('meta')::text AS found", []);
        let found = connection.query_one(table, |row| row.get::<Option<String>>("found")).await?;
        if found.flatten().is_none() {
            return Ok(false);
        }
        Ok(meta::get(&connection, CHECK_NAME).await?.is_some())
    };
    let sealed = match looked.await {
        Ok(true) => expect_one_database(&connection).await.map(|()| true),
        sealed => sealed,
    };
    if let Err(error) = connection.close().await {
        tracing::warn!(%error, "closing the database failed");
    }
    sealed
}

async fn connect(
    url: &str,
    options: &StorageOptions,
    connections: u32,
    lazy: bool,
) -> Result<DatabaseConnection, Error> {
    let mut connect = ConnectOptions::new(url);
    connect
        .max_connections(connections)
        .connect_lazy(lazy)
        .acquire_timeout(options.connection_timeout)
        .test_before_acquire_if_idle_for(TRIED_AFTER)
        .sqlx_logging(false)
        .map_sqlx_postgres_pool_opts(|pool| {
            pool.after_connect(|connection, _| {
                Box::pin(async move { connection.execute(PREPARE).await.map(|_| ()) })
            })
        })
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

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use sea_orm::{ConnectionTrait, DbBackend, Statement};

    use super::*;
    use crate::{DatabaseUrl, SecretKey};

    #[tokio::test]
    #[allow(
        clippy::disallowed_methods,
        reason = "what a test needs from outside comes in variables"
    )]
    async fn a_beginning_that_is_given_up_leaves_no_transaction_to_others() {
        let Ok(server) = std::env::var("TEST_POSTGRES_URL") else {
            println!("skipped: TEST_POSTGRES_URL is not set");
            return;
        };
        let key = SecretKey::generate().expect("a key");
        let mut options = StorageOptions::new(DatabaseUrl::Postgres(server.clone()), key);
        (options.write_connections, options.read_connections) = (1, 1);
        let database = open(&server, &options).await.expect("it is there");
        // A statement that is alone begins when its transaction does, which is not before the
        // last one ended.
        let last = "SELECT pg_sleep(0.01)";
        let alone = "SELECT statement_timestamp() - now() < interval '5 ms' AS alone";
        for polls in 0..8 {
            // Given up where it waits for the server the first time, or a later one.
            let (mut begin, mut snapshot) =
                (Box::pin(database.begin().fuse()), Box::pin(database.snapshot().fuse()));
            for _ in 0..=polls {
                let _ = (futures_util::poll!(&mut begin), futures_util::poll!(&mut snapshot));
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            drop((begin, snapshot));
            for connection in [database.write.connection(), &database.read] {
                connection.execute_unprepared(last).await.expect("it sleeps");
                let ask = Statement::from_string(DbBackend::Postgres, alone);
                let row = connection.query_one_raw(ask).await.expect("it is read").expect("a row");
                assert!(
                    row.try_get_by::<bool, _>("alone").expect("a truth"),
                    "given up at {polls}"
                );
            }
        }
        database.close().await;
    }
}
