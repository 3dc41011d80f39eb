//! sea-orm's connections and transactions.

use std::{
    borrow::Cow,
    collections::{HashSet, VecDeque},
};

use sea_orm::{ConnectionTrait, DbBackend, Statement, Value, prelude::Uuid};

use super::{
    Insert, Param, Query, Read, ReadRow, Row, Tx, UpdateEach,
    statement::{MAX_BYTES_ON_THE_WIRE, next_rows, over_rows},
};
use crate::fault::DatabaseError;

impl<C: ConnectionTrait> Read for C {
    fn backend(&self) -> DbBackend {
        self.get_database_backend()
    }

    async fn query<R>(&self, query: Query<'_>, read: ReadRow<R>) -> Result<Vec<R>, DatabaseError> {
        let rows = self.query_all_raw(statement(self.backend(), query)).await?;
        rows.iter().map(|row| read(&Row::Orm(row))).collect()
    }
}

impl<C: ConnectionTrait> Tx for C {
    async fn run(&self, sql: &str) -> Result<(), DatabaseError> {
        self.execute_unprepared(sql).await?;
        Ok(())
    }

    async fn execute(&self, query: Query<'_>) -> Result<u64, DatabaseError> {
        Ok(self.execute_raw(statement(self.backend(), query)).await?.rows_affected())
    }

    async fn insert<T: Sync, const N: usize>(
        &self,
        insert: &Insert<N>,
        rows: &[T],
        values: fn(&T) -> [Param<'_>; N],
    ) -> Result<u64, DatabaseError> {
        let mut inserted = 0;
        let rows = rows.iter().map(values).collect();
        for insert in over_all(self.backend(), &insert.head, rows, insert.tail) {
            inserted += self.execute_raw(insert).await?.rows_affected();
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
        let key = |row: &[Param<'_>; N]| match row.first() {
            Some(Param::Uuid(key)) => *key,
            _ => None,
        };
        let keys: Vec<_> = rows.iter().map(key).collect();
        let mut changed = HashSet::with_capacity(rows.len());
        for update in over_all(self.backend(), &update.head, rows, &update.tail) {
            for row in self.query_all_raw(update).await? {
                changed.insert(row.try_get_by::<Uuid, _>("id")?);
            }
        }
        Ok(keys.iter().map(|key| key.is_some_and(|key| changed.contains(&key))).collect())
    }
}

/// The statement as `backend` writes it.
fn statement(backend: DbBackend, Query { sql, values }: Query<'_>) -> Statement {
    let values: Vec<_> = values.into_iter().map(Param::into_value).collect();
    Statement::from_sql_and_values(backend, parameters(backend, &sql), values)
}

/// `sql` with the parameters as `backend` writes them.
pub(super) fn parameters(backend: DbBackend, sql: &str) -> Cow<'_, str> {
    if backend == DbBackend::Sqlite {
        return sql.into();
    }
    let mut numbered = String::with_capacity(sql.len() + sql.len() / 4);
    for (number, part) in sql.split('?').enumerate() {
        if number > 0 {
            numbered.push('$');
            numbered.push_str(&number.to_string());
        }
        numbered.push_str(part);
    }
    numbered.into()
}

/// Statements over all of `rows`, with a power of two of them in each.
fn over_all<const N: usize>(
    backend: DbBackend,
    head: &str,
    rows: Vec<[Param<'_>; N]>,
    tail: &str,
) -> Vec<Statement> {
    let max_bytes = match backend {
        DbBackend::Sqlite => usize::MAX,
        _ => MAX_BYTES_ON_THE_WIRE,
    };
    let size = |row: &[Param<'_>; N]| row.iter().map(Param::size_bytes).sum();
    let mut rows = VecDeque::from(rows);
    let mut statements = Vec::new();
    while let Some(count) = next_rows(rows.iter().map(size), max_bytes) {
        let sql = over_rows(head, count, N, tail);
        let values: Vec<Value> = rows.drain(..count).flatten().map(Param::into_value).collect();
        let sql = parameters(backend, &sql);
        statements.push(Statement::from_sql_and_values(backend, sql, values));
    }
    statements
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_written_as_the_database_reads_them() {
        let insert = Insert::<2>::new("t", "a, b", " C");
        let written = |backend| {
            let rows = [[1_i64, 2], [3, 4]].map(|row| row.map(Param::from)).to_vec();
            let statements = over_all(backend, &insert.head, rows, insert.tail);
            statements.into_iter().map(|statement| statement.sql).collect::<Vec<_>>()
        };
        assert_eq!(written(DbBackend::Sqlite), ["INSERT INTO t (a, b) VALUES (?,?),(?,?) C"]);
        assert_eq!(written(DbBackend::Postgres), ["INSERT INTO t (a, b) VALUES ($1,$2),($3,$4) C"]);
        let query = super::super::with("a = ? AND b = ?", [1.into(), 2.into()]);
        assert_eq!(statement(DbBackend::Postgres, query).sql, "a = $1 AND b = $2");
    }
}
