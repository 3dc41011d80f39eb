//! What a function was, and making it so again.

use super::{
    super::{Admin, Caller, check},
    as_invalid,
};
use crate::{
    error::Error,
    id::FunctionId,
    model::{Function, FunctionSpec, FunctionVersion, Variable},
};

impl Admin {
    /// The versions of a function's source that are kept, without their sources, the newest
    /// first, which is what it has now. What is the same twice is kept once.
    pub async fn function_versions(
        &self,
        caller: &Caller,
        id: FunctionId,
    ) -> Result<Vec<FunctionVersion>, Error> {
        caller.require_account()?;
        let versions = self.stores.functions.function_versions(caller.account_id(), id).await?;
        match versions.is_empty() {
            true => Err(as_invalid(Error::not_found("function"))),
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
        self.owned_function(caller, id).await?;
        let account = caller.account_id();
        let found = self.stores.functions.function_version(account, id, version).await?;
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
        check::function(&spec, &self.options)?;
        self.compile(driver, &spec.payload).await?;
        self.change_function(caller, id, |function| {
            function.driver = driver;
            function.payload = spec.payload;
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
        check::name("name", &name, &self.options)?;
        let FunctionSpec { driver, payload, metadata, .. } =
            self.owned_function(caller, id).await?.spec;
        let account = caller.account_id();
        let variables = self.stores.functions.variables(account, id).await?;
        let spec = FunctionSpec { name, driver, payload, metadata };
        check::function(&spec, &self.options)?;
        self.compile(spec.driver, &spec.payload).await?;
        let copy = self.add_function(caller, spec).await?;
        for variable in variables {
            let now = copy.created;
            let variable =
                Variable { function_id: copy.id, created_at: now, updated_at: now, ..variable };
            if let Err(error) = self.stores.functions.put_variable(account, &variable).await {
                // Nobody knows of the copy yet, and half of one would be no help.
                let _ = self.stores.functions.delete_function(account, copy.id).await;
                return Err(as_invalid(error));
            }
        }
        Ok(copy)
    }
}
