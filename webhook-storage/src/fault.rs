//! What a database error means to a caller, judged by its type and code.

#[cfg(feature = "sqlite")]
use std::sync::Arc;
use std::time::Duration;

use sea_orm::{DbErr, RuntimeErr, SqlxError};
use webhook_core::Error;

/// When a caller may try again after the database was not available.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// An error of either driver.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum DatabaseError {
    #[error(transparent)]
    Orm(#[from] DbErr),
    #[cfg(feature = "sqlite")]
    #[error(transparent)]
    Sqlite(Arc<rusqlite::Error>),
}

#[cfg(feature = "sqlite")]
impl From<rusqlite::Error> for DatabaseError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(Arc::new(error))
    }
}

impl DatabaseError {
    pub(crate) fn class(&self) -> ErrorClass {
        match self {
            Self::Orm(error) => ErrorClass::of(error),
            #[cfg(feature = "sqlite")]
            Self::Sqlite(error) => ErrorClass::of_sqlite(error),
        }
    }
}

/// The classes of database errors that are told apart.
#[cfg_attr(
    not(feature = "postgres"),
    expect(dead_code, reason = "some errors are PostgreSQL's only")
)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ErrorClass {
    /// The row's own identifier is taken.
    TakenId,
    /// Another unique column, or combination of columns, is taken.
    TakenName,
    /// A row that this one refers to does not exist.
    MissingReference,
    /// Text that this database cannot store.
    BadText,
    /// Two transactions were in each other's way; the same again may succeed at once.
    Interlocked,
    /// No connection, no space, too busy.
    Unavailable,
    /// What one connection prepared is another one's: a pooler is between.
    Pooled,
    /// A defect, or a broken database.
    Broken,
}

impl ErrorClass {
    pub(crate) fn of(error: &DbErr) -> Self {
        match error {
            DbErr::ConnectionAcquire(_) => Self::Unavailable,
            DbErr::Conn(RuntimeErr::SqlxError(error))
            | DbErr::Exec(RuntimeErr::SqlxError(error))
            | DbErr::Query(RuntimeErr::SqlxError(error)) => Self::of_driver(error),
            // What the connection layer says in words of its own.
            DbErr::Conn(RuntimeErr::Internal(_)) => Self::Unavailable,
            _ => Self::Broken,
        }
    }

    pub(crate) fn of_driver(error: &SqlxError) -> Self {
        match error {
            SqlxError::Io(_)
            | SqlxError::Tls(_)
            | SqlxError::PoolTimedOut
            | SqlxError::PoolClosed
            | SqlxError::WorkerCrashed
            // What a connection says that was cut in the middle.
            | SqlxError::Protocol(_)
            | SqlxError::BeginFailed => Self::Unavailable,
            #[cfg(feature = "postgres")]
            SqlxError::Database(error)
                if error.try_downcast_ref::<sea_orm::SqlxPostgresError>().is_some() =>
            {
                let primary = error.constraint().is_some_and(|name| name.ends_with("_pkey"));
                Self::of_sqlstate(&error.code().unwrap_or_default(), primary)
            }
            #[cfg(feature = "sqlite")]
            SqlxError::Database(error)
                if error.try_downcast_ref::<sea_orm::SqlxSqliteError>().is_some() =>
            {
                Self::of_result_code(error.code().and_then(|code| code.parse().ok()))
            }
            _ => Self::Broken,
        }
    }

    /// <https://www.postgresql.org/docs/current/errcodes-appendix.html>
    #[cfg(feature = "postgres")]
    fn of_sqlstate(code: &str, primary: bool) -> Self {
        match code {
            "23505" if primary => Self::TakenId,
            "23505" => Self::TakenName,
            "23503" => Self::MissingReference,
            "22021" | "22P05" => Self::BadText,
            "40001" | "40P01" => Self::Interlocked,
            // Read-only after a failover, a connection that was ended because a transaction took
            // too long.
            "25006" | "25P03" | "25P04" | "58030" => Self::Unavailable,
            // A prepared statement that is missing, or exists already.
            "26000" | "42P05" => Self::Pooled,
            // Connection, credentials and database (while somebody changes them),
            // resources (disk full, memory, connections), locks, an operator who ends
            // statements, connections or the server.
            _ if ["08", "28", "3D", "53", "55", "57"]
                .iter()
                .any(|class| code.starts_with(class)) =>
            {
                Self::Unavailable
            }
            _ => Self::Broken,
        }
    }

    /// <https://www.sqlite.org/rescode.html>
    #[cfg(feature = "sqlite")]
    fn of_result_code(code: Option<u32>) -> Self {
        const FOREIGN_KEY: u32 = 787;
        const PRIMARY_KEY: u32 = 1555;
        const UNIQUE: u32 = 2067;
        match code {
            Some(PRIMARY_KEY) => Self::TakenId,
            Some(UNIQUE) => Self::TakenName,
            Some(FOREIGN_KEY) => Self::MissingReference,
            // Busy, locked, out of memory, read-only, I/O error, disk full, cannot open.
            Some(code) if [5, 6, 7, 8, 10, 13, 14].contains(&(code & 0xff)) => Self::Unavailable,
            _ => Self::Broken,
        }
    }

    /// Whether the database is at fault rather than one operation, so that
    /// others of its transaction would fare no better alone.
    pub(crate) const fn is_of_the_database(self) -> bool {
        matches!(self, Self::Unavailable | Self::Pooled)
    }
}

/// The error for a caller who was writing a `what`.
pub(crate) fn error(error: impl Into<DatabaseError>, what: &str) -> Error {
    let error = error.into();
    error.class().error(error, what)
}

