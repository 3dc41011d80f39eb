//! The connections of PostgreSQL's writers, on the driver itself.
//!
//! A batch is one statement whatever its size: each column is an array, and `UNNEST` makes
//! rows of them. So there is one text of each kind, which stays prepared, in place of one for
//! each power of two. sea-orm's values make no arrays that have nulls; the driver's do.

use std::collections::HashSet;

use sea_orm::{
    DbBackend, DbErr, RuntimeErr, SqlxError,
    prelude::Uuid,
    sqlx::{
        self, Arguments, AssertSqlSafe, Executor, PgPool, Postgres, Row as _, Transaction,
        postgres::{PgArguments, PgRow},
        query::Query as Prepared,
    },
};
use tokio::sync::Mutex;

use super::{
    Begin, Commit, Insert, Param, Query, Read, ReadRow, Row, Tx, UpdateEach,
    orm::parameters,
    statement::{MAX_BYTES_ON_THE_WIRE, over_columns},
};
use crate::fault::DatabaseError;

/// Begins a transaction whose statements find each row by an index.
///
/// A plan that was made while tables were empty reads them whole, and is kept until the server
/// analyses them, a minute or more later: a batch would by then read some hundred thousand rows.
/// What reads a table whole all the same looks so dear that it would be compiled first.
const BEGIN: &str = "BEGIN; SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off; \
    SET LOCAL enable_mergejoin = off; SET LOCAL jit = off";

/// Where a writer writes its batches: one connection.
#[derive(Clone, Debug)]
pub(crate) struct Batches {
    pool: PgPool,
    /// The most bytes of one statement over several rows.
    max_bytes: usize,
}

impl Batches {
    /// Batches on this connection, which is encrypted or not.
    pub(crate) fn new(pool: PgPool, is_encrypted: bool) -> Self {
        let max_bytes = if is_encrypted { MAX_BYTES_ON_THE_WIRE } else { usize::MAX };
        Self { pool, max_bytes }
    }

    pub(crate) async fn close(&self) {
        self.pool.close().await;
    }
}

/// A transaction of the driver.
#[derive(Debug)]
pub(crate) struct PostgresTx {
    inner: Mutex<Transaction<'static, Postgres>>,
    max_bytes: usize,
}

impl From<SqlxError> for DatabaseError {
    fn from(error: SqlxError) -> Self {
        DbErr::Query(RuntimeErr::SqlxError(error.into())).into()
    }
}

/// A statement that stays prepared under its text.
fn prepared(sql: String, values: PgArguments) -> Prepared<'static, Postgres, PgArguments> {
    sqlx::query_with(AssertSqlSafe(sql), values)
}

fn unencodable(error: sqlx::error::BoxDynError) -> DatabaseError {
    SqlxError::Encode(error).into()
}

/// The values, one for each parameter.
fn single(values: &[Param<'_>]) -> Result<PgArguments, DatabaseError> {
    let mut arguments = PgArguments::default();
    for value in values {
        let added = match value {
            Param::Bool(value) => arguments.add(*value),
            Param::Int(value) => arguments.add(*value),
            Param::Uuid(value) => arguments.add(*value),
            Param::Text(value) => arguments.add(value.as_deref()),
            Param::Bytes(value) => arguments.add(value.as_deref()),
        };
        added.map_err(unencodable)?;
    }
    Ok(arguments)
}

/// The values of rows, an array for each column. A column has one type in all rows.
fn columns<const N: usize>(rows: &[[Param<'_>; N]]) -> Result<PgArguments, DatabaseError> {
    let mut arguments = PgArguments::default();
    macro_rules! array {
        ($column:expr, $kind:ident, $value:ident => $read:expr) => {{
            let values = rows.iter().map(|row| match &row[$column] {
                Param::$kind($value) => $read,
                _ => None,
            });
            arguments.add(values.collect::<Vec<_>>())
        }};
    }
    for (column, first) in rows.first().into_iter().flatten().enumerate() {
        let added = match first {
            Param::Bool(_) => array!(column, Bool, value => Some(*value)),
            Param::Int(_) => array!(column, Int, value => *value),
            Param::Uuid(_) => array!(column, Uuid, value => *value),
            Param::Text(_) => array!(column, Text, value => value.as_deref()),
            Param::Bytes(_) => array!(column, Bytes, value => value.as_deref()),
        };
        added.map_err(unencodable)?;
    }
    Ok(arguments)
}

/// The rows as one statement has them each: all together, or as many as fit, at least one.
fn fitting<'r, 'v, const N: usize>(
    rows: &'r [[Param<'v>; N]],
    max_bytes: usize,
) -> impl Iterator<Item = &'r [[Param<'v>; N]]> {
    let mut rows = rows;
    std::iter::from_fn(move || {
        let mut bytes = 0_usize;
        let fits = |row: &&[Param<'v>; N]| {
            let size: usize = row.iter().map(Param::size_bytes).sum();
            bytes = bytes.saturating_add(size);
            bytes <= max_bytes
        };
        let count = rows.iter().take_while(fits).count().max(1);
        let (now, later) = rows.split_at_checked(count)?;
        rows = later;
        Some(now)
    })
}

