//! Which version of a function ran, and which rules were asked.

use super::rules_of;
use crate::{
    admin::{Admin, Caller},
    error::Error,
    model::{Execution, Log, Output, TraceRules},
    store::RulesVersion,
};

impl Admin {
    /// The version of a function that a run was of: the last one before it began.
    pub(super) async fn version_of(
        &self,
        caller: &Caller,
        run: Option<&Execution>,
    ) -> Result<Option<u32>, Error> {
        let Some(run) = run else { return Ok(None) };
        let account = caller.account_id();
        let versions = self.stores.functions.function_versions(account, run.function_id).await?;
        let version = versions.into_iter().find(|version| version.created <= run.created);
        Ok(version.map(|version| version.version))
    }

    /// What the rules say that the output had when the webhook was stored; where that is not
    /// known, what today's say.
    pub(super) async fn asked_rules(
        &self,
        caller: &Caller,
        output: &Output,
        log: &Log,
    ) -> Result<TraceRules, Error> {
        let (account, at) = (caller.account_id(), log.delivery.created_at);
        let asked = self.stores.outputs.rules_at(account, output.bucket_id, output.id, at).await?;
        match asked {
            Some(RulesVersion { version, rules }) => {
                let changed_since = rules != output.spec.rules;
                let told = rules_of(&rules, log, changed_since);
                Ok(TraceRules { version: Some(version), ..told })
            }
            None => Ok(rules_of(&output.spec.rules, log, output.updated_at > at)),
        }
    }
}
