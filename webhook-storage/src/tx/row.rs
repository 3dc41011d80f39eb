//! Rows of queries.

use sea_orm::{QueryResult, TryGetable};

use crate::fault::DatabaseError;

/// A row as the database's driver has it.
pub(crate) enum Row<'r> {
    Orm(&'r QueryResult),
    #[cfg(feature = "sqlite")]
    Sqlite(&'r rusqlite::Row<'r>),
}

impl Row<'_> {
    /// The value of the column of this name.
    pub(crate) fn get<T: Column>(&self, column: &str) -> Result<T, DatabaseError> {
        match self {
            Self::Orm(row) => Ok(row.try_get_by(column)?),
            #[cfg(feature = "sqlite")]
            Self::Sqlite(row) => Ok(row.get(column)?),
        }
    }
}

/// What a column can be read as.
#[cfg(feature = "sqlite")]
pub(crate) trait Column: TryGetable + rusqlite::types::FromSql {}
#[cfg(feature = "sqlite")]
impl<T: TryGetable + rusqlite::types::FromSql> Column for T {}

/// What a column can be read as.
#[cfg(not(feature = "sqlite"))]
pub(crate) trait Column: TryGetable {}
#[cfg(not(feature = "sqlite"))]
impl<T: TryGetable> Column for T {}
