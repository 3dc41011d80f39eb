//! Statements over many rows whose text is the same each time, so that the database
//! prepares it once.

use std::borrow::Cow;

use super::Param;

/// The most rows of one statement. With 20 columns they stay far below the
/// limits on parameters: 32 766 in SQLite, 65 535 in PostgreSQL.
pub(crate) const MAX_ROWS: usize = 256;

/// The most bytes of one statement over several rows with PostgreSQL, where connections are
/// encrypted: one TLS record. The driver leaves Nagle's algorithm on, has no setting for it,
/// and writes record by record, so that the second one waits for the server's delayed
/// acknowledgement, up to 40 ms, which is worse than a few more round trips.
pub(super) const MAX_BYTES_ON_THE_WIRE: usize = 14 << 10;

/// A statement and its values.
#[derive(Clone, Debug)]
pub(crate) struct Query<'a> {
    /// The text, with `?` for each value.
    pub(crate) sql: Cow<'a, str>,
    /// The values, in order.
    pub(crate) values: Vec<Param<'a>>,
}

/// `sql` with these values.
pub(crate) fn with<'a>(
    sql: impl Into<Cow<'a, str>>,
    values: impl IntoIterator<Item = Param<'a>>,
) -> Query<'a> {
    Query { sql: sql.into(), values: values.into_iter().collect() }
}

/// `head` with its values, those of the set as `(?,…)`, `tail`. The set is filled up to a
/// power of two by repeating its last member, so that there are few different texts.
pub(crate) fn over_set<'a>(
    head: &str,
    values: impl IntoIterator<Item = Param<'a>>,
    set: impl IntoIterator<Item = Param<'a>>,
    tail: &str,
) -> Query<'a> {
    let mut values: Vec<_> = values.into_iter().collect();
    let before = values.len();
    values.extend(set);
    if let Some(last) = values.last().cloned() {
        let members = (values.len() - before).next_power_of_two();
        values.resize(before + members, last);
    }
    let mut sql = String::from(head);
    push_row(&mut sql, values.len() - before);
    sql.push_str(tail);
    Query { sql: sql.into(), values }
}

/// `(?,…)` with so many values.
fn push_row(sql: &mut String, values: usize) {
    sql.push('(');
    for number in 0..values {
        sql.push_str(if number == 0 { "?" } else { ",?" });
    }
    sql.push(')');
}

/// `head`, so many rows as `(?,…),(?,…)`, `tail`.
pub(super) fn over_rows(head: &str, rows: usize, columns: usize, tail: &str) -> String {
    let mut sql = String::with_capacity(head.len() + tail.len() + rows * (columns * 2 + 2));
    sql.push_str(head);
    for row in 0..rows {
        if row > 0 {
            sql.push(',');
        }
        push_row(&mut sql, columns);
    }
    sql.push_str(tail);
    sql
}

/// `head`, rows of which each column is a parameter with an array, `tail`.
#[cfg(feature = "postgres")]
pub(super) fn over_columns(head: &str, columns: usize, tail: &str) -> String {
    let mut sql = String::with_capacity(head.len() + tail.len() + columns * 4 + 24);
    sql.push_str(head);
    sql.push_str("SELECT * FROM UNNEST(");
    for number in 1..=columns {
        sql.push_str(if number == 1 { "$" } else { ",$" });
        sql.push_str(&number.to_string());
    }
    sql.push(')');
    sql.push_str(tail);
    sql
}

/// How many of the rows of these sizes the next statement has: a power of two of them that
/// fits, at least one; none when there are none. So any number of rows is written with
/// statements of nine different texts.
pub(super) fn next_rows(sizes: impl Iterator<Item = usize>, max_bytes: usize) -> Option<usize> {
    let mut sizes = sizes.take(MAX_ROWS);
    let mut bytes = sizes.next()?;
    let more = sizes.take_while(|size| {
        bytes = bytes.saturating_add(*size);
        bytes <= max_bytes
    });
    Some(1 << (1 + more.count()).ilog2())
}

/// One kind of insertion, of rows with `N` columns.
#[derive(Debug)]
pub(crate) struct Insert<const N: usize> {
    /// All before the rows.
    pub(super) head: String,
    /// All after the rows.
    pub(super) tail: &'static str,
    /// All before the rows, where a query makes them.
    #[cfg(feature = "postgres")]
    pub(super) into: String,
    /// The texts for SQLite's thread by their number of rows, the largest first.
    #[cfg(feature = "sqlite")]
    pub(super) sqlite: Vec<(usize, String)>,
}

impl<const N: usize> Insert<N> {
    /// How many rows one statement inserts on SQLite's thread: the statement finds its place
    /// in every index once for all of them, because each follows the last.
    const SQLITE_ROWS: usize = 32;

    /// An insertion into these `N` columns of a table, as in SQL.
    pub(crate) fn new(table: &str, columns: &str, tail: &'static str) -> Self {
        Self::of(table, columns, tail, Self::SQLITE_ROWS)
    }

    /// An insertion that changes rows which are there. SQLite's thread writes one row with
    /// each statement: to undo a part of several, SQLite would keep a journal of its own.
    pub(crate) fn or_change(table: &str, columns: &str, tail: &'static str) -> Self {
        Self::of(table, columns, tail, 1)
    }

