//! Accounts.

use sea_orm::entity::prelude::*;
use webhook_core::{AccountId, model};

use super::{millis, moment};

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "account")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub(crate) id: Uuid,
    pub(crate) name: String,
    pub(crate) created_at: i64,
}

#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl From<&model::Account> for Model {
    fn from(account: &model::Account) -> Self {
        let model::Account { id, name, created_at } = account;
        Self { id: id.as_uuid(), name: name.clone(), created_at: millis(*created_at) }
    }
}

impl From<Model> for model::Account {
    fn from(row: Model) -> Self {
        let Model { id, name, created_at } = row;
        Self { id: AccountId::from_uuid(id), name, created_at: moment(created_at) }
    }
}