impl Read for PostgresTx {
    fn backend(&self) -> DbBackend {
        DbBackend::Postgres
    }

    async fn query<R>(&self, query: Query<'_>, read: ReadRow<R>) -> Result<Vec<R>, DatabaseError> {
        let sql = parameters(DbBackend::Postgres, &query.sql).into_owned();
        let prepared = prepared(sql, single(&query.values)?);
        let rows = self.inner.lock().await.fetch_all(prepared).await?;
        rows.iter().map(|row| read(&Row::Postgres(row))).collect()
    }
}

impl Tx for PostgresTx {
    async fn run(&self, sql: &str) -> Result<(), DatabaseError> {
        let sql = sqlx::raw_sql(AssertSqlSafe(sql.to_owned()));
        self.inner.lock().await.execute(sql).await?;
        Ok(())
    }

    async fn execute(&self, query: Query<'_>) -> Result<u64, DatabaseError> {
        let sql = parameters(DbBackend::Postgres, &query.sql).into_owned();
        let prepared = prepared(sql, single(&query.values)?);
        Ok(self.inner.lock().await.execute(prepared).await?.rows_affected())
    }

    async fn insert<T: Sync, const N: usize>(
        &self,
        insert: &Insert<N>,
        rows: &[T],
        values: fn(&T) -> [Param<'_>; N],
    ) -> Result<u64, DatabaseError> {
        let rows: Vec<_> = rows.iter().map(values).collect();
        let sql = over_columns(&insert.into, N, insert.tail);
        let mut inserted = 0;
        for some in fitting(&rows, self.max_bytes) {
            let prepared = prepared(sql.clone(), columns(some)?);
            inserted += self.inner.lock().await.execute(prepared).await?.rows_affected();
        }
        Ok(inserted)
    }

    async fn update_each<T: Sync, const N: usize>(
        &self,
        update: &UpdateEach<N>,
        rows: &[T],
        values: fn(&T) -> [Param<'_>; N],
    ) -> Result<Vec<bool>, DatabaseError> {
        let rows: Vec<_> = rows.iter().map(values).collect();
        let sql = over_columns(&update.with, N, &update.tail);
        let mut changed = HashSet::with_capacity(rows.len());
        for some in fitting(&rows, self.max_bytes) {
            let prepared = prepared(sql.clone(), columns(some)?);
            for row in self.inner.lock().await.fetch_all(prepared).await? {
                changed.insert(PgRow::try_get::<Uuid, _>(&row, "id")?);
            }
        }
        let is_changed = |row: &[Param<'_>; N]| matches!(row.first(), Some(Param::Uuid(Some(key))) if changed.contains(key));
        Ok(rows.iter().map(is_changed).collect())
    }
}

impl Begin for Batches {
    type Transaction<'b> = PostgresTx;

    async fn begin_writing(&self) -> Result<PostgresTx, DatabaseError> {
        let inner = Mutex::new(self.pool.begin_with(BEGIN).await?);
        Ok(PostgresTx { inner, max_bytes: self.max_bytes })
    }
}

impl Commit for PostgresTx {
    type Tx = Self;

    fn tx(&self) -> &Self {
        self
    }

    async fn commit(self) -> Result<(), DatabaseError> {
        Ok(self.inner.into_inner().commit().await?)
    }

    async fn rollback(self) {
        if let Err(error) = self.inner.into_inner().rollback().await {
            tracing::debug!(%error, "rollback failed");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_share_statements_as_far_as_they_fit() {
        let row = |text: &'static str| [Param::from(1), Param::from(text)];
        let rows = ["aaaa", "bbbb", "cccc", "dddddddddddddddddddd", "e"].map(row);
        let sizes = |max_bytes| fitting(&rows, max_bytes).map(<[_]>::len).collect::<Vec<_>>();
        assert_eq!(sizes(usize::MAX), [5], "one statement when nothing bounds it");
        assert_eq!(sizes(40), [2, 1, 1, 1], "two of 20 bytes fit, and the large one is alone");
        assert_eq!(sizes(1), [1; 5], "at least one");
        assert_eq!(fitting(&rows[..0], 40).count(), 0);
    }
}
