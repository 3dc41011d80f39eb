//! The connections to one database.

#[cfg(feature = "sqlite")]
mod backup;
#[cfg(feature = "sqlite")]
mod free_pages;
#[cfg(feature = "postgres")]
mod hosts;
#[cfg(feature = "sqlite")]
mod lock;
#[cfg(feature = "sqlite")]
mod look;
#[cfg(feature = "postgres")]
mod pools;
#[cfg(feature = "postgres")]
mod postgres;
mod shards;
#[cfg(feature = "sqlite")]
mod sqlite;
#[cfg(feature = "postgres")]
mod watch;
mod writing;

use sea_orm::{
    AccessMode, ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbBackend, DbErr,
    IsolationLevel, SqliteTransactionMode, TransactionOptions, TransactionTrait,
};
use webhook_core::Error;

#[cfg(feature = "postgres")]
pub(crate) use self::postgres::is_sealed as is_sealed_there;
#[cfg(all(test, feature = "sqlite"))]
pub(crate) use self::writing::Turns;
#[cfg(feature = "sqlite")]
pub(crate) use self::{
    backup::back_up, free_pages::overwrite_free_pages, look::is_sealed,
    sqlite::WAL_AUTOCHECKPOINT_PAGES, writing::WriteLock,
};
pub(crate) use self::{
    shards::{SHARDS_ADDED, SHARDS_REMOVED, applied, expect_one_database},
    writing::{Transaction, Writing},
};

use crate::{
    DatabaseUrl, StorageOptions,
    fault::{self, DatabaseError},
    tx::Begin,
};

/// In the table `meta`: what the first start with a key sealed.
pub(crate) const CHECK_NAME: &str = "secret_key_check";

/// Connections for reading and for writing. With SQLite there is one that
/// writes, so that writers queue for it in order rather than for a file lock.
#[derive(Clone, Debug)]
pub(crate) struct Database {
    pub(crate) read: DatabaseConnection,
    /// For searches, which read much: nobody else waits for these connections, and there are
    /// none before the first search.
    pub(crate) search: DatabaseConnection,
    /// Reads what a webhook is sent along, which waits for no other question and no write.
    /// With SQLite it is `read`.
    pub(crate) routes: DatabaseConnection,
    /// Writes the configuration.
    pub(crate) write: Writing,
    /// Each writes what is queued; none with SQLite.
    #[cfg(feature = "postgres")]
    pub(crate) batches: Vec<crate::tx::Batches>,
    /// Follows the database from host to host.
    #[cfg(feature = "postgres")]
    watch: Option<std::sync::Arc<watch::Watch>>,
    #[cfg(feature = "sqlite")]
    lock: Option<std::sync::Arc<lock::Lock>>,
}

impl Database {
    pub(crate) async fn open(options: &StorageOptions) -> Result<Self, Error> {
        Self::open_as(options, true).await
    }

    /// Opens the database; with SQLite, unless `alone`, whoever else has it open.
    pub(crate) async fn open_as(options: &StorageOptions, alone: bool) -> Result<Self, Error> {
        #[cfg(not(feature = "sqlite"))]
        let _ = alone;
        match &options.database_url {
            #[cfg(feature = "sqlite")]
            DatabaseUrl::Sqlite(path) => sqlite::open(path, options, alone).await,
            #[cfg(feature = "postgres")]
            DatabaseUrl::Postgres(url) => postgres::open(url, options).await,
            #[cfg(not(all(feature = "sqlite", feature = "postgres")))]
            url => Err(Error::invalid("database url", format!("{url} is not built in"))),
        }
    }

    pub(crate) fn backend(&self) -> DbBackend {
        self.write.get_database_backend()
    }

    /// Begins a transaction that writes.
    pub(crate) async fn begin(&self) -> Result<Transaction, DbErr> {
        let sqlite_transaction_mode = match self.backend() {
            // Takes the write lock now instead of failing at the first write.
            DbBackend::Sqlite => Some(SqliteTransactionMode::Immediate),
            _ => None,
        };
        let options = TransactionOptions { sqlite_transaction_mode, ..Default::default() };
        self.write.begin(options).await
    }

    /// Begins a transaction in which all reads see one state of the database.
    pub(crate) async fn snapshot(&self) -> Result<DatabaseTransaction, DbErr> {
        self.snapshot_on(&self.read).await
    }

