//! The connection that writes, and whose turn it is.

use std::{ops::Deref, sync::Arc};

use sea_orm::{
    ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbBackend, DbErr, ExecResult,
    QueryResult, Statement, TransactionOptions, TransactionTrait,
};
use tokio::sync::{Mutex, MutexGuard, OwnedMutexGuard};

/// Whose turn it is to write to a SQLite file.
///
/// SQLite has one lock for all who write, and who finds it taken asks again
/// after some sleep: beside a writer that is never idle it would wait for ever.
/// This one is handed on in the order of asking.
pub(crate) type Turn = Arc<Mutex<()>>;

/// A connection that writes when it is its turn. With PostgreSQL there are
/// several, which take no turns.
#[derive(Clone, Debug)]
pub(crate) struct Writing {
    connection: DatabaseConnection,
    turn: Option<Turn>,
}

impl Writing {
    pub(crate) fn new(connection: DatabaseConnection, turn: Option<Turn>) -> Self {
        Self { connection, turn }
    }

    /// The turn that the writer's own connection takes as well.
    #[cfg(feature = "sqlite")]
    pub(crate) fn turn(&self) -> Option<&Turn> {
        self.turn.as_ref()
    }

    pub(super) fn connection(&self) -> &DatabaseConnection {
        &self.connection
    }

    /// Begins a transaction, which has the turn until it ends.
    pub(super) async fn begin(&self, options: TransactionOptions) -> Result<Transaction, DbErr> {
        let turn = match &self.turn {
            Some(turn) => Some(Arc::clone(turn).lock_owned().await),
            None => None,
        };
        let inner = self.connection.begin_with_options(options).await?;
        Ok(Transaction { inner, _turn: turn })
    }

    async fn wait(&self) -> Option<MutexGuard<'_, ()>> {
        match &self.turn {
            Some(turn) => Some(turn.lock().await),
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
        let _turn = self.wait().await;
        self.connection.execute_raw(statement).await
    }

    async fn execute_unprepared(&self, sql: &str) -> Result<ExecResult, DbErr> {
        let _turn = self.wait().await;
        self.connection.execute_unprepared(sql).await
    }

    async fn query_one_raw(&self, statement: Statement) -> Result<Option<QueryResult>, DbErr> {
        let _turn = self.wait().await;
        self.connection.query_one_raw(statement).await
    }

    async fn query_all_raw(&self, statement: Statement) -> Result<Vec<QueryResult>, DbErr> {
        let _turn = self.wait().await;
        self.connection.query_all_raw(statement).await
    }
}

/// A transaction that writes, and the turn to do so. It is taken back when it
/// is dropped before its end.
#[derive(Debug)]
pub(crate) struct Transaction {
    // Ends before the turn is handed on.
    inner: DatabaseTransaction,
    _turn: Option<OwnedMutexGuard<()>>,
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
