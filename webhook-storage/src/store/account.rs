//! Accounts and API keys.

use async_trait::async_trait;
use sea_orm::{
    ActiveModelTrait, ColumnTrait, EntityTrait, IntoActiveModel, QueryFilter, QueryOrder,
    sea_query::OnConflict,
};
use webhook_core::{
    AccountId, Error,
    model::{Account, ApiKey},
    store::AccountStore,
};

use super::read_error;
use crate::{
    Storage,
    entity::{account, api_key},
    fault::{self, ErrorClass},
};

#[async_trait]
impl AccountStore for Storage {
    async fn create_account(&self, account: &Account) -> Result<(), Error> {
        let row = account::Model::from(account).into_active_model();
        let insert = account::Entity::insert(row);
        match insert.exec_without_returning(&self.database().write).await {
            Ok(_) => Ok(()),
            Err(error) => Err(fault::error(error, "account")),
        }
    }

    async fn account(&self, id: AccountId) -> Result<Option<Account>, Error> {
        let find = account::Entity::find_by_id(id.as_uuid());
        let row = find.one(&self.database().read).await.map_err(read_error)?;
        Ok(row.map(Account::from))
    }

    async fn accounts(&self) -> Result<Vec<Account>, Error> {
        let find = account::Entity::find().order_by_asc(account::Column::Id);
        let rows = find.all(&self.database().read).await.map_err(read_error)?;
        Ok(rows.into_iter().map(Account::from).collect())
    }

    async fn api_key(&self, account: AccountId) -> Result<Option<ApiKey>, Error> {
        let find = api_key::Entity::find_by_id(account.as_uuid());
        let row = find.one(&self.database().read).await.map_err(read_error)?;
        row.map(|row| row.open(self.vault())).transpose()
    }

    async fn api_key_by_text(&self, candidate: &str) -> Result<Option<ApiKey>, Error> {
        let hash = self.vault().lookup_hash(candidate);
        let find = api_key::Entity::find().filter(api_key::Column::KeyHash.eq(hash));
        let row = find.one(&self.database().read).await.map_err(read_error)?;
        row.map(|row| row.open(self.vault())).transpose()
    }

    async fn put_api_key(&self, key: &ApiKey) -> Result<(), Error> {
        let row = api_key::Model::seal(key, self.vault())?.into_active_model().reset_all();
        let replace = OnConflict::column(api_key::Column::AccountId)
            .update_columns([
                api_key::Column::KeySealed,
                api_key::Column::KeyHash,
                api_key::Column::Enabled,
                api_key::Column::CreatedAt,
                api_key::Column::UpdatedAt,
            ])
            .to_owned();
        let put = api_key::Entity::insert(row).on_conflict(replace);
        match put.exec_without_returning(&self.database().write).await {
            Ok(_) => Ok(()),
            Err(error) if ErrorClass::of(&error) == ErrorClass::TakenName => {
                Err(Error::conflict("key: another account has it").caused_by(error))
            }
            Err(error) => Err(fault::error(error, "account")),
        }
    }
}