    /// The same on one of the connections.
    pub(crate) async fn snapshot_on(
        &self,
        connection: &DatabaseConnection,
    ) -> Result<DatabaseTransaction, DbErr> {
        let options = match self.backend() {
            DbBackend::Sqlite => TransactionOptions::default(),
            _ => TransactionOptions {
                isolation_level: Some(IsolationLevel::RepeatableRead),
                access_mode: Some(AccessMode::ReadOnly),
                ..Default::default()
            },
        };
        begun(connection, options).await
    }

    /// Commits what went well and takes back the rest. `what` names for the
    /// caller what was written.
    pub(crate) async fn finish<T>(
        &self,
        transaction: Transaction,
        outcome: Result<T, Error>,
        what: &str,
    ) -> Result<T, Error> {
        match outcome {
            Ok(value) => match transaction.commit().await {
                Ok(()) => Ok(value),
                Err(error) => Err(fault::error(error, what)),
            },
            Err(error) => {
                transaction.rollback().await;
                Err(error)
            }
        }
    }

    /// Waits until every connection is closed, then lets another process in.
    pub(crate) async fn close(&self) {
        #[cfg(feature = "postgres")]
        for batches in &self.batches {
            batches.close().await;
        }
        #[cfg(feature = "postgres")]
        if let Some(watch) = &self.watch {
            watch.stop();
        }
        // One that is there twice is closed twice, which does nothing.
        for connection in [&self.search, &self.read, &self.routes, self.write.connection()] {
            if let Err(error) = connection.close_by_ref().await {
                tracing::warn!(%error, "closing the database failed");
            }
        }
        #[cfg(feature = "sqlite")]
        if let Some(lock) = &self.lock {
            lock.release();
        }
    }
}

impl Begin for Database {
    type Transaction<'b> = Transaction;

    async fn begin_writing(&self) -> Result<Transaction, DatabaseError> {
        Ok(self.begin().await?)
    }
}

/// Begins, with PostgreSQL also when the caller has gone meanwhile: of a beginning that is given
/// up on its way the driver forgets to take it back (sqlx 0.9), and what others then write on
/// the connection would be in a transaction that nobody commits.
async fn begun(
    connection: &DatabaseConnection,
    options: TransactionOptions,
) -> Result<DatabaseTransaction, DbErr> {
    if connection.get_database_backend() != DbBackend::Postgres {
        return connection.begin_with_options(options).await;
    }
    let connection = connection.clone();
    let begun = tokio::spawn(async move { connection.begin_with_options(options).await });
    begun.await.unwrap_or_else(|panic| Err(DbErr::Custom(panic.to_string())))
}

#[cfg(all(test, feature = "sqlite"))]
mod tests {
    use sea_orm::ConnectionTrait;

    use super::*;
    use crate::SecretKey;

    #[tokio::test]
    async fn a_transaction_that_sqlite_ended_itself_is_not_the_last()
    -> Result<(), Box<dyn std::error::Error>> {
        let folder = tempfile::tempdir()?;
        let url = format!("sqlite://{}", folder.path().join("webhooks.db").display());
        let options = StorageOptions::new(url.parse()?, SecretKey::generate()?);
        let database = Database::open(&options).await?;
        database.write.execute_unprepared("CREATE TABLE t (n INTEGER)").await?;

        for commit in [true, false] {
            let transaction = database.begin().await?;
            // What SQLite does of its own accord when it cannot go on.
            transaction.execute_unprepared("ROLLBACK").await?;
            match commit {
                true => assert!(transaction.commit().await.is_err()),
                false => transaction.rollback().await,
            }
            let taken_back = database.begin().await?;
            taken_back.execute_unprepared("INSERT INTO t VALUES (0)").await?;
            taken_back.rollback().await;
            let next = database.begin().await?;
            next.execute_unprepared("INSERT INTO t VALUES (1)").await?;
            next.commit().await?;
        }
        let rows = database.read.query_all_raw(sea_orm::Statement::from_string(
            database.backend(),
            "SELECT n FROM t WHERE n = 1",
        ));
        assert_eq!(rows.await?.len(), 2, "what was committed is there for others");
        database.close().await;
        Ok(())
    }
}
