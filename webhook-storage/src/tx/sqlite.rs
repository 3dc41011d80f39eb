//! The connection of SQLite's writer thread.

use std::{
    pin::pin,
    task::{Context, Poll, Waker},
};

use rusqlite::{CachedStatement, Connection};
use sea_orm::DbBackend;

use super::{Begin, Commit, Insert, Param, Query, Read, ReadRow, Row, Tx, UpdateEach};
use crate::fault::DatabaseError;

/// A transaction on a connection that the calling thread has to itself. Its futures wait
/// for nothing but SQLite, inside of the first poll.
#[derive(Debug)]
pub(crate) struct SqliteTx<'c> {
    connection: &'c Connection,
}

/// What came of a future over a [`SqliteTx`], which is ready when it is first polled;
/// none if it is not, which is a defect.
pub(crate) fn ready<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

impl<'c> SqliteTx<'c> {
    /// Reads on a connection without a transaction.
    pub(crate) fn on(connection: &'c Connection) -> Self {
        Self { connection }
    }

    fn prepare(&self, sql: &str) -> rusqlite::Result<CachedStatement<'_>> {
        self.connection.prepare_cached(sql)
    }
}

/// Binds the values from the parameter with this number on.
fn bind(
    statement: &mut CachedStatement<'_>,
    before: usize,
    values: &[Param<'_>],
) -> rusqlite::Result<()> {
    let mut numbered = values.iter().zip(before + 1..);
    numbered.try_for_each(|(value, number)| statement.raw_bind_parameter(number, value))
}

impl Read for SqliteTx<'_> {
    fn backend(&self) -> DbBackend {
        DbBackend::Sqlite
    }

    async fn query<R>(&self, query: Query<'_>, read: ReadRow<R>) -> Result<Vec<R>, DatabaseError> {
        let mut statement = self.prepare(&query.sql)?;
        bind(&mut statement, 0, &query.values)?;
        let (mut rows, mut found) = (statement.raw_query(), Vec::new());
        while let Some(row) = rows.next()? {
            found.push(read(&Row::Sqlite(row))?);
        }
        Ok(found)
    }
}

impl Tx for SqliteTx<'_> {
    async fn run(&self, sql: &str) -> Result<(), DatabaseError> {
        self.prepare(sql)?.raw_execute()?;
        Ok(())
    }

    async fn execute(&self, query: Query<'_>) -> Result<u64, DatabaseError> {
        let mut statement = self.prepare(&query.sql)?;
        bind(&mut statement, 0, &query.values)?;
        Ok(statement.raw_execute()? as u64)
    }

    async fn insert<T: Sync, const N: usize>(
        &self,
        insert: &Insert<N>,
        mut rows: &[T],
        values: fn(&T) -> [Param<'_>; N],
    ) -> Result<u64, DatabaseError> {
        let mut inserted = 0;
        for (size, sql) in &insert.sqlite {
            if rows.len() < *size {
                continue;
            }
            let mut statement = self.prepare(sql)?;
            while let Some((now, later)) = rows.split_at_checked(*size) {
                for (number, row) in now.iter().enumerate() {
                    bind(&mut statement, number * N, &values(row))?;
                }
                inserted += statement.raw_execute()?;
                rows = later;
            }
        }
        Ok(inserted as u64)
    }

    /// A statement that changes no row has met its condition nowhere, which is all that has
    /// to be known: `RETURNING` would cost a temporary table for each.
    async fn update_each<T: Sync, const N: usize>(
        &self,
        update: &UpdateEach<N>,
        rows: &[T],
        values: fn(&T) -> [Param<'_>; N],
    ) -> Result<Vec<bool>, DatabaseError> {
        let mut statement = self.prepare(&update.sqlite)?;
        let mut changed = Vec::with_capacity(rows.len());
        for row in rows {
            bind(&mut statement, 0, &values(row))?;
            changed.push(statement.raw_execute()? > 0);
        }
        Ok(changed)
    }
}

impl Begin for Connection {
    type Transaction<'b> = SqliteTx<'b>;

    async fn begin_writing(&self) -> Result<SqliteTx<'_>, DatabaseError> {
        let tx = SqliteTx { connection: self };
        // Takes the write lock now instead of failing at the first write.
        tx.run("BEGIN IMMEDIATE").await?;
        Ok(tx)
    }
}

impl Commit for SqliteTx<'_> {
    type Tx = Self;

    fn tx(&self) -> &Self {
        self
    }

    async fn commit(self) -> Result<(), DatabaseError> {
        let committed = self.run("COMMIT").await;
        if committed.is_err() {
            self.rollback().await;
        }
        committed
    }

    async fn rollback(self) {
        // SQLite has taken back some failed transactions already.
        if !self.connection.is_autocommit()
            && let Err(error) = self.run("ROLLBACK").await
        {
            tracing::warn!(%error, "rollback failed");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_of_rows_is_inserted_once() -> Result<(), Box<dyn std::error::Error>> {
        let connection = Connection::open_in_memory()?;
        connection.execute_batch("CREATE TABLE t (n INTEGER PRIMARY KEY, twice INTEGER)")?;
        let insert = Insert::new("t", "n, twice", " ON CONFLICT DO NOTHING");
        let tx = SqliteTx { connection: &connection };
        for count in 0_i64..=70 {
            connection.execute("DELETE FROM t", ())?;
            connection.execute("INSERT INTO t VALUES (1000, 0)", ())?;
            let rows: Vec<_> = (0..count).chain([1000]).collect();
            let inserted = tx.insert(&insert, &rows, |n| [(*n).into(), (n * 2).into()]);
            let inserted = ready(inserted).ok_or("it is ready at once")??;
            assert_eq!(inserted as i64, count, "the one that is there is left out");
            let sum: i64 =
                connection
                    .query_row("SELECT COALESCE(SUM(twice), 0) FROM t", (), |row| row.get(0))?;
            assert_eq!(sum, count * (count - 1));
        }
        Ok(())
    }
}
