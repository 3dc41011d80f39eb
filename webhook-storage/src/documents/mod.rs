//! The store of documents: configured things, each with a version, and their states.
//!
//! | file | does |
//! |---|---|
//! | [`find`] | reads documents with their states, with one statement |
//! | [`row`] | reads and writes one row, and seals its secrets |
//! | [`apply`] | creates and updates |
//! | [`remove`] | removes documents with what goes with them |
//! | [`state`] | changes states |
//! | [`stop`] | ends the deliveries that wait for outputs that are removed |
//! | [`counts`] | counts what an account has, and holds it to bounds |

mod apply;
pub(crate) mod counts;
mod find;
mod remove;
mod row;
mod state;
mod stop;

use async_trait::async_trait;
use webhook_core::{
    AccountId, Error,
    store::{
        ApplyError, Change, Document, DocumentKey, DocumentKind, DocumentStore, Find, Refusal,
    },
};

#[cfg(all(test, feature = "sqlite"))]
pub(crate) use self::stop::{WAITING, stop_sql};
use self::{
    apply::Applying,
    find::{history, statement},
};
pub(crate) use self::{
    row::{INSERT, Raw, insert_former},
    state::create as insert_state,
};
use crate::{
    Storage,
    fault::{DatabaseError, ErrorClass},
    tx::{self, Begin, Read, with},
};

#[async_trait]
impl DocumentStore for Storage {
    async fn find(&self, find: Find) -> Result<Vec<Document>, Error> {
        let database = self.database();
        // A webhook waits for the answer.
        let is_on_the_way = matches!(
            find,
            Find::BucketOf(_)
                | Find::Users(..)
                | Find::Named(DocumentKind::Domain, None, _)
                | Find::One(_, DocumentKey { kind: DocumentKind::Function, .. })
        );
        let connection = if is_on_the_way { &database.routes } else { &database.read };
        let Some((query, read)) = statement(find) else { return Ok(Vec::new()) };
        let rows = Read::query(connection, query, read).await?;
        row::documents(rows, self.vault())
    }

    async fn apply(&self, changes: &[Change]) -> Result<(), ApplyError> {
        let transaction = self.database().begin_writing().await.map_err(Error::from)?;
        let mut applying = Applying::new(&*transaction, self.vault(), self.has_old_tables());
        let applied = applying.all(changes).await;
        tx::end(transaction, applied).await
    }

    async fn counts(&self, account: AccountId) -> Result<Vec<(DocumentKind, u64)>, Error> {
        let sql = "SELECT kind, count FROM child_count WHERE parent_id = ? AND count > 0";
        let query = with(sql, [account.as_uuid().into()]);
        let rows = Read::query(&self.database().read, query, |row| {
            Ok((row.get::<String>("kind")?, row.get::<i64>("count")?))
        });
        let rows = rows.await?.into_iter();
        let known = rows.filter_map(|(kind, count)| {
            Some((DocumentKind::from_name(&kind)?, count.unsigned_abs()))
        });
        Ok(known.collect())
    }

    async fn history(&self, account: AccountId, key: DocumentKey) -> Result<Vec<Document>, Error> {
        let rows = Read::query(&self.database().read, history(account, key), row::plain);
        row::documents(rows.await?, self.vault())
    }
}

/// What an error of the database means to a writer of documents.
impl From<DatabaseError> for ApplyError {
    fn from(error: DatabaseError) -> Self {
        match error.class() {
            // The next try may succeed.
            ErrorClass::Interlocked => Refusal::Stale.into(),
            class => class.error(error, "document").into(),
        }
    }
}
