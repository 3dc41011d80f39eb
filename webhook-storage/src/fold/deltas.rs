//! What is appended and not folded yet.

use sea_orm::{DbBackend, DbErr, prelude::Uuid};

use super::block;
use crate::{
    fault::DatabaseError,
    tally::{Change, Span, spans},
    tx::{Read, with},
};

/// All rows as one text: rows of their own would cost more than the sums, because SQLite's
/// thread hands over, and wakes who asked, row by row.
pub(super) const SQLITE: &str = "SELECT group_concat(hex(changes), '') AS changes FROM tally_delta";
const POSTGRES: &str = "SELECT string_agg(encode(changes, 'hex'), '') AS changes FROM tally_delta";

/// The changes of all rows, as the text of this query.
pub(super) async fn read(tx: &impl Read, sql: &str) -> Result<Vec<Change>, DatabaseError> {
    let text = tx.query_one(with(sql, []), |row| row.get::<Option<String>>("changes")).await?;
    let unreadable = |error: &dyn std::error::Error| {
        DatabaseError::from(DbErr::Type(format!("changes of tallies: {error}")))
    };
    let blocks = hex::decode(text.flatten().unwrap_or_default());
    let blocks = blocks.map_err(|error| unreadable(&error))?;
    block::decode(&blocks).map_err(|error| unreadable(&error))
}

/// By how much the tallies of one account are behind.
#[derive(Debug, Default)]
pub(crate) struct Deltas {
    /// In order, of all spans.
    changes: Vec<Change>,
}

impl Deltas {
    /// Reads them in the snapshot in which the tallies are read. Without one, they are read
    /// first: what is folded between is then in both, and never in none.
    pub(crate) async fn of(tx: &impl Read, account: Uuid) -> Result<Self, DatabaseError> {
        let sql = match tx.backend() {
            DbBackend::Sqlite => SQLITE,
            _ => POSTGRES,
        };
        let changes = read(tx, sql).await?.into_iter();
        Ok(Self { changes: spans(changes.filter(|change| change.key.account_id == account)) })
    }

    /// The changes of a span, in order.
    pub(crate) fn span(&self, span: Span) -> impl Iterator<Item = &Change> {
        self.changes.iter().filter(move |change| change.key.span == span)
    }
}
