//! Trials of functions, which change nothing on the way of a webhook.

use std::{sync::Arc, time::Duration};

use serde_json::Value;

use super::{Call, Candidate, FunctionFailed, FunctionFailure, Functions, Recording, Transformed};
use crate::{
    error::Error,
    function::record::Detail,
    id::{AccountId, FunctionId},
    model::{Bucket, Driver, Invoked, Output, Request, TraceFunctionOutcome, Webhook},
    relay::cache::Script,
};

/// What a function would do with a webhook.
#[derive(Debug)]
pub(crate) struct Tried {
    /// What it makes of the webhook; none when it fails.
    pub(crate) request: Option<Request>,
    /// Whether the delivery would go no further.
    pub(crate) stop: bool,
    /// Whether it changes nothing.
    pub(crate) unmodified: bool,
    /// Why it fails.
    pub(crate) error: Option<String>,
    pub(crate) duration: Duration,
}

impl Tried {
    /// How it ended.
    pub(crate) const fn outcome(&self) -> TraceFunctionOutcome {
        match (&self.error, self.stop) {
            (Some(_), _) => TraceFunctionOutcome::Error,
            (None, true) => TraceFunctionOutcome::Stopped,
            (None, false) if self.unmodified => TraceFunctionOutcome::Unmodified,
            (None, false) => TraceFunctionOutcome::Success,
        }
    }
}

impl Candidate {
    /// The function as it is saved.
    pub(crate) fn saved() -> Self {
        Self { script: None, trial: Some(Arc::default()) }
    }

    fn of(script: Script) -> Self {
        Self { script: Some(Arc::new(script)), trial: Some(Arc::default()) }
    }
}

impl Functions {
    /// A source that is tried with the variables and values of a function.
    pub(crate) async fn candidate(
        &self,
        account: AccountId,
        function: FunctionId,
        driver: Driver,
        source: String,
    ) -> Result<Candidate, Error> {
        let saved = self.cache.get(account, function).await?;
        let saved = saved.ok_or_else(|| Error::not_found("function"))?;
        let config = Arc::clone(&saved.config);
        Ok(Candidate::of(Script::of_source(account, driver, source, config)))
    }

    /// Runs the function of an output on a webhook and says what it did. The delivery stays as it is.
    pub(crate) async fn try_on(
        &self,
        function: FunctionId,
        bucket: &Bucket,
        output: &Output,
        webhook: &Webhook,
        trial: Option<Candidate>,
    ) -> Result<Tried, Error> {
        let call = self.call_of_output(function, bucket, output, webhook);
        let trial = trial.unwrap_or_default();
        match self.transform(Call { trial, recording: Recording::Trial, ..call }).await {
            Ok(Transformed { run, request, stop }) => {
                let run = run.map(|run| run.execution);
                let duration = run.as_ref().map(|run| run.duration).unwrap_or_default();
                let unmodified = run.is_some_and(|run| run.left.is_unmodified());
                Ok(Tried { request: Some(request), stop, unmodified, error: None, duration })
            }
            Err(FunctionFailed { failure: FunctionFailure::Failed, reason, run }) => {
                let duration = run.map(|run| run.execution.duration).unwrap_or_default();
                Ok(Tried {
                    request: None,
                    stop: false,
                    unmodified: false,
                    error: Some(reason),
                    duration,
                })
            }
            Err(FunctionFailed { reason, .. }) => {
                Err(Error::unavailable(reason, Duration::from_secs(1)))
            }
        }
    }

    /// Runs a source that no function has. It has no variables, and keeps nothing.
    pub(crate) async fn try_source(
        &self,
        account_id: AccountId,
        driver: Driver,
        source: String,
        invoked: Invoked,
    ) -> Result<Value, Error> {
        let script = Script::of_source(account_id, driver, source, Arc::default());
        let call = Call::of(account_id, self.ids.next(), invoked, Detail::NoContent);
        let called = self.call(Call { trial: Candidate::of(script), ..call }).await?;
        let mut answer = called.answer(self.ids.next())?;
        answer["function_id"] = "".into();
        Ok(answer)
    }
}
