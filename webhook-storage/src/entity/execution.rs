//! Runs of functions.

use std::time::Duration;

use sea_orm::entity::prelude::*;
use webhook_core::{AccountId, Error, ExecutionId, FunctionId, model::Execution};

use super::{json, millis, moment, name, named, nanos};
use crate::{fault::Row, tx::Param};

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "execution")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub(crate) id: Uuid,
    pub(crate) function_id: Uuid,
    pub(crate) account_id: Uuid,
    pub(crate) created: i64,
    pub(crate) updated: i64,
    pub(crate) duration_ns: i64,
    pub(crate) status: String,
    pub(crate) request: String,
    pub(crate) response: String,
}

#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

/// The columns of a [`Model`], in the order of [`Model::values`].
pub(crate) const COLUMNS: &str = "\
    id, function_id, account_id, created, updated, duration_ns, status, request, \
    response";

impl Model {
    pub(crate) fn values(&self) -> [Param<'_>; 9] {
        [
            self.id.into(),
            self.function_id.into(),
            self.account_id.into(),
            self.created.into(),
            self.updated.into(),
            self.duration_ns.into(),
            self.status.as_str().into(),
            self.request.as_str().into(),
            self.response.as_str().into(),
        ]
    }

    pub(crate) fn of(execution: &Execution) -> Result<Self, Error> {
        let Execution { id, function_id, account_id, created, updated, duration, status, .. } =
            execution;
        let Execution { execute_request, execute_response, .. } = execution;
        Ok(Self {
            id: id.as_uuid(),
            function_id: function_id.as_uuid(),
            account_id: account_id.as_uuid(),
            created: millis(*created),
            updated: millis(*updated),
            duration_ns: nanos(*duration),
            status: name(status)?,
            request: json(execute_request)?,
            response: json(execute_response)?,
        })
    }

    pub(crate) fn read(self) -> Result<Execution, Error> {
        let row = Row { table: "execution", id: self.id };
        let duration = self.duration_ns.try_into().map(Duration::from_nanos);
        Ok(Execution {
            id: ExecutionId::from_uuid(self.id),
            function_id: FunctionId::from_uuid(self.function_id),
            account_id: AccountId::from_uuid(self.account_id),
            created: moment(self.created),
            updated: moment(self.updated),
            duration: row.read("duration_ns", duration)?,
            status: row.read("status", named(self.status))?,
            execute_request: row.read("request", serde_json::from_str(&self.request))?,
            execute_response: row.read("response", serde_json::from_str(&self.response))?,
        })
    }
}
