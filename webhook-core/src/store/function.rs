//! Functions, their variables and their runs.

use std::{fmt, sync::Arc};

use async_trait::async_trait;

use crate::{
    clock::Timestamp,
    error::Error,
    function::record::RunRecord,
    id::{AccountId, ExecutionId, FunctionId},
    model::{Execution, Function, FunctionVersion, Variable},
    store::{KvKey, KvValue, KvWrite},
};

/// Keeps functions, their configuration variables, what they remember between their calls,
/// and the log of their runs.
#[async_trait]
pub trait FunctionStore: Send + Sync + fmt::Debug {
    /// Stores a new function.
    async fn create_function(&self, function: &Function) -> Result<(), Error>;

    /// The account's function with this ID.
    async fn function(&self, account: AccountId, id: FunctionId)
    -> Result<Option<Function>, Error>;

    /// All functions of the account.
    async fn functions(&self, account: AccountId) -> Result<Vec<Function>, Error>;

    /// Replaces a function. Another source is another version, since `updated`.
    async fn update_function(&self, function: &Function) -> Result<(), Error>;

    /// The versions of a function's source, the newest first, which is the current one;
    /// [`MAX_VERSIONS`](super::MAX_VERSIONS) at most. None of a missing function. One whose
    /// source never changed has one, since it was made.
    async fn function_versions(
        &self,
        account: AccountId,
        id: FunctionId,
    ) -> Result<Vec<FunctionVersion>, Error>;

    /// One version that is kept, with its source.
    async fn function_version(
        &self,
        account: AccountId,
        id: FunctionId,
        version: u32,
    ) -> Result<Option<FunctionVersion>, Error>;

    /// Removes a function, its versions, its variables, its keys and its runs.
    async fn delete_function(&self, account: AccountId, id: FunctionId) -> Result<(), Error>;

    /// The variables of a function in the order of their keys.
    async fn variables(&self, account: AccountId, id: FunctionId) -> Result<Vec<Variable>, Error>;

    /// Sets a variable, keeping `created_at` of one that is there. A missing
    /// function is not found.
    async fn put_variable(&self, account: AccountId, variable: &Variable) -> Result<(), Error>;

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
