//! Reserved domains.

use sea_orm::entity::prelude::*;
use webhook_core::{
    AccountId, DomainId,
    model::{Domain, DomainSpec},
};

use super::{millis, moment};

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "domain")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub(crate) id: Uuid,
    pub(crate) account_id: Uuid,
    pub(crate) name: String,
    pub(crate) created_at: i64,
    pub(crate) updated_at: i64,
}

#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl Model {
    pub(crate) fn of(domain: &Domain) -> Self {
        let Domain { id, account_id, created_at, updated_at, spec } = domain;
        let DomainSpec { domain: name, .. } = spec;
        Self {
            id: id.as_uuid(),
            account_id: account_id.as_uuid(),
            name: name.clone(),
            created_at: millis(*created_at),
            updated_at: millis(*updated_at),
        }
    }

    pub(crate) fn read(self) -> Domain {
        Domain {
            id: DomainId::from_uuid(self.id),
            account_id: AccountId::from_uuid(self.account_id),
            created_at: moment(self.created_at),
            updated_at: moment(self.updated_at),
            spec: DomainSpec::new(self.name),
        }
    }
}
