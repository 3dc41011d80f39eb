//! The stage between an input and its outputs: the input's function runs on a webhook.

use std::time::Duration;

use super::{accept::Intake, end::End};
use crate::{
    error::Error,
    function::ScriptResponse,
    model::{Bucket, Input, Reason, Webhook},
    relay::functions::{FunctionFailed, FunctionFailure},
    store::NewExecution,
};

/// What an input's function decided.
#[derive(Debug, Default)]
pub(in crate::relay) struct InputDecision {
    /// The response to the sender, when the function has set it.
    pub(super) response: Option<ScriptResponse>,
    /// Why the webhook is not delivered; none when the rules decide.
    pub(in crate::relay) end: Option<End>,
    /// The record of the function's run, which is stored with the webhook.
    pub(in crate::relay) runs: Vec<NewExecution>,
}

impl Intake {
    /// Runs the input's function, if it has one, on `webhook` before it is routed. A webhook
    /// on which the function fails ends, and is marked.
    ///
    /// # Errors
    ///
    /// `Unavailable` when the function cannot run now. Nothing is to be stored then: the webhook
    /// comes again.
    pub(in crate::relay) async fn stage(
        &self,
        bucket: &Bucket,
        input: Option<&Input>,
        webhook: &mut Webhook,
    ) -> Result<InputDecision, Error> {
        let Some((input, function)) = input.and_then(|it| Some((it, it.spec.function_id?))) else {
            return Ok(InputDecision::default());
        };
        // Boxed, as all functions are: rare, and too large for every webhook to carry.
        match Box::pin(self.functions.run_of_input(function, bucket, input, webhook)).await {
            Ok((run, outcome)) => {
                webhook.input_execution_id = run.as_ref().map(|run| run.execution.id);
                webhook.request = outcome.request;
                Ok(InputDecision {
                    response: outcome.response.filter(|_| outcome.response_modified),
                    end: outcome.stop_forwarding.then_some(End::BY_FUNCTION),
                    runs: run.into_iter().collect(),
                })
            }
            Err(FunctionFailed { failure: FunctionFailure::Failed, reason, run }) => {
                webhook.input_execution_id = run.as_ref().map(|run| run.execution.id);
                webhook.input_failed = true;
                let end = Some(End::failed(Some(Reason::Function), reason));
                Ok(InputDecision { response: None, end, runs: run.into_iter().collect() })
            }
            Err(FunctionFailed { reason, .. }) => {
                Err(Error::unavailable(reason, Duration::from_secs(1)))
            }
        }
    }
}
