//! The seam between what is written and the database that it is written to.
//!
//! An operation is written once, over [`Tx`]. Every connection and transaction of sea-orm
//! implements it, and so do those of PostgreSQL's writers, which are the driver's, and the
//! connection of SQLite's writer thread, whose futures are ready when they are first polled. SQL is
//! written with `?` for each value; what a database writes otherwise is decided here.

mod orm;
mod param;
#[cfg(feature = "postgres")]
mod postgres;
mod row;
#[cfg(feature = "sqlite")]
mod sqlite;
mod statement;

use sea_orm::DbBackend;

#[cfg(feature = "postgres")]
pub(crate) use self::postgres::Batches;
#[cfg(feature = "sqlite")]
pub(crate) use self::sqlite::{SqliteTx, ready};
pub(crate) use self::{
    param::Param,
    row::Row,
    statement::{Insert, MAX_ROWS, Query, UpdateEach, over_set, with},
};
use crate::fault::DatabaseError;

/// Reads a row of a query.
pub(crate) type ReadRow<R> = fn(&Row<'_>) -> Result<R, DatabaseError>;

/// Where rows can be read.
pub(crate) trait Read {
    /// Which database it is, where its SQL differs.
    fn backend(&self) -> DbBackend;

    /// `lock`, the end of a query that locks its rows until the transaction ends. With SQLite
    /// one transaction writes at a time, and there is nothing to lock.
    fn on_postgres(&self, lock: &'static str) -> &'static str {
        match self.backend() {
            DbBackend::Postgres => lock,
            _ => "",
        }
    }

    /// All rows of the query.
    async fn query<R>(&self, query: Query<'_>, read: ReadRow<R>) -> Result<Vec<R>, DatabaseError>;

    /// The first row of the query.
    async fn query_one<R>(
        &self,
        query: Query<'_>,
        read: ReadRow<R>,
    ) -> Result<Option<R>, DatabaseError> {
        Ok(self.query(query, read).await?.into_iter().next())
    }

    /// Whether the query has a row.
    async fn has_rows(&self, query: Query<'_>) -> Result<bool, DatabaseError> {
        Ok(!self.query(query, |_| Ok(())).await?.is_empty())
    }
}

/// Ends a transaction: commits it, or takes it back after an error.
pub(crate) async fn end<T, E: From<DatabaseError>>(
    transaction: impl Commit,
    outcome: Result<T, E>,
) -> Result<T, E> {
    match outcome {
        Ok(value) => {
            transaction.commit().await?;
            Ok(value)
        }
        Err(error) => {
            transaction.rollback().await;
            Err(error)
        }
    }
}

/// Where rows can be written as well.
pub(crate) trait Tx: Read {
    /// Runs a statement that has no values.
    async fn run(&self, sql: &str) -> Result<(), DatabaseError>;

    /// Runs a statement; how many rows it changed.
    async fn execute(&self, query: Query<'_>) -> Result<u64, DatabaseError>;

    /// Inserts `rows`, several with each statement; how many of them were not left out.
    async fn insert<T: Sync, const N: usize>(
        &self,
        insert: &Insert<N>,
        rows: &[T],
        values: fn(&T) -> [Param<'_>; N],
    ) -> Result<u64, DatabaseError>;

    /// Runs the update for each of `rows`, no two of which have the same key; which of
    /// them changed something.
    async fn update_each<T: Sync, const N: usize>(
        &self,
        update: &UpdateEach<N>,
        rows: &[T],
        values: fn(&T) -> [Param<'_>; N],
    ) -> Result<Vec<bool>, DatabaseError>;
}

/// Where transactions begin.
pub(crate) trait Begin {
    /// A transaction that has begun.
    type Transaction<'b>: Commit
    where
        Self: 'b;

    /// Begins a transaction that writes.
    async fn begin_writing(&self) -> Result<Self::Transaction<'_>, DatabaseError>;
}

/// A transaction that has begun.
pub(crate) trait Commit {
    /// Where it writes.
    type Tx: Tx;

    fn tx(&self) -> &Self::Tx;

    /// Makes what was written durable. When this fails, nothing was written.
    async fn commit(self) -> Result<(), DatabaseError>;

    /// Takes back what was written. When this fails, the database has done so itself, or
    /// does so when the connection is closed.
    async fn rollback(self);
}
