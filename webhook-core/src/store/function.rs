//! Functions, their variables and their runs.

use std::{fmt, sync::Arc};

use async_trait::async_trait;

use crate::{
    clock::Timestamp,
    error::Error,
    function::record::RunRecord,
    id::{AccountId, ExecutionId, FunctionId},
    model::{Execution, Variable},
    store::{KvKey, KvValue, KvWrite},
};

/// Keeps what belongs to functions: their configuration variables, what they remember between
/// their calls, and the log of their runs. It goes with the function.
#[async_trait]
pub trait FunctionStore: Send + Sync + fmt::Debug {
    /// The variables of a function in the order of their keys.
    async fn variables(&self, account: AccountId, id: FunctionId) -> Result<Vec<Variable>, Error>;

    /// Sets a variable, keeping `created_at` of one that is there. A missing
    /// function is not found; a new variable beyond `bound` is
    /// [`Conflict`](crate::ErrorKind::Conflict).
    async fn put_variable(
        &self,
        account: AccountId,
        variable: &Variable,
        bound: usize,
    ) -> Result<(), Error>;

    /// Removes a variable.
    async fn delete_variable(
        &self,
        account: AccountId,
        id: FunctionId,
        key: &str,
    ) -> Result<(), Error>;

    /// The value of a key of a function; none when it has expired at `now`, and when the
    /// account has no such function.
    async fn kv_get(&self, key: &KvKey, now: Timestamp) -> Result<Option<KvValue>, Error>;

    /// Changes a key of a function, and returns its value afterwards. A missing function is
    /// not found. Of changes at once, on any node, each sees the one before it.
    async fn kv_write(&self, write: KvWrite) -> Result<Option<KvValue>, Error>;

    /// Removes keys of all accounts that have expired at `now`, `limit` at most, and
    /// returns how many went.
    async fn purge_kv(&self, now: Timestamp, limit: usize) -> Result<u64, Error>;

    /// Keeps the record of a run, and of the function's runs the newest `keep`. Runs on the
    /// way of a webhook come with it ([`Accept::runs`](super::Accept::runs),
    /// [`Settle::runs`](super::Settle::runs)); these are the others.
    async fn record_execution(&self, execution: &RunRecord, keep: usize) -> Result<(), Error>;

    /// Removes runs of all accounts that began before `before`, the oldest
    /// first, `limit` at most, and returns how many went.
    async fn purge_executions(&self, before: Timestamp, limit: usize) -> Result<u64, Error>;

    /// One run of a function of the account.
    async fn execution(
        &self,
        account: AccountId,
        id: ExecutionId,
    ) -> Result<Option<Execution>, Error>;

    /// The runs of a function, newest first.
    async fn executions(
        &self,
        account: AccountId,
        function: FunctionId,
        limit: usize,
        offset: usize,
    ) -> Result<ExecutionPage, Error>;
}

/// The error of a new variable of a function that has as many as it may have.
#[must_use]
pub fn too_many_variables(bound: usize) -> Error {
    Error::conflict(format!("the function has all of its {bound} variables"))
}

/// A run that is stored with the webhook or the outcome that it led to.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct NewExecution {
    /// Its record.
    pub execution: Arc<RunRecord>,
    /// How many runs of the function are kept, the newest, this one included.
    pub keep: usize,
}

/// A page of runs.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ExecutionPage {
    /// The runs on this page.
    pub executions: Vec<Execution>,
    /// How many runs are kept in all.
    pub total: usize,
}

impl ExecutionPage {
    /// These runs of so many.
    #[must_use]
    pub const fn new(executions: Vec<Execution>, total: usize) -> Self {
        Self { executions, total }
    }
}
