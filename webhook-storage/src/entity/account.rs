//! Accounts.

use sea_orm::prelude::Uuid;
use webhook_core::{AccountId, model};

use super::{millis, moment, table};

table! {
    /// A row.
    Model in "account" {
        id: Uuid,
        name: String,
        created_at: i64,
    }
}

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
