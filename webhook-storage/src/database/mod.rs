//! The connections to one database.

#[cfg(feature = "sqlite")]
mod lock;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "sqlite")]
mod sqlite;

use sea_orm::{
    AccessMode, DatabaseConnection, DatabaseTransaction, DbBackend, DbErr, IsolationLevel,
    SqliteTransactionMode, TransactionOptions, TransactionTrait,
};
use webhook_core::Error;

use crate::{DatabaseUrl, StorageOptions, fault};

/// Connections for reading and for writing. With SQLite there is one that
/// writes, so that writers queue for it in order rather than for a file lock.
#[derive(Clone, Debug)]
pub(crate) struct Database {
    pub(crate) read: DatabaseConnection,
    pub(crate) write: DatabaseConnection,
    #[cfg(feature = "sqlite")]
    lock: Option<std::sync::Arc<lock::Lock>>,
}

impl Database {
    pub(crate) async fn open(options: &StorageOptions) -> Result<Self, Error> {
        match &options.database_url {
            #[cfg(feature = "sqlite")]
            DatabaseUrl::Sqlite(path) => sqlite::open(path, options).await,
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
    pub(crate) async fn begin(&self) -> Result<DatabaseTransaction, DbErr> {
        let sqlite_transaction_mode = match self.backend() {
            // Takes the write lock now instead of failing at the first write.
            DbBackend::Sqlite => Some(SqliteTransactionMode::Immediate),
            _ => None,
        };
        let options = TransactionOptions { sqlite_transaction_mode, ..Default::default() };
        self.write.begin_with_options(options).await
    }

    /// Begins a transaction in which all reads see one state of the database.
    pub(crate) async fn snapshot(&self) -> Result<DatabaseTransaction, DbErr> {
        let options = match self.backend() {
            DbBackend::Sqlite => TransactionOptions::default(),
            _ => TransactionOptions {
                isolation_level: Some(IsolationLevel::RepeatableRead),
                access_mode: Some(AccessMode::ReadOnly),
                ..Default::default()
            },
        };
        self.read.begin_with_options(options).await
    }

    /// Commits what went well and takes back the rest. `what` names for the
    /// caller what was written.
    pub(crate) async fn finish<T>(
        &self,
        transaction: DatabaseTransaction,
        outcome: Result<T, Error>,
        what: &str,
    ) -> Result<T, Error> {
        match outcome {
            Ok(value) => match self.commit(transaction).await {
                Ok(()) => Ok(value),
                Err(error) => Err(fault::error(error, what)),
            },
            Err(error) => {
                self.rollback(transaction).await;
                Err(error)
            }
        }
    }

    pub(crate) async fn commit(&self, transaction: DatabaseTransaction) -> Result<(), DbErr> {
        let committed = transaction.commit().await;
        if committed.is_err() {
            self.discard_writer().await;
        }
        committed
    }

    pub(crate) async fn rollback(&self, transaction: DatabaseTransaction) {
        if let Err(error) = transaction.rollback().await {
            tracing::debug!(%error, "rollback failed");
            self.discard_writer().await;
        }
    }

    /// Closes SQLite's writing connection; the next transaction gets a new one.
    ///
    /// When the disk is full SQLite rolls back by itself, and the driver, which
    /// counts transactions, would take every later one for a nested one.
    async fn discard_writer(&self) {
        #[cfg(feature = "sqlite")]
        if self.backend() == DbBackend::Sqlite
            && let Ok(connection) = self.write.get_sqlite_connection_pool().acquire().await
            && let Err(error) = connection.close().await
        {
            tracing::warn!(%error, "closing the writing connection failed");
        }
    }

    /// Waits until every connection is closed, then lets another process in.
    pub(crate) async fn close(&self) {
        for connection in [&self.read, &self.write] {
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