/// The error of a read for a caller. The error of a write also says what was written: see
/// [`About`].
impl From<DatabaseError> for Error {
    fn from(failed: DatabaseError) -> Self {
        error(failed, "database")
    }
}

/// Turns results of the database into results for a caller of the store.
pub(crate) trait About<T> {
    /// Says in the error that a `what` was written.
    fn about(self, what: &str) -> Result<T, Error>;
}

impl<T, E: Into<DatabaseError>> About<T> for Result<T, E> {
    fn about(self, what: &str) -> Result<T, Error> {
        self.map_err(|failed| error(failed, what))
    }
}

/// What became of a statement for one `what`, by how many rows it met.
pub(crate) fn met(rows: Result<u64, DatabaseError>, what: &str) -> Result<(), Error> {
    match rows.about(what)? {
        0 => Err(Error::not_found(what)),
        _ => Ok(()),
    }
}

impl ErrorClass {
    /// The class of an error of the writer's own connection to SQLite.
    #[cfg(feature = "sqlite")]
    pub(crate) fn of_sqlite(error: &rusqlite::Error) -> Self {
        let code = error.sqlite_error().map(|error| error.extended_code.cast_unsigned());
        Self::of_result_code(code)
    }

    /// What to tell a caller who was writing a `what` and met this `error`.
    pub(crate) fn error(
        self,
        error: impl std::error::Error + Send + Sync + 'static,
        what: &str,
    ) -> Error {
        match self {
            Self::TakenId => Error::conflict(format!("{what} id: is taken")),
            Self::TakenName => Error::conflict(format!("{what} name: is taken")),
            Self::MissingReference => Error::not_found(what),
            Self::BadText => Error::invalid(what, "text must not contain a NUL character"),
            Self::Interlocked | Self::Unavailable => unavailable(),
            Self::Pooled => return unavailable().caused_by(BehindPooler(error.into())),
            Self::Broken => return Error::internal(error),
        }
        .caused_by(error)
    }
}

fn unavailable() -> Error {
    Error::unavailable("the database is not available", RETRY_AFTER)
}

/// Says to the operator what to set.
#[derive(Debug, thiserror::Error)]
#[error(
    "a pooler gives the prepared statements of one connection to another one: let PgBouncer have \
     pool_mode = session, or be 1.21 or later with max_prepared_statements = 200"
)]
struct BehindPooler(#[source] Box<dyn std::error::Error + Send + Sync>);

/// The error of a store whose queue has no room.
pub(crate) fn queue_full() -> Error {
    Error::unavailable("the store cannot keep up", RETRY_AFTER)
}

/// The error of a store that was closed.
pub(crate) fn closed() -> Error {
    Error::unavailable("the store is closed", RETRY_AFTER)
}

/// A row that does not read as what it was written from.
#[derive(Debug, thiserror::Error)]
#[error("{table}.{column} of row {row}: {reason}")]
pub(crate) struct BadRow {
    pub(crate) table: &'static str,
    pub(crate) column: &'static str,
    pub(crate) row: uuid::Uuid,
    pub(crate) reason: String,
}

/// Names the table and the row in errors of one row's conversion.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) table: &'static str,
    pub(crate) id: uuid::Uuid,
}

impl Row {
    /// What came of reading `column`.
    pub(crate) fn read<T, E: ToString>(
        self,
        column: &'static str,
        result: Result<T, E>,
    ) -> Result<T, Error> {
        result.map_err(|error| {
            let Self { table, id: row } = self;
            Error::internal(BadRow { table, column, row, reason: error.to_string() })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "sqlite")]
    #[test]
    fn sqlite_codes_are_told_apart() {
        for (code, class) in [
            (1555, ErrorClass::TakenId),
            (2067, ErrorClass::TakenName),
            (787, ErrorClass::MissingReference),
            (13, ErrorClass::Unavailable),
            (5 | (2 << 8), ErrorClass::Unavailable),
            (10 | (4 << 8), ErrorClass::Unavailable),
            (11, ErrorClass::Broken),
            (1299, ErrorClass::Broken),
        ] {
            assert_eq!(ErrorClass::of_result_code(Some(code)), class, "{code}");
        }
    }

    #[cfg(feature = "postgres")]
    #[test]
    fn sqlstates_are_told_apart() {
        for (code, class) in [
            ("23505", ErrorClass::TakenName),
            ("23503", ErrorClass::MissingReference),
            ("40P01", ErrorClass::Interlocked),
            ("53100", ErrorClass::Unavailable),
            ("08006", ErrorClass::Unavailable),
            ("57000", ErrorClass::Unavailable),
            ("57014", ErrorClass::Unavailable),
            ("57P01", ErrorClass::Unavailable),
            ("57P02", ErrorClass::Unavailable),
            ("57P03", ErrorClass::Unavailable),
            ("57P05", ErrorClass::Unavailable),
            ("25P03", ErrorClass::Unavailable),
            ("25P04", ErrorClass::Unavailable),
            ("25006", ErrorClass::Unavailable),
            ("26000", ErrorClass::Pooled),
            ("42P05", ErrorClass::Pooled),
            ("28000", ErrorClass::Unavailable),
            ("28P01", ErrorClass::Unavailable),
            ("3D000", ErrorClass::Unavailable),
            ("55006", ErrorClass::Unavailable),
            ("55P03", ErrorClass::Unavailable),
            ("42P01", ErrorClass::Broken),
        ] {
            assert_eq!(ErrorClass::of_sqlstate(code, false), class, "{code}");
        }
        assert_eq!(ErrorClass::of_sqlstate("23505", true), ErrorClass::TakenId);
    }
}
