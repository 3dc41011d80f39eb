//! Access tokens.

use async_trait::async_trait;
use sea_orm::{
    ColumnTrait, EntityTrait, IntoActiveModel, PaginatorTrait, QueryFilter, QueryOrder,
    sea_query::Expr,
};
use webhook_core::{AccountId, Error, Timestamp, TokenId, model::AccessToken, store::TokenStore};

use super::read_error;
use crate::{
    Storage,
    entity::{
        access_token::{Column, Entity, Model},
        millis,
    },
    fault,
};

const WHAT: &str = "access token";

#[async_trait]
impl TokenStore for Storage {
    async fn create_token(&self, token: &AccessToken) -> Result<(), Error> {
        let row = Model::of(token)?.into_active_model();
        let insert = Entity::insert(row).exec_without_returning(&self.database().write);
        insert.await.map(|_| ()).map_err(|error| fault::error(error, WHAT))
    }

    async fn token(&self, id: TokenId) -> Result<Option<AccessToken>, Error> {
        let row = Entity::find_by_id(id.as_uuid()).one(&self.database().read).await;
        row.map_err(read_error)?.map(Model::read).transpose()
    }

    async fn tokens(&self, account: AccountId) -> Result<Vec<AccessToken>, Error> {
        let find =
            Entity::find().filter(Column::AccountId.eq(account.as_uuid())).order_by_asc(Column::Id);
        let rows = find.all(&self.database().read).await.map_err(read_error)?;
        rows.into_iter().map(Model::read).collect()
    }

    async fn token_count(&self, account: AccountId) -> Result<u64, Error> {
        let find = Entity::find().filter(Column::AccountId.eq(account.as_uuid()));
        find.count(&self.database().read).await.map_err(read_error)
    }

    async fn update_token(&self, token: &AccessToken) -> Result<(), Error> {
        let Model { id, account_id, description, scopes, api_access, updated_at, .. } =
            Model::of(token)?;
        let update = Entity::update_many()
            .col_expr(Column::Description, Expr::value(description))
            .col_expr(Column::Scopes, Expr::value(scopes))
            .col_expr(Column::ApiAccess, Expr::value(api_access))
            .col_expr(Column::UpdatedAt, Expr::value(updated_at))
            .filter(Column::Id.eq(id))
            .filter(Column::AccountId.eq(account_id));
        let updated = update.exec(&self.database().write).await;
        fault::met(updated.map(|it| it.rows_affected), WHAT)
    }

    async fn note_login(&self, id: TokenId, at: Timestamp) -> Result<(), Error> {
        let update = Entity::update_many()
            .col_expr(Column::LastLogin, Expr::value(millis(at)))
            .filter(Column::Id.eq(id.as_uuid()));
        let updated = update.exec(&self.database().write).await;
        updated.map(|_| ()).map_err(|error| fault::error(error, WHAT))
    }

    async fn delete_token(&self, account: AccountId, id: TokenId) -> Result<(), Error> {
        let delete =
            Entity::delete_by_id(id.as_uuid()).filter(Column::AccountId.eq(account.as_uuid()));
        let deleted = delete.exec(&self.database().write).await;
        fault::met(deleted.map(|it| it.rows_affected), WHAT)
    }
}
