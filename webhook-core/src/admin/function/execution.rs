//! Runs of functions that a caller asks for, the log of all runs, and writing a function.

use std::time::Duration;

use serde_json::Value;

use super::super::{Admin, Caller, check, log::within};
use crate::{
    error::{Error, ErrorKind},
    function::generate::{GenerateError, GenerateRequest, GeneratedFunction},
    id::{ExecutionId, FunctionId},
    model::{Execution, InvokeRequest, TryRequest},
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
        execution.ok_or_else(|| self.missing(Error::not_found("execution log")))
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
            false => Err(self.missing(Error::not_found("execution log"))),
        }
    }

    /// Runs a function of the account once and answers what it left,
    /// as an `ExecuteResponse`. That the script fails is an answer, too: its
    /// `error` says why.
    pub async fn invoke(
        &self,
        caller: &Caller,
        id: FunctionId,
        request: InvokeRequest,
    ) -> Result<Value, Error> {
        caller.require_account()?;
        let invoked = request.into_invoked()?;
        check::metadata(&invoked.metadata)?;
        let account = caller.account_id();
        let _entered = self.enter_run(account)?;
        self.relay.invoke(account, id, invoked).await.map_err(|error| self.missing(error))
    }

    /// Runs a source once, as [`invoke`](Self::invoke) runs a function, and answers the same. The
    /// source is not saved, has no variables and keeps no values, and the run is not recorded.
    ///
    /// # Errors
    ///
    /// [`Invalid`](ErrorKind::Invalid) for a source that does not compile, and for a request that
    /// cannot be one, with the field.
    pub async fn try_function(&self, caller: &Caller, request: TryRequest) -> Result<Value, Error> {
        caller.require_account()?;
        let TryRequest { payload, driver, request, response } = request;
        let invoked = InvokeRequest { request, response, ..InvokeRequest::default() };
        let invoked = invoked.into_invoked()?;
        check::metadata(&invoked.metadata)?;
        let account = caller.account_id();
        let _entered = self.enter_run(account)?;
        let source = self.unsaved(driver, payload).await?;
        self.relay.functions.try_source(account, driver, source, invoked).await
    }

    /// Writes a function that turns the input payload into the output payload,
    /// and says whether it does so on the sample. It is not saved.
    pub async fn generate_function(
        &self,
        caller: &Caller,
        request: GenerateRequest,
    ) -> Result<GeneratedFunction, Error> {
        caller.require_account()?;
        let generator = self.generator.as_ref();
        let generator = generator.ok_or_else(|| {
            Error::new(ErrorKind::Invalid, "writing functions is not available on this server")
        })?;
        let _entered = self.enter_run(caller.account_id())?;
        let _permit = self.generations.try_acquire().map_err(|_| {
            Error::unavailable("too many functions are being written", Duration::from_secs(1))
        })?;
        generator.generate(request).await.map_err(|error| match error {
            GenerateError::Invalid { field, reason } => Error::invalid(field, reason),
            error => Error::internal(error),
        })
    }
}
