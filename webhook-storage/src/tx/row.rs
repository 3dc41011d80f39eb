//! Rows of queries.

#[cfg(feature = "postgres")]
use sea_orm::sqlx::{Decode, Postgres, Row as _, Type, postgres::PgRow};
use sea_orm::{QueryResult, TryGetable};

use crate::fault::DatabaseError;

/// A row as the database's driver has it.
pub(crate) enum Row<'r> {
    Orm(&'r QueryResult),
    #[cfg(feature = "postgres")]
    Postgres(&'r PgRow),
    #[cfg(feature = "sqlite")]
    Sqlite(&'r rusqlite::Row<'r>),
}

impl Row<'_> {
    /// The value of the column of this name.
    pub(crate) fn get<T: Column>(&self, column: &str) -> Result<T, DatabaseError> {
        match self {
            Self::Orm(row) => Ok(row.try_get_by(column)?),
            #[cfg(feature = "postgres")]
            Self::Postgres(row) => Ok(row.try_get(column)?),
            #[cfg(feature = "sqlite")]
            Self::Sqlite(row) => Ok(row.get(column)?),
        }
    }
}

/// What a column can be read as.
pub(crate) trait Column: TryGetable + OfSqlite + OfPostgres {}
impl<T: TryGetable + OfSqlite + OfPostgres> Column for T {}

/// What SQLite's own connection reads.
#[cfg(feature = "sqlite")]
pub(crate) trait OfSqlite: rusqlite::types::FromSql {}
#[cfg(feature = "sqlite")]
impl<T: rusqlite::types::FromSql> OfSqlite for T {}

/// What PostgreSQL's driver reads.
#[cfg(feature = "postgres")]
pub(crate) trait OfPostgres: Type<Postgres> + for<'r> Decode<'r, Postgres> {}
#[cfg(feature = "postgres")]
impl<T: Type<Postgres> + for<'r> Decode<'r, Postgres>> OfPostgres for T {}

/// Without the feature `sqlite` everything is.
#[cfg(not(feature = "sqlite"))]
pub(crate) trait OfSqlite {}
#[cfg(not(feature = "sqlite"))]
impl<T> OfSqlite for T {}

/// Without the feature `postgres` everything is.
#[cfg(not(feature = "postgres"))]
pub(crate) trait OfPostgres {}
#[cfg(not(feature = "postgres"))]
impl<T> OfPostgres for T {}
