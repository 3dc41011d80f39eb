//! Configured things and their states.

use async_trait::async_trait;
use webhook_core::{
    AccountId, Error,
    store::{ApplyError, Change, Document, DocumentKey, DocumentKind, DocumentStore, Find},
};

use crate::{
    Storage,
    documents::{Applying, find, row},
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
        let Some((query, read)) = find::statement(find) else { return Ok(Vec::new()) };
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
        let rows = Read::query(&self.database().read, find::history(account, key), row::plain);
        row::documents(rows.await?, self.vault())
    }
}
