//! Inserting rows together: a statement finds its place in every index once for
//! all of its rows, because each follows the last.

use rusqlite::{CachedStatement, Connection, ToSql};
use sea_orm::DbBackend;

use super::super::statement::rows_sql;

/// How many rows one statement inserts. There is one statement for each power
/// of two up to this, so that any number of rows takes a few of them.
const MOST_ROWS: usize = 32;

/// One kind of insertion, as the statements for each number of rows.
#[derive(Debug)]
pub(super) struct Insert {
    /// By the number of rows, the largest first.
    statements: Vec<(usize, String)>,
}

/// How many statements an [`Insert`] keeps.
pub(super) const STATEMENTS: usize = MOST_ROWS.ilog2() as usize + 1;

impl Insert {
    /// What `head`, which begins with `INSERT`, inserts: rows of so many columns.
    ///
    /// `OR FAIL`: what a statement that fails has done goes with the transaction
    /// or the savepoint, and needs no journal of its own.
    pub(super) fn new(head: &str, columns: usize, tail: &str) -> Self {
        let head = head.replacen("INSERT", "INSERT OR FAIL", 1);
        let statement = |rows| rows_sql(DbBackend::Sqlite, &head, rows, columns, tail);
        let sizes = (0..STATEMENTS).rev().map(|power| 1 << power);
        Self { statements: sizes.map(|rows| (rows, statement(rows))).collect() }
    }

    /// Inserts all of `rows`, whose values `bind` gives, and says how many of
    /// them were not left out.
    pub(super) fn write<T>(
        &self,
        connection: &Connection,
        mut rows: &[T],
        bind: impl Fn(&T, &mut Values<'_, '_>) -> rusqlite::Result<()>,
    ) -> rusqlite::Result<usize> {
        let mut inserted = 0;
        for (size, sql) in &self.statements {
            while let Some((now, later)) = rows.split_at_checked(*size) {
                let mut statement = connection.prepare_cached(sql)?;
                let mut values = Values { statement: &mut statement, bound: 0 };
                now.iter().try_for_each(|row| bind(row, &mut values))?;
                inserted += statement.raw_execute()?;
                rows = later;
            }
        }
        Ok(inserted)
    }
}

/// The values of a statement, one after the other.
pub(super) struct Values<'s, 'c> {
    statement: &'s mut CachedStatement<'c>,
    bound: usize,
}

impl Values<'_, '_> {
    pub(super) fn bind(&mut self, value: impl ToSql) -> rusqlite::Result<()> {
        self.bound += 1;
        self.statement.raw_bind_parameter(self.bound, value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_of_rows_is_inserted_once() -> rusqlite::Result<()> {
        let connection = Connection::open_in_memory()?;
        connection.execute_batch("CREATE TABLE t (n INTEGER PRIMARY KEY, twice INTEGER)")?;
        let insert = Insert::new("INSERT INTO t VALUES ", 2, " ON CONFLICT DO NOTHING");
        for count in 0_i64..=70 {
            connection.execute("DELETE FROM t", ())?;
            connection.execute("INSERT INTO t VALUES (1000, 0)", ())?;
            let rows: Vec<_> = (0..count).chain([1000]).collect();
            let inserted = insert.write(&connection, &rows, |n, values| {
                values.bind(n)?;
                values.bind(n * 2)
            })?;
            assert_eq!(inserted as i64, count, "the one that is there is left out");
            let sum: i64 =
                connection
                    .query_row("SELECT COALESCE(SUM(twice), 0) FROM t", (), |row| row.get(0))?;
            assert_eq!(sum, count * (count - 1));
        }
        Ok(())
    }
}
