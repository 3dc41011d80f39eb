//! Webhooks that nobody sends: those of crons and of notifications. Each takes the way of any
//! other, from the input's function on.

use std::{sync::Arc, time::Duration};

use ring::digest::{SHA256, digest};

use super::{
    accept::Intake,
    functions::{FunctionFailed, FunctionFailure, Functions, InputDecision},
    route,
};
use crate::{
    clock::Timestamp,
    error::{Error, ErrorKind},
    id::WebhookId,
    model::{Bucket, Input, Reason, ResponseFromOutput, Webhook},
};

/// Puts webhooks into buckets.
#[derive(Debug)]
pub(super) struct Injector {
    pub(super) functions: Arc<Functions>,
    pub(super) intake: Arc<Intake>,
}

impl Injector {
    pub(super) fn new(functions: &Arc<Functions>, intake: &Arc<Intake>) -> Self {
        Self { functions: functions.clone(), intake: intake.clone() }
    }

    /// Puts a webhook into a bucket as if it had come to this input. One whose identifier is
    /// known is there already, and nothing more happens to it.
    pub(super) async fn inject(
        &self,
        mut webhook: Webhook,
        bucket: &Arc<Bucket>,
        input: Option<&Input>,
    ) -> Result<(), Error> {
        let mut runs = Vec::new();
        let why = Some(Reason::Function);
        if let Some((input, function)) = input.and_then(|i| Some((i, i.spec.function_id?))) {
            match self.functions.run_of_input(function, bucket, input, &mut webhook).await {
                Ok(InputDecision { stop: false, run, .. }) => runs.push(run),
                Ok(InputDecision { stop: true, run, .. }) => {
                    let reason = "stopped by the input function";
                    return self.intake.keep(webhook, vec![run], bucket, why, reason, true).await;
                }
                Err(FunctionFailed { failure: FunctionFailure::Failed, reason, run }) => {
                    webhook.input_execution_id = run.as_ref().map(|run| run.execution.id);
                    webhook.input_failed = true;
                    runs.extend(run);
                    return self.intake.keep(webhook, runs, bucket, why, &reason, false).await;
                }
                Err(FunctionFailed { reason, .. }) => {
                    return Err(Error::unavailable(reason, Duration::from_secs(1)));
                }
            }
        }
        let matches = match route::matches(bucket, &webhook, &self.intake.options) {
            Ok(matches) => matches,
            // This build cannot evaluate the rules, at the next attempt either.
            Err(error) => {
                let (why, error) = (Some(Reason::Rules), error.to_string());
                return self.intake.keep(webhook, runs, bucket, why, &error, false).await;
            }
        };
        let no_answer = ResponseFromOutput::Static;
        let (again, seen) = ((webhook.clone(), runs.clone()), Vec::new());
        match self.intake.accept(again.0, again.1, bucket, &matches, no_answer, seen).await {
            Ok(_) => Ok(()),
            // There is no sender to come back later.
            Err(error) if error.kind() == ErrorKind::Busy => {
                self.intake.keep(webhook, runs, bucket, None, &error.to_string(), false).await
            }
            Err(error) => Err(error),
        }
    }
}

/// An identifier that follows from a name and a moment: a UUID of version 7 with the moment as
/// its time and 74 bits of a digest where others have random ones.
pub(super) fn derived_id(name: &[u8], moment: Timestamp) -> WebhookId {
    let mut bits = [0; 10];
    bits.copy_from_slice(&digest(&SHA256, name).as_ref()[..10]);
    let millis = moment.as_millis().max(0).unsigned_abs();
    let uuid = uuid::Builder::from_unix_timestamp_millis(millis, &bits).into_uuid();
    WebhookId::from_uuid(uuid)
}
