//! Runs of functions.

use std::time::Duration;

use sea_orm::prelude::Uuid;
use webhook_core::{
    AccountId, Error, ExecutionId, FunctionId, WebhookId, function::record::RunRecord,
    model::Execution,
};

use super::{millis, moment, name, named, nanos, table};
use crate::{codec, fault::Row};

table! {
    /// A row.
    Model in "execution" {
        id: Uuid,
        function_id: Uuid,
        account_id: Uuid,
        created: i64,
        updated: i64,
        duration_ns: i64,
        status: String,
        /// As JSON what the function was given, in rows of earlier versions; empty in others.
        request: String,
        /// As JSON what it left, in rows of earlier versions; empty in others.
        response: String,
        /// Both, in the others.
        content: Option<Vec<u8>>,
        /// The webhook that it led to, or that it was a part of an attempt of.
        webhook_id: Option<Uuid>,
    }
}

impl Model {
    pub(crate) fn of(run: &RunRecord, webhook: Option<WebhookId>) -> Result<Self, Error> {
        let RunRecord { id, function_id, account_id, created, updated, duration, status, .. } = run;
        let RunRecord { stands_for, given, left, .. } = run;
        Ok(Self {
            id: id.as_uuid(),
            function_id: function_id.as_uuid(),
            account_id: account_id.as_uuid(),
            created: millis(*created),
            updated: millis(*updated),
            duration_ns: nanos(*duration),
            status: name(status)?,
            request: String::new(),
            response: String::new(),
            content: Some(codec::encode_run(*stands_for, given, left)),
            webhook_id: webhook.map(|id| id.as_uuid()),
        })
    }

    pub(crate) fn read(self) -> Result<Execution, Error> {
        let row = Row { table: "execution", id: self.id };
        let duration = self.duration_ns.try_into().map(Duration::from_nanos);
        let (id, function_id) =
            (ExecutionId::from_uuid(self.id), FunctionId::from_uuid(self.function_id));
        let account_id = AccountId::from_uuid(self.account_id);
        let (created, updated) = (moment(self.created), moment(self.updated));
        let duration = row.read("duration_ns", duration)?;
        let status = row.read("status", named(self.status))?;
        let Some(content) = self.content else {
            return Ok(Execution {
                id,
                function_id,
                account_id,
                created,
                updated,
                duration,
                status,
                stands_for: 1,
                execute_request: row.read("request", serde_json::from_str(&self.request))?,
                execute_response: row.read("response", serde_json::from_str(&self.response))?,
            });
        };
        let (stands_for, given, left) = row.read("content", codec::decode_run(content))?;
        let run = RunRecord {
            id,
            function_id,
            account_id,
            created,
            updated,
            duration,
            status,
            stands_for,
            given,
            left,
        };
        Ok(run.execution())
    }
}
