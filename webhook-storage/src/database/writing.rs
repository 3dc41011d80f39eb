//! The connection that writes, and the lock that it takes.

use std::{ops::Deref, sync::Arc, thread::Thread};

use sea_orm::{
    ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbBackend, DbErr, ExecResult,
    QueryResult, Statement, TransactionOptions,
};
use tokio::sync::{Mutex, OwnedMutexGuard};

use crate::{fault::DatabaseError, tx::Commit};

/// The right to write to a SQLite file.
///
/// SQLite has one lock for all who write, and who finds it taken asks again
/// after some sleep: beside a writer that is never idle it would wait for ever.
/// This one is handed on in the order of asking.
pub(crate) type WriteLock = Arc<Mutex<Turns>>;

/// What the thread of the writer learns of others who write.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    /// The thread, once it runs.
    pub(crate) thread: Option<Thread>,
    /// Whether another has had a turn since the thread last asked.
    pub(crate) others_wrote: bool,
}

/// A connection that writes when it has the lock. With PostgreSQL there are
/// several, which need none.
#[derive(Clone, Debug)]
pub(crate) struct Writing {
    /// One connection to a SQLite file, or several to PostgreSQL.
    connection: DatabaseConnection,
    /// Of a SQLite file.
    lock: Option<WriteLock>,
}

impl Writing {
    pub(crate) fn new(connection: DatabaseConnection, lock: Option<WriteLock>) -> Self {
        Self { connection, lock }
    }

    /// The lock that the writer's own connection takes as well.
    #[cfg(feature = "sqlite")]
    pub(crate) fn lock(&self) -> Option<&WriteLock> {
        self.lock.as_ref()
    }

    pub(super) fn connection(&self) -> &DatabaseConnection {
        &self.connection
    }

    /// Begins a transaction, which has the lock until it ends.
    pub(super) async fn begin(&self, options: TransactionOptions) -> Result<Transaction, DbErr> {
        let lock = self.wait().await;
        let inner = super::begun(&self.connection, options).await?;
        Ok(Transaction { inner, _lock: lock })
    }

    async fn wait(&self) -> Option<Turn> {
        match &self.lock {
            Some(lock) => Some(Turn(Arc::clone(lock).lock_owned().await)),
            None => None,
        }
    }
}

#[async_trait::async_trait]
impl ConnectionTrait for Writing {
    fn get_database_backend(&self) -> DbBackend {
        self.connection.get_database_backend()
    }

    async fn execute_raw(&self, statement: Statement) -> Result<ExecResult, DbErr> {
        let _lock = self.wait().await;
        self.connection.execute_raw(statement).await
    }

    async fn execute_unprepared(&self, sql: &str) -> Result<ExecResult, DbErr> {
        let _lock = self.wait().await;
        self.connection.execute_unprepared(sql).await
    }

    async fn query_one_raw(&self, statement: Statement) -> Result<Option<QueryResult>, DbErr> {
        let _lock = self.wait().await;
        self.connection.query_one_raw(statement).await
    }

    async fn query_all_raw(&self, statement: Statement) -> Result<Vec<QueryResult>, DbErr> {
        let _lock = self.wait().await;
        self.connection.query_all_raw(statement).await
    }
}

/// A transaction that writes, and the lock to do so. It is taken back when it
/// is dropped before its end.
#[derive(Debug)]
pub(crate) struct Transaction {
    // Ends before the lock is handed on.
    inner: DatabaseTransaction,
    _lock: Option<Turn>,
}

/// The lock while one of these connections has it. At its end the thread of the writer is told.
#[derive(Debug)]
struct Turn(OwnedMutexGuard<Turns>);

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.others_wrote = true;
        if let Some(thread) = &self.0.thread {
            thread.unpark();
        }
    }
}

impl Deref for Transaction {
    type Target = DatabaseTransaction;

    fn deref(&self) -> &DatabaseTransaction {
        &self.inner
    }
}

impl Transaction {
    pub(crate) async fn commit(self) -> Result<(), DbErr> {
        self.inner.commit().await
    }

    /// Takes back what was written. When this fails, the database has done
    /// so itself, or does so when the connection is closed.
    pub(crate) async fn rollback(self) {
        if let Err(error) = self.inner.rollback().await {
            tracing::debug!(%error, "rollback failed");
        }
    }
}

impl Commit for Transaction {
    type Tx = DatabaseTransaction;

    fn tx(&self) -> &Self::Tx {
        self
    }

    async fn commit(self) -> Result<(), DatabaseError> {
        Ok(Self::commit(self).await?)
    }

    async fn rollback(self) {
        Self::rollback(self).await;
    }
}
