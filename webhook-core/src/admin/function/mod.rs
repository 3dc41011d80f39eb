//! Functions.
//!
//! The interface lists no 404 for them: what is missing is
//! [`Invalid`](ErrorKind::Invalid). They belong to the account as a whole, so a
//! scoped access token cannot see or change them; its outputs may use them.

mod compare;
mod execution;
mod payload;
mod running;

pub use execution::{ExecutionQuery, ExecutionsPage};
pub(super) use running::Running;

use super::{Admin, Caller, as_invalid, check};
use crate::{
    error::{Error, ErrorKind},
    id::FunctionId,
    model::{Bucket, Function, FunctionSpec, FunctionVersion, Secret, Variable},
    plan::Limited,
    store::{ApplyError, Bounds, BucketStore, Change, Configured, Page, Refusal, again},
};

impl Admin {
    /// All functions of the account, in the order they were made.
    pub async fn functions(&self, caller: &Caller) -> Result<Vec<Function>, Error> {
        self.list(caller, Page::ALL).await
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
        check::name("name", &spec.name)?;
        check::fields(&spec)?;
        (spec.payload, spec.sent_in_base64) = self.source(spec.driver, spec.payload).await?;
        self.add_function(caller, spec).await
    }

    /// Makes a function of a source that was checked.
    async fn add_function(&self, caller: &Caller, spec: FunctionSpec) -> Result<Function, Error> {
        let account_id = caller.account_id();
        let (bound, full) = self.function_bound(caller).await?;
        let function = Function::new(self.ids.next(), account_id, self.now(), spec);
        let bounds = Bounds { in_account: bound, ..Bounds::NONE };
        let create = [Change::create(account_id, &function, bounds)?];
        self.stores.documents.apply(&create).await.map_err(|error| match error {
            ApplyError::Refused(Refusal::AccountFull(_)) => full,
            error => error.into(),
        })?;
        Ok(function)
    }

