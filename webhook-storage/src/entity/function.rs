//! Functions.

use sea_orm::entity::prelude::*;
use webhook_core::{
    AccountId, Error, FunctionId,
    model::{Function, FunctionSpec},
};

use super::{json, millis, moment, name, named};
use crate::fault::Row;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "function")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub(crate) id: Uuid,
    pub(crate) account_id: Uuid,
    pub(crate) payload_size: i64,
    pub(crate) created: i64,
    pub(crate) updated: i64,
    pub(crate) name: String,
    pub(crate) driver: String,
    pub(crate) payload: Vec<u8>,
    pub(crate) metadata: String,
}

#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl Model {
    pub(crate) fn of(function: &Function) -> Result<Self, Error> {
        let Function { id, account_id, payload_size, created, updated, spec } = function.clone();
        let FunctionSpec { name: own_name, driver, payload, metadata, .. } = spec;
        Ok(Self {
            id: id.as_uuid(),
            account_id: account_id.as_uuid(),
            payload_size: i64::try_from(payload_size).unwrap_or(i64::MAX),
            created: millis(created),
            updated: millis(updated),
            name: own_name,
            driver: name(&driver)?,
            payload: payload.into_bytes(),
            metadata: json(&metadata)?,
        })
    }

    pub(crate) fn read(self) -> Result<Function, Error> {
        let row = Row { table: "function", id: self.id };
        let mut spec = FunctionSpec::new(
            self.name,
            row.read("driver", named(self.driver))?,
            row.read("payload", String::from_utf8(self.payload))?,
        );
        spec.metadata = row.read("metadata", serde_json::from_str(&self.metadata))?;
        Ok(Function {
            id: FunctionId::from_uuid(self.id),
            account_id: AccountId::from_uuid(self.account_id),
            payload_size: row.read("payload_size", self.payload_size.try_into())?,
            created: moment(self.created),
            updated: moment(self.updated),
            spec,
        })
    }
}
