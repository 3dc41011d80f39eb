//! The variables that functions read with `cfg`.

use super::{
    super::{Admin, Caller, check},
    as_invalid,
};
use crate::{
    error::{Error, ErrorKind},
    id::FunctionId,
    model::{Secret, Variable},
};

impl Admin {
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
        let _guard = self.lock(function_id.as_uuid()).await;
        self.owned_function(caller, function_id).await?;
        let variables = self.stores.functions.variables(account, function_id).await?;
        let former = variables.iter().find(|variable| variable.key == key);
        let limit = self.options.max_variables_per_function;
        if former.is_none() && variables.len() >= limit {
            let message = format!("the function has all of its {limit} variables");
            return Err(Error::new(ErrorKind::Invalid, message));
        }
        let now = self.now();
        let created_at = former.map_or(now, |former| former.created_at);
        let variable = Variable { key, value, function_id, created_at, updated_at: now };
        let put = self.stores.functions.put_variable(account, &variable).await;
        put.map_err(as_invalid)?;
        self.listeners.function_changed(account, function_id);
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
        let _guard = self.lock(function.as_uuid()).await;
        self.owned_function(caller, function).await?;
        let deleted = self.stores.functions.delete_variable(account, function, key).await;
        deleted.map_err(as_invalid)?;
        self.listeners.function_changed(account, function);
        Ok(())
    }
}
