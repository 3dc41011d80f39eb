//! Access tokens.

use async_trait::async_trait;
use webhook_core::{
    AccountId, Error, Timestamp, TokenId,
    model::AccessToken,
    store::{Page, TokenStore},
};

use crate::{
    Storage,
    documents::counts::Counts,
    entity::{Table, access_token::Model, millis},
    fault::{self, About},
    tx::{Param, Read, Tx, with},
};

const WHAT: &str = "access token";
/// How its rows are counted.
const COUNTED: &str = "token";

#[async_trait]
impl TokenStore for Storage {
    async fn create_token(&self, token: &AccessToken, bound: u64) -> Result<bool, Error> {
        let row = Model::of(token)?;
        let transaction = self.begin(WHAT).await?;
        let created = async {
            let inserted = transaction.insert(&Model::insert(""), &[row], Model::values).await;
            inserted.about(WHAT)?;
            let mut counts = Counts::default();
            counts.add(token.account_id.as_uuid(), COUNTED, bound);
            counts.write(&*transaction).await.about(WHAT)
        };
        match created.await {
            Ok(None) => self.database().finish(transaction, Ok(true), WHAT).await,
            Ok(Some(_)) => {
                transaction.rollback().await;
                Ok(false)
            }
            Err(error) => self.database().finish(transaction, Err(error), WHAT).await,
        }
    }

    async fn token(&self, id: TokenId) -> Result<Option<AccessToken>, Error> {
        Model::find(&self.database().read, [id.as_uuid()]).await?.pop().map(Model::read).transpose()
    }

    async fn tokens(&self, account: AccountId, page: Page) -> Result<Vec<AccessToken>, Error> {
        let tail = "WHERE account_id = ? ORDER BY id LIMIT ? OFFSET ?";
        let (limit, offset) = (Param::count(page.limit), Param::count(page.offset));
        let values = [account.as_uuid().into(), limit, offset];
        let rows = Model::select(&self.database().read, tail, values).await;
        rows?.into_iter().map(Model::read).collect()
    }

    async fn token_count(&self, account: AccountId) -> Result<u64, Error> {
        let sql = "SELECT count FROM child_count WHERE parent_id = ? AND kind = ?";
        let query = with(sql, [account.as_uuid().into(), COUNTED.into()]);
        let count = Read::query_one(&self.database().read, query, |row| row.get::<i64>("count"));
        Ok(count.await?.unwrap_or_default().unsigned_abs())
    }

    async fn update_token(&self, token: &AccessToken) -> Result<(), Error> {
        let Model { id, account_id, description, scopes, api_access, updated_at, .. } =
            Model::of(token)?;
        let sql = "UPDATE access_token SET description = ?, scopes = ?, api_access = ?, \
            updated_at = ? WHERE id = ? AND account_id = ?";
        let values = [
            description.into(),
            scopes.into(),
            api_access.into(),
            updated_at.into(),
            id.into(),
            account_id.into(),
        ];
        fault::met(self.database().write.execute(with(sql, values)).await, WHAT)
    }

    async fn note_login(&self, id: TokenId, at: Timestamp) -> Result<(), Error> {
        let sql = "UPDATE access_token SET last_login = ? WHERE id = ?";
        let note = with(sql, [millis(at).into(), id.as_uuid().into()]);
        self.database().write.execute(note).await.map(drop).about(WHAT)
    }

    async fn delete_token(&self, account: AccountId, id: TokenId) -> Result<(), Error> {
        let transaction = self.begin(WHAT).await?;
        let deleted = async {
            let sql = "DELETE FROM access_token WHERE id = ? AND account_id = ?";
            let delete = with(sql, [id.as_uuid().into(), account.as_uuid().into()]);
            fault::met(transaction.execute(delete).await, WHAT)?;
            let mut counts = Counts::default();
            counts.take(account.as_uuid(), COUNTED, 1);
            counts.write(&*transaction).await.map(|_| ()).about(WHAT)
        };
        let deleted = deleted.await;
        self.database().finish(transaction, deleted, WHAT).await
    }
}
