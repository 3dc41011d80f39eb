//! Variables of functions, with sealed values.

use sea_orm::prelude::Uuid;
use webhook_core::{Error, FunctionId, model::Variable};

use super::{millis, moment, table};
use crate::{
    secret::{Cell, Vault},
    tx::Param,
};

table! {
    /// A row as the database has it.
    Raw in "variable" {
        function_id: Uuid,
        key: String,
        value_sealed: Option<Vec<u8>>,
        created_at: i64,
        updated_at: i64,
    }
}

const fn cell(function: Uuid, key: &str) -> Cell<'_> {
    Cell { table: "variable", column: "value_sealed", row: function, key }
}

/// The values of a row in the order of its columns.
pub(crate) fn values<'a>(variable: &'a Variable, vault: &Vault) -> Result<[Param<'a>; 5], Error> {
    let Variable { key, value, function_id, created_at, updated_at } = variable;
    let function_id = function_id.as_uuid();
    Ok([
        function_id.into(),
        key.as_str().into(),
        vault.seal_secret(cell(function_id, key), value)?.into(),
        millis(*created_at).into(),
        millis(*updated_at).into(),
    ])
}

impl Raw {
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