    /// How many functions the account may have, and the error of one more.
    async fn function_bound(&self, caller: &Caller) -> Result<(u64, Error), Error> {
        let most = self.options.max_functions_per_account;
        let message = format!("the account has all of its {most} functions");
        let full = Error::new(ErrorKind::Invalid, message);
        self.bound(caller, Limited::Functions, most, full).await
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
        check::fields(&spec)?;
        (spec.payload, spec.sent_in_base64) = self.source(spec.driver, spec.payload).await?;
        self.change_function(caller, id, |former| {
            let old_name = std::mem::replace(former, spec.clone()).name;
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
        change: impl Fn(&mut FunctionSpec),
    ) -> Result<Function, Error> {
        again(|| async {
            let mut function = self.owned_function(caller, id).await?;
            caller.require_version(function.version)?;
            let mut spec = function.spec.clone();
            change(&mut spec);
            function.change(spec, self.now());
            let update = [Change::update(function.account_id, &function, function.version)?];
            self.stores.documents.apply(&update).await?;
            function.version += 1;
            self.tell(|it| it.function_changed(function.account_id, id));
            Ok(function)
        })
        .await
    }

    /// Removes a function with its variables and runs. While an input or an
    /// output uses it, it stays: without it that would fail every webhook.
    pub async fn delete_function(&self, caller: &Caller, id: FunctionId) -> Result<(), Error> {
        caller.require_account()?;
        let account = caller.account_id();
        let pinned = caller.pin(self.owned_function(caller, id).await?.version)?;
        let delete = Change::delete::<Function>(account, id.as_uuid()).pinned(pinned);
        let changes = [Change::Unused(Function::key(id.as_uuid())), delete];
        match self.stores.documents.apply(&changes).await {
            Err(ApplyError::Refused(Refusal::Used)) => {
                let buckets = self.stores.documents.buckets(account).await?;
                let user = buckets.iter().find_map(|bucket| user_of(id, bucket));
                let user = user.unwrap_or_else(|| "a cron".to_owned());
                let message = format!("the function is in use by {user}: detach it there first");
                return Err(Error::new(ErrorKind::Invalid, message));
            }
            deleted => deleted.map_err(|error| self.missing(error.into()))?,
        }
        self.tell(|it| it.function_changed(account, id));
        Ok(())
    }

    /// The versions of a function's source that are kept, without their sources, the newest
    /// first, which is the present source. Two versions with the same source are one.
    pub async fn function_versions(
        &self,
        caller: &Caller,
        id: FunctionId,
    ) -> Result<Vec<FunctionVersion>, Error> {
        caller.require_account()?;
        let mut versions = self.sources(caller, id).await?;
        versions.iter_mut().for_each(|version| version.payload = None);
        Ok(versions)
    }

    /// The versions of a function's source with their sources, the newest first.
    async fn sources(
        &self,
        caller: &Caller,
        id: FunctionId,
    ) -> Result<Vec<FunctionVersion>, Error> {
        let account = caller.account_id();
        let versions = self.stores.documents.function_versions(account, id).await?;
        match versions.is_empty() {
            true => Err(self.missing(Error::not_found("function"))),
            false => Ok(versions),
        }
    }

    /// One version of a function with its source.
    pub async fn function_version(
        &self,
        caller: &Caller,
        id: FunctionId,
        version: u32,
    ) -> Result<FunctionVersion, Error> {
        caller.require_account()?;
        let versions = self.sources(caller, id).await?;
        let found = versions.into_iter().find(|found| found.version == version);
        found.ok_or_else(|| Error::invalid("version", "the function has no such version"))
    }

    /// Gives a function the source of one of its versions again, which is checked as any
    /// other, and which is a new version if it is not what the function has. Its name,
    /// variables, labels and runs stay.
    pub async fn restore_function(
        &self,
        caller: &Caller,
        id: FunctionId,
        version: u32,
    ) -> Result<Function, Error> {
        let FunctionVersion { driver, payload, .. } =
            self.function_version(caller, id, version).await?;
        let payload = payload.unwrap_or_default();
        let spec = FunctionSpec::new("", driver, payload);
        check::fields(&spec)?;
        self.compile(driver, &spec.payload).await?;
        self.change_function(caller, id, |function| {
            function.driver = driver;
            function.payload.clone_from(&spec.payload);
        })
        .await
    }

    /// Makes a function with another name that is like one of the account: its source, its
    /// labels and its variables. What it remembers, its versions and its runs are not copied.
    pub async fn duplicate_function(
        &self,
        caller: &Caller,
        id: FunctionId,
        name: String,
    ) -> Result<Function, Error> {
        caller.require_account()?;
        check::name("name", &name)?;
        let mut spec = self.owned_function(caller, id).await?.spec;
        let account = caller.account_id();
        let variables = self.stores.functions.variables(account, id).await?;
        spec.name = name;
        check::fields(&spec)?;
        self.compile(spec.driver, &spec.payload).await?;
        let copy = self.add_function(caller, spec).await?;
        for variable in variables {
            let now = copy.created;
            let variable =
                Variable { function_id: copy.id, created_at: now, updated_at: now, ..variable };
            let bound = self.options.max_variables_per_function;
            let put = self.stores.functions.put_variable(account, &variable, bound).await;
            if let Err(error) = put {
                // No caller knows of the copy yet, and half a copy would be no help.
                let documents = &self.stores.documents;
                let _ = documents.delete::<Function>(account, copy.id.as_uuid()).await;
                return Err(self.missing(error));
            }
        }
        Ok(copy)
    }

    /// The variables of a function in the order of their keys.
    pub async fn variables(
        &self,
        caller: &Caller,
        function: FunctionId,
    ) -> Result<Vec<Variable>, Error> {
        caller.require_account()?;
        self.owned_function(caller, function).await?;
        self.stores.functions.variables(caller.account_id(), function).await
    }

    /// Sets a variable of a function; the next run reads it.
    pub async fn put_variable(
        &self,
        caller: &Caller,
        function_id: FunctionId,
        key: String,
        value: Secret,
    ) -> Result<Variable, Error> {
        caller.require_account()?;
        check::variable(&key, &value, &self.options)?;
        let account = caller.account_id();
        self.owned_function(caller, function_id).await?;
        let variables = self.stores.functions.variables(account, function_id).await?;
        let former = variables.iter().find(|variable| variable.key == key);
        let now = self.now();
        let created_at = former.map_or(now, |former| former.created_at);
        let variable = Variable { key, value, function_id, created_at, updated_at: now };
        let bound = self.options.max_variables_per_function;
        let put = self.stores.functions.put_variable(account, &variable, bound).await;
        put.map_err(|error| match error.kind() {
            ErrorKind::Conflict => error.with_kind(ErrorKind::Invalid),
            _ => self.missing(error),
        })?;
        self.tell(|it| it.function_changed(account, function_id));
        Ok(variable)
    }

    /// Removes a variable of a function.
    pub async fn delete_variable(
        &self,
        caller: &Caller,
        function: FunctionId,
        key: &str,
    ) -> Result<(), Error> {
        caller.require_account()?;
        let account = caller.account_id();
        self.owned_function(caller, function).await?;
        let deleted = self.stores.functions.delete_variable(account, function, key).await;
        deleted.map_err(|error| self.missing(error))?;
        self.tell(|it| it.function_changed(account, function));
        Ok(())
    }

    /// The error of a missing function, variable or run, with the kind that the operator chose.
    fn missing(&self, error: Error) -> Error {
        match self.options.missing_functions_are_not_found {
            true => error,
            false => as_invalid(error),
        }
    }

    async fn owned_function(&self, caller: &Caller, id: FunctionId) -> Result<Function, Error> {
        let function = self.stores.documents.get(caller.account_id(), id.as_uuid()).await?;
        function.ok_or_else(|| self.missing(Error::not_found("function")))
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
