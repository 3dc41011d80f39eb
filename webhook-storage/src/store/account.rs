//! Accounts and API keys.

use async_trait::async_trait;
use webhook_core::{
    AccountId, Error,
    model::{Account, ApiKey},
    store::AccountStore,
};

use crate::{
    Storage,
    entity::{Table, account, api_key},
    fault::{self, About, ErrorClass},
    tx::{Param, Tx, with},
};

#[async_trait]
impl AccountStore for Storage {
    async fn create_account(&self, account: &Account) -> Result<(), Error> {
        let row = account::Model::from(account);
        let (write, insert) = (&self.database().write, account::Model::insert(""));
        write.insert(&insert, &[row], account::Model::values).await.map(drop).about("account")
    }

    async fn account(&self, id: AccountId) -> Result<Option<Account>, Error> {
        let find = account::Model::find(&self.database().read, [id.as_uuid()]);
        Ok(find.await?.pop().map(Account::from))
    }

    async fn accounts(&self) -> Result<Vec<Account>, Error> {
        let rows = account::Model::select(&self.database().read, "ORDER BY id", []).await;
        Ok(rows?.into_iter().map(Account::from).collect())
    }

    async fn api_key(&self, account: AccountId) -> Result<Option<ApiKey>, Error> {
        self.find_api_key("WHERE account_id = ?", account.as_uuid().into()).await
    }

    async fn api_key_by_text(&self, candidate: &str) -> Result<Option<ApiKey>, Error> {
        let hash = self.vault().lookup_hash(candidate);
        self.find_api_key("WHERE key_hash = ?", hash.into()).await
    }

    async fn put_api_key(&self, key: &ApiKey, former: Option<&ApiKey>) -> Result<bool, Error> {
        let row = api_key::Model::seal(key, self.vault())?;
        let query = match former {
            None => {
                let sql = "INSERT INTO api_key (account_id, key_sealed, key_hash, enabled, \
                    created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?) \
                    ON CONFLICT (account_id) DO NOTHING";
                with(sql, row.values())
            }
            Some(former) => {
                let sql = "UPDATE api_key SET account_id = ?, key_sealed = ?, key_hash = ?, \
                    enabled = ?, created_at = ?, updated_at = ? \
                    WHERE account_id = ? AND key_hash = ? AND enabled = ?";
                let place = [
                    row.account_id.into(),
                    self.vault().lookup_hash(former.key.expose()).into(),
                    former.enabled.into(),
                ];
                with(sql, row.values().into_iter().chain(place))
            }
        };
        match Tx::execute(&self.database().write, query).await {
            Ok(rows) => Ok(rows > 0),
            Err(error) if error.class() == ErrorClass::TakenName => {
                Err(Error::conflict("key: another account has it").caused_by(error))
            }
            Err(error) => Err(fault::error(error, "account")),
        }
    }
}

impl Storage {
    async fn find_api_key(&self, tail: &str, value: Param<'_>) -> Result<Option<ApiKey>, Error> {
        let row = api_key::Model::select_one(&self.database().read, tail, [value]).await;
        row?.map(|row| row.open(self.vault())).transpose()
    }
}
