//! The log of a function's runs.

use super::{
    super::{Admin, Caller, log::within},
    as_invalid,
};
use crate::{
    error::Error,
    id::{ExecutionId, FunctionId},
    model::Execution,
    store::ExecutionPage,
};

/// Which runs; the default is the newest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExecutionQuery {
    /// How many, 25; 1 to [`MAX_LIMIT`](Self::MAX_LIMIT).
    pub limit: usize,
    /// Skip so many, at most [`MAX_OFFSET`](Self::MAX_OFFSET).
    pub offset: usize,
}

impl ExecutionQuery {
    /// Runs on a page at most.
    pub const MAX_LIMIT: usize = 100;
    /// Runs that are skipped at most.
    pub const MAX_OFFSET: usize = usize::MAX / 2;
}

impl Default for ExecutionQuery {
    fn default() -> Self {
        Self { limit: 25, offset: 0 }
    }
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
        query: &ExecutionQuery,
    ) -> Result<ExecutionsPage, Error> {
        caller.require_account()?;
        let ExecutionQuery { limit, offset } = *query;
        within("limit", limit, 1..=ExecutionQuery::MAX_LIMIT)?;
        within("offset", offset, 0..=ExecutionQuery::MAX_OFFSET)?;
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
