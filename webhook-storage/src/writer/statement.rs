//! Statements over many rows whose text is the same each time, so that the
//! database prepares it once.

use std::collections::VecDeque;

use sea_orm::{DbBackend, Statement, Value};

/// The most rows of one statement. With 20 columns they stay far below the
/// limits on parameters: 32 766 in SQLite, 65 535 in PostgreSQL.
pub(super) const MAX_ROWS: usize = 256;

/// The most bytes of one statement over several rows with PostgreSQL: one TLS
/// record. The driver leaves Nagle's algorithm on and writes record by record,
/// so that the second one waits for the server's delayed acknowledgement, up
/// to 40 ms, which is worse than a few more round trips.
const MAX_BYTES_ON_THE_WIRE: usize = 14 << 10;

/// Statements over all of `rows`, with a power of two of them in each: any
/// number of rows is written with statements of nine different texts.
pub(super) fn over_all<R: AsRef<[Value]> + IntoIterator<Item = Value>>(
    backend: DbBackend,
    head: &str,
    rows: Vec<R>,
    tail: &str,
) -> Vec<Statement> {
    let max_bytes = match backend {
        DbBackend::Sqlite => usize::MAX,
        _ => MAX_BYTES_ON_THE_WIRE,
    };
    let mut rows = VecDeque::from(rows);
    std::iter::from_fn(move || {
        let size = next_size(rows.iter().map(|row| size_bytes(row.as_ref())), max_bytes)?;
        let values = rows.drain(..size).flatten().collect();
        Some(over_rows(backend, head, size, tail, values))
    })
    .collect()
}

/// How many rows the next statement has: of the rows whose sizes these are, as
/// many as fit, at least one.
fn next_size(sizes: impl Iterator<Item = usize>, max_bytes: usize) -> Option<usize> {
    let mut sizes = sizes.take(MAX_ROWS);
    let mut bytes = sizes.next()?;
    let more = sizes.take_while(|size| {
        bytes = bytes.saturating_add(*size);
        bytes <= max_bytes
    });
    Some(1 << (1 + more.count()).ilog2())
}

/// About how many bytes the values of a row take.
fn size_bytes(row: &[Value]) -> usize {
    row.iter()
        .map(|value| match value {
            Value::Bytes(Some(bytes)) => bytes.len(),
            Value::String(Some(text)) => text.len(),
            _ => 16,
        })
        .sum()
}

/// A statement with these values in its rows.
fn over_rows(
    backend: DbBackend,
    head: &str,
    rows: usize,
    tail: &str,
    values: Vec<Value>,
) -> Statement {
    let sql = rows_sql(backend, head, rows, values.len() / rows.max(1), tail);
    Statement::from_sql_and_values(backend, sql, values)
}

/// `head`, so many rows as `(…),(…)`, `tail`.
pub(super) fn rows_sql(
    backend: DbBackend,
    head: &str,
    rows: usize,
    columns: usize,
    tail: &str,
) -> String {
    let mut sql = String::with_capacity(head.len() + tail.len() + rows * columns * 6);
    sql.push_str(head);
    for row in 0..rows {
        sql.push_str(if row == 0 { "(" } else { ",(" });
        push_parameters(&mut sql, backend, row * columns, columns);
        sql.push(')');
    }
    sql.push_str(tail);
    sql
}

/// `head`, the values as `(…)`, `tail`. The list is filled up to a power of two
/// by repeating its last value, which changes nothing where sets are meant.
pub(crate) fn over_set(
    backend: DbBackend,
    head: &str,
    mut values: Vec<Value>,
    set: impl IntoIterator<Item = Value>,
    tail: &str,
) -> Statement {
    let before = values.len();
    values.extend(set);
    if let Some(last) = values.last().cloned() {
        let members = (values.len() - before).next_power_of_two();
        values.resize(before + members, last);
    }
    let mut sql = String::from(head);
    sql.push('(');
    push_parameters(&mut sql, backend, before, values.len() - before);
    sql.push(')');
    sql.push_str(tail);
    Statement::from_sql_and_values(backend, sql, values)
}

/// `sql` with `?` for each parameter, in order, as `backend` writes them.
pub(crate) fn with(
    backend: DbBackend,
    sql: &str,
    values: impl IntoIterator<Item = Value>,
) -> Statement {
    let values: Vec<_> = values.into_iter().collect();
    if backend == DbBackend::Sqlite {
        return Statement::from_sql_and_values(backend, sql, values);
    }
    let mut numbered = String::with_capacity(sql.len() + 2 * values.len());
    for (number, part) in sql.split('?').enumerate() {
        if number > 0 {
            numbered.push_str(&format!("${number}"));
        }
        numbered.push_str(part);
    }
    Statement::from_sql_and_values(backend, numbered, values)
}

fn push_parameters(sql: &mut String, backend: DbBackend, before: usize, count: usize) {
    for number in before + 1..=before + count {
        if number > before + 1 {
            sql.push(',');
        }
        match backend {
            DbBackend::Sqlite => sql.push('?'),
            _ => sql.push_str(&format!("${number}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(rows: usize, row_bytes: usize, max_bytes: usize) -> Vec<usize> {
        let mut left = rows;
        std::iter::from_fn(|| {
            let size = next_size(std::iter::repeat_n(row_bytes, left), max_bytes)?;
            left -= size;
            Some(size)
        })
        .collect()
    }

    #[test]
    fn rows_are_split_into_powers_of_two() {
        assert!(sizes(0, 1, 10).is_empty());
        assert_eq!(sizes(77, 1, usize::MAX), [64, 8, 4, 1]);
        assert_eq!(sizes(512, 1, usize::MAX), [256, 256]);
        assert_eq!(sizes(10, 10, 55), [4, 4, 2], "five fit");
        assert_eq!(sizes(3, 10, 5), [1, 1, 1], "none fits");
        for rows in 0..1_100 {
            assert_eq!(sizes(rows, 7, 300).iter().sum::<usize>(), rows);
        }
    }

    #[test]
    fn parameters_are_written_as_the_database_reads_them() {
        let values = || (1..=4).map(Value::from).collect::<Vec<_>>();
        let sqlite = over_rows(DbBackend::Sqlite, "A ", 2, " B", values());
        assert_eq!(sqlite.sql, "A (?,?),(?,?) B");
        let postgres = over_rows(DbBackend::Postgres, "A ", 2, " B", values());
        assert_eq!(postgres.sql, "A ($1,$2),($3,$4) B");
        let set = over_set(DbBackend::Postgres, "a = $1 AND b IN ", vec![7.into()], values(), " C");
        assert_eq!(set.sql, "a = $1 AND b IN ($2,$3,$4,$5) C");
        let three = values().into_iter().take(3);
        let set = over_set(DbBackend::Sqlite, "IN ", Vec::new(), three, "");
        assert_eq!(set.sql, "IN (?,?,?,?)");
        assert_eq!(set.values.expect("four values").0.last(), Some(&Value::from(3)));
        assert_eq!(with(DbBackend::Postgres, "a = ? AND b = ?", values()).sql, "a = $1 AND b = $2");
    }
}
