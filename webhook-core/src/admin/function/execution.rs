//! The log of a function's runs.

use serde::Deserialize;

use super::{
    super::{Admin, Caller, log::number},
    as_invalid,
};
use crate::{
    error::Error,
    id::{ExecutionId, FunctionId},
    model::Execution,
    store::ExecutionPage,
};

/// Runs on a page unless the caller says how many.
const DEFAULT_LIMIT: usize = 25;
/// Runs on a page at most.
const MAX_LIMIT: usize = 100;

/// Which runs, as a caller writes it. Empty text is nothing said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct ExecutionRequest {
    /// How many, 25; 1 to 100.
    pub limit: String,
    /// Skip so many.
    pub offset: String,
}

/// A page of runs.
#[derive(Clone, Debug, PartialEq)]
pub struct ExecutionsPage {
    /// The runs, newest first.
    pub executions: Vec<Execution>,
    /// How many are kept in all.
    pub total: usize,
    /// How many were asked for.
    pub limit: usize,
    /// How many were skipped.
    pub offset: usize,
}

impl Admin {
    /// A page of the runs of a function, newest first.
    pub async fn executions(
        &self,
        caller: &Caller,
        function: FunctionId,
        request: &ExecutionRequest,
    ) -> Result<ExecutionsPage, Error> {
        caller.require_account()?;
        let limit = number("limit", &request.limit, 1..=MAX_LIMIT, DEFAULT_LIMIT)?;
        let offset = number("offset", &request.offset, 0..=usize::MAX / 2, 0)?;
        self.owned_function(caller, function).await?;
        let account = caller.account_id();
        let page = self.stores.functions.executions(account, function, limit, offset).await?;
        let ExecutionPage { executions, total } = page;
        Ok(ExecutionsPage { executions, total, limit, offset })
    }

    /// One run of a function of the account.
    pub async fn execution(&self, caller: &Caller, id: ExecutionId) -> Result<Execution, Error> {
        caller.require_account()?;
        let execution = self.stores.functions.execution(caller.account_id(), id).await?;
        execution.ok_or_else(|| as_invalid(Error::not_found("execution log")))
    }

    /// One run of this function of the account.
    pub async fn execution_of(
        &self,
        caller: &Caller,
        function: FunctionId,
        id: ExecutionId,
    ) -> Result<Execution, Error> {
        let execution = self.execution(caller, id).await?;
        match execution.function_id == function {
            true => Ok(execution),
            false => Err(as_invalid(Error::not_found("execution log"))),
        }
    }
}
