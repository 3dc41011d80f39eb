//! PostgreSQL.

use sea_orm::DatabaseConnection;
use webhook_core::Error;

use super::{CHECK_NAME, Database, Writing, expect_one_database, pools::Pools};
use crate::{
    StorageOptions,
    entity::meta,
    tx::{Batches, Read, with},
};

/// The oldest version of the server that can do what the schema asks for: identity columns.
/// Everything else is older (`ON CONFLICT`, `SKIP LOCKED`, `to_regclass`).
const OLDEST: u32 = 10;

pub(super) async fn open(url: &str, options: &StorageOptions) -> Result<Database, Error> {
    let mut pools = Pools::of(url, options).await?;
    let first = pools.open(1, false).await?;
    let batches = DatabaseConnection::from(first.clone());
    expect_version(&batches).await?;
    let is_encrypted = is_encrypted(&batches).await?;
    // A writer has a connection for itself, so that it waits for none while another one is free.
    let mut batches = vec![Batches::new(first, is_encrypted)];
    for _ in 1..options.writers {
        batches.push(Batches::new(pools.open(1, true).await?, is_encrypted));
    }
    let database = Database {
        read: pools.open(options.read_connections, false).await?.into(),
        search: pools.open(options.search_connections, true).await?.into(),
        routes: pools.open(options.route_connections, false).await?.into(),
        write: Writing::new(pools.open(options.write_connections, false).await?.into(), None),
        batches,
        watch: None,
        #[cfg(feature = "sqlite")]
        lock: None,
    };
    pools.warn_of_too_little_room().await;
    Ok(Database { watch: pools.watch(), ..database })
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
    let connection = DatabaseConnection::from(Pools::of(url, options).await?.open(1, false).await?);
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

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

    #[tokio::test]
    #[allow(
        clippy::disallowed_methods,
        reason = "what a test needs from outside comes in variables"
    )]
    async fn a_transaction_in_which_nothing_happens_ends() {
        let Ok(server) = std::env::var("TEST_POSTGRES_URL") else {
            println!("skipped: TEST_POSTGRES_URL is not set");
            return;
        };
        let chosen = format!("{server}?options=-cidle_in_transaction_session_timeout%3D5s");
        for (url, expected) in [(server, "1min"), (chosen, "5s")] {
            let key = SecretKey::generate().expect("a key");
            let options = StorageOptions::new(DatabaseUrl::Postgres(url.clone()), key);
            let database = open(&url, &options).await.expect("it is there");
            let write = database.write.connection();
            for connection in [write, &database.read, &database.routes, &database.search] {
                let show = "SHOW idle_in_transaction_session_timeout";
                let show = Statement::from_string(DbBackend::Postgres, show);
                let row = connection.query_one_raw(show).await.expect("it is read").expect("a row");
                assert_eq!(row.try_get_by_index::<String>(0).expect("text"), expected);
            }
            database.close().await;
        }
    }
}