    #[cfg_attr(not(feature = "sqlite"), expect(unused_variables, reason = "SQLite's only"))]
    fn of(table: &str, columns: &str, tail: &'static str, sqlite_rows: usize) -> Self {
        assert_eq!(columns.split(',').count(), N, "a value for each column of {table}");
        let table = format!("INTO {table} ({columns}) ");
        let into = format!("{table}VALUES ");
        // What a statement that fails has done goes with the transaction or the savepoint,
        // and needs no journal of its own.
        #[cfg(feature = "sqlite")]
        let sqlite = (0..=sqlite_rows.ilog2()).rev().map(|power| 1 << power).map(|rows| {
            let head = format!("INSERT OR FAIL {into}");
            (rows, over_rows(&head, rows, N, tail))
        });
        Self {
            #[cfg(feature = "sqlite")]
            sqlite: sqlite.collect(),
            #[cfg(feature = "postgres")]
            into: format!("INSERT {table}"),
            head: format!("INSERT {into}"),
            tail,
        }
    }
}

/// An update of one row of a table by each of many rows of values.
///
/// Its text refers to the values as `s.column`. With PostgreSQL they are the rows of a
/// common table expression `s`, many of which share a statement; SQLite's thread runs a
/// prepared statement for each, in which they are parameters.
#[derive(Debug)]
pub(crate) struct UpdateEach<const N: usize> {
    /// The text for SQLite's thread.
    #[cfg(feature = "sqlite")]
    pub(crate) sqlite: String,
    /// All before the rows.
    pub(super) head: String,
    /// All before the rows, where a query makes them.
    #[cfg(feature = "postgres")]
    pub(super) with: String,
    /// All after the rows. The statement returns the keys of the rows that it changed.
    pub(super) tail: String,
}

impl<const N: usize> UpdateEach<N> {
    /// An update of `table` by `N` columns, as in SQL, the first of which is the key `id`.
    pub(crate) fn new(table: &str, columns: &str, set: &str, condition: &str) -> Self {
        assert_eq!(columns.split(',').count(), N, "a value for each column for {table}");
        let condition = format!("{table}.id = s.id AND {condition}");
        Self {
            #[cfg(feature = "sqlite")]
            sqlite: with_parameters(
                &format!("UPDATE {table} SET {set} WHERE {condition}"),
                columns,
            ),
            head: format!("WITH s ({columns}) AS (VALUES "),
            #[cfg(feature = "postgres")]
            with: format!("WITH s ({columns}) AS ("),
            tail: format!(
                ") UPDATE {table} SET {set} FROM s WHERE {condition} RETURNING {table}.id"
            ),
        }
    }
}

/// `sql` with the number of each column in place of `s.column`.
#[cfg(feature = "sqlite")]
fn with_parameters(sql: &str, columns: &str) -> String {
    let columns: Vec<_> = columns.split(", ").collect();
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut parts = sql.split("s.");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let name = part.split(|c| !is_name(c)).next().unwrap_or_default();
        let column = columns.iter().position(|column| *column == name);
        match column.filter(|_| !text.ends_with(is_name)) {
            Some(column) => text.push_str(&format!("?{}{}", column + 1, &part[name.len()..])),
            // The end of another name.
            None => text.push_str(&format!("s.{part}")),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(rows: usize, row_bytes: usize, max_bytes: usize) -> Vec<usize> {
        let mut left = rows;
        std::iter::from_fn(|| {
            let size = next_rows(std::iter::repeat_n(row_bytes, left), max_bytes)?;
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
    fn sets_are_filled_up() {
        let set = |members: i64| (1..=members).map(Param::from);
        let four = over_set("a = ? AND b IN ", [7.into()], set(4), " C");
        assert_eq!(four.sql, "a = ? AND b IN (?,?,?,?) C");
        assert_eq!(four.values.len(), 5);
        let three = over_set("IN ", [], set(3), "");
        assert_eq!(three.sql, "IN (?,?,?,?)");
        assert_eq!(three.values.last(), Some(&Param::from(3)));
    }

    #[test]
    fn columns_have_names_in_every_text() {
        let update = UpdateEach::<3>::new(
            "t",
            "id, n, n_max",
            "n = s.n, m = COALESCE(s.n_max, m)",
            "t.n < s.n AND books.id > 1",
        );
        #[cfg(feature = "sqlite")]
        assert_eq!(
            update.sqlite,
            "UPDATE t SET n = ?2, m = COALESCE(?3, m) WHERE t.id = ?1 AND t.n < ?2 AND books.id > 1"
        );
        assert_eq!(
            over_rows(&update.head, 2, 3, &update.tail),
            "WITH s (id, n, n_max) AS (VALUES (?,?,?),(?,?,?)) UPDATE t SET n = s.n, \
             m = COALESCE(s.n_max, m) FROM s WHERE t.id = s.id AND t.n < s.n AND books.id > 1 \
             RETURNING t.id"
        );
        #[cfg(feature = "postgres")]
        assert_eq!(
            over_columns(&update.with, 3, &update.tail),
            "WITH s (id, n, n_max) AS (SELECT * FROM UNNEST($1,$2,$3)) UPDATE t SET n = s.n, \
             m = COALESCE(s.n_max, m) FROM s WHERE t.id = s.id AND t.n < s.n AND books.id > 1 \
             RETURNING t.id"
        );
    }

    #[cfg(feature = "postgres")]
    #[test]
    fn rows_of_arrays_are_one_text_whatever_their_number() {
        let insert = Insert::<2>::new("t", "a, b", " ON CONFLICT DO NOTHING");
        assert_eq!(
            over_columns(&insert.into, 2, insert.tail),
            "INSERT INTO t (a, b) SELECT * FROM UNNEST($1,$2) ON CONFLICT DO NOTHING"
        );
    }
}
