//! Functions.
//!
//! The interface lists no 404 for them: what is missing is
//! [`Invalid`](ErrorKind::Invalid). They belong to the account as a whole, so a
//! scoped access token cannot see or change them; its outputs may use them.

mod execution;
mod generate;
mod invoke;
mod payload;
mod running;
mod variable;
mod version;

pub use execution::{ExecutionQuery, ExecutionsPage};
pub(super) use running::Running;

/// What an account has too many of.
pub(in crate::admin) const RUNNING: &str = "functions running through the API";

use super::{Admin, Caller, check};
use crate::{
    error::{Error, ErrorKind},
    id::FunctionId,
    model::{Bucket, Function, FunctionSpec},
    plan::Limited,
};

impl Admin {
    /// All functions of the account, in the order they were made.
    pub async fn functions(&self, caller: &Caller) -> Result<Vec<Function>, Error> {
        caller.require_account()?;
        self.stores.functions.functions(caller.account_id()).await
    }

    /// One function of the account.
    pub async fn function(&self, caller: &Caller, id: FunctionId) -> Result<Function, Error> {
        caller.require_account()?;
        self.owned_function(caller, id).await
    }

    /// Makes a function. Its payload must compile; base64 of a source is taken
    /// as well.
    pub async fn create_function(
        &self,
        caller: &Caller,
        mut spec: FunctionSpec,
    ) -> Result<Function, Error> {
        caller.require_account()?;
        check::name("name", &spec.name, &self.options)?;
        check::function(&spec, &self.options)?;
        spec.payload = self.source(spec.driver, spec.payload).await?;
        self.add_function(caller, spec).await
    }

    /// Makes a function of a source that was checked.
    async fn add_function(&self, caller: &Caller, spec: FunctionSpec) -> Result<Function, Error> {
        let account_id = caller.account_id();
        let _guard = self.lock(account_id.as_uuid()).await;
        let limit = self.options.max_functions_per_account;
        if self.stores.functions.functions(account_id).await?.len() >= limit {
            let message = format!("the account has all of its {limit} functions");
            return Err(Error::new(ErrorKind::Invalid, message));
        }
        let count = async { Ok(self.stores.functions.functions(account_id).await?.len() as u64) };
        let _room = self.room(caller, Limited::Functions, count).await?;
        let now = self.now();
        let function = Function {
            id: self.ids.next(),
            account_id,
            payload_size: spec.payload.len(),
            created: now,
            updated: now,
            spec,
        };
        self.stores.functions.create_function(&function).await?;
        Ok(function)
    }

    /// Replaces what a caller may write of a function; an empty name keeps the
    /// old one. Its variables and runs stay.
    pub async fn update_function(
        &self,
        caller: &Caller,
        id: FunctionId,
        mut spec: FunctionSpec,
    ) -> Result<Function, Error> {
        caller.require_account()?;
        self.owned_function(caller, id).await?;
        check::function(&spec, &self.options)?;
        spec.payload = self.source(spec.driver, spec.payload).await?;
        self.change_function(caller, id, |former| {
            let old_name = std::mem::replace(former, spec).name;
            if former.name.is_empty() {
                former.name = old_name;
            }
        })
        .await
    }

    /// Changes and stores a function; its source was checked.
    async fn change_function(
        &self,
        caller: &Caller,
        id: FunctionId,
        change: impl FnOnce(&mut FunctionSpec),
    ) -> Result<Function, Error> {
        let _guard = self.lock(id.as_uuid()).await;
        let mut function = self.owned_function(caller, id).await?;
        change(&mut function.spec);
        function.payload_size = function.spec.payload.len();
        function.updated = self.now();
        self.stores.functions.update_function(&function).await.map_err(as_invalid)?;
        self.listeners.function_changed(function.account_id, id);
        Ok(function)
    }

    /// Removes a function with its variables and runs. While an input or an
    /// output uses it, it stays: without it that would fail every webhook.
    pub async fn delete_function(&self, caller: &Caller, id: FunctionId) -> Result<(), Error> {
        caller.require_account()?;
        let account = caller.account_id();
        let _guard = self.lock(id.as_uuid()).await;
        self.owned_function(caller, id).await?;
        let buckets = self.stores.buckets.buckets(account).await?;
        if let Some(user) = buckets.iter().find_map(|bucket| user_of(id, bucket)) {
            let message = format!("the function is in use by {user}: detach it there first");
            return Err(Error::new(ErrorKind::Invalid, message));
        }
        self.stores.functions.delete_function(account, id).await.map_err(as_invalid)?;
        self.listeners.function_changed(account, id);
        Ok(())
    }

    async fn owned_function(&self, caller: &Caller, id: FunctionId) -> Result<Function, Error> {
        let function = self.stores.functions.function(caller.account_id(), id).await?;
        function.ok_or_else(|| as_invalid(Error::not_found("function")))
    }
}

/// The status that the interface gives what is missing here.
fn as_invalid(error: Error) -> Error {
    match error.kind() {
        ErrorKind::NotFound => error.with_kind(ErrorKind::Invalid),
        _ => error,
    }
}

/// What of the bucket uses the function, for people.
fn user_of(id: FunctionId, bucket: &Bucket) -> Option<String> {
    let Bucket { inputs, outputs, .. } = bucket;
    let input = inputs.iter().find(|input| input.spec.function_id == Some(id));
    let output = outputs.iter().find(|output| {
        [output.spec.function_id, output.spec.response_function_id].contains(&Some(id))
    });
    let (what, name) = match (input, output) {
        (Some(input), _) => ("input", &input.spec.name),
        (None, Some(output)) => ("output", &output.spec.name),
        (None, None) => return None,
    };
    Some(format!("the {what} {name:?} of the bucket {:?}", bucket.spec.name))
}
