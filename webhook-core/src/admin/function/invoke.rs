//! Running a function to see what it does.

use serde_json::Value;

use super::{
    super::{Admin, Caller, check},
    as_invalid,
};
use crate::{error::Error, id::FunctionId, model::InvokeRequest};

impl Admin {
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
        check::metadata(&invoked.metadata, &self.options)?;
        let account = caller.account_id();
        let limit = self.options.max_invocations_per_account;
        let _entered = self.running.enter(account, limit, super::RUNNING)?;
        self.relay.invoke(account, id, invoked).await.map_err(as_invalid)
    }
}
