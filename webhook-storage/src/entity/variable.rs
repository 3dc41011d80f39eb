//! Variables of functions, with sealed values.

use sea_orm::entity::prelude::*;
use webhook_core::{Error, FunctionId, model::Variable};

use super::{millis, moment};
use crate::secret::{Cell, Vault};

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "variable")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub(crate) function_id: Uuid,
    #[sea_orm(primary_key, auto_increment = false)]
    pub(crate) key: String,
    pub(crate) value_sealed: Option<Vec<u8>>,
    pub(crate) created_at: i64,
    pub(crate) updated_at: i64,
}

#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

const fn cell(function: Uuid, key: &str) -> Cell<'_> {
    Cell { table: "variable", column: "value_sealed", row: function, key }
}

impl Model {
    pub(crate) fn seal(variable: &Variable, vault: &Vault) -> Result<Self, Error> {
        let Variable { key, value, function_id, created_at, updated_at } = variable;
        let function_id = function_id.as_uuid();
        Ok(Self {
            function_id,
            key: key.clone(),
            value_sealed: vault.seal_secret(cell(function_id, key), value)?,
            created_at: millis(*created_at),
            updated_at: millis(*updated_at),
        })
    }

    pub(crate) fn open(self, vault: &Vault) -> Result<Variable, Error> {
        let Self { function_id, key, value_sealed, created_at, updated_at } = self;
        Ok(Variable {
            value: vault.open_secret(cell(function_id, &key), value_sealed.as_deref())?,
            key,
            function_id: FunctionId::from_uuid(function_id),
            created_at: moment(created_at),
            updated_at: moment(updated_at),
        })
    }
}
