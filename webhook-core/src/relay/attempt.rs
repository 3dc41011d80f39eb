//! One attempt: the output's function, the request, and on to settling.

use std::sync::Arc;

use bytes::Bytes;
use tokio::time::Instant;

use super::{
    Inner,
    functions::Transformed,
    lane::{Held, Lane},
    outgoing,
    routes::Route,
    settle::{Ending, Report},
};
use crate::{
    forward::{ForwardError, ForwardResponse},
    id::ExecutionId,
    model::{Output, Request},
    store::Pending,
};

/// What is sent, and what of it has to be remembered for the next attempt.
#[derive(Debug, Default)]
struct Prepared {
    transformed: Option<Arc<Request>>,
    execution_id: Option<ExecutionId>,
}

impl Inner {
    /// Attempts a delivery once and settles it.
    pub(super) async fn attempt(
        self: &Arc<Self>,
        lane: &Arc<Lane>,
        route: &Route,
        output: &Output,
        held: Held,
    ) {
        let started = Instant::now();
        let pending = &held.pending;
        let mut prepared = Prepared::default();
        let ending = if output.spec.disabled {
            Ending::Failed("the output is disabled".to_owned())
        } else {
            match self.prepare(route, output, pending).await {
                Ok(Preparation::Ready(ready)) => {
                    prepared = ready;
                    if output.spec.internal {
                        Ending::HandedOver
                    } else {
                        let request = prepared
                            .transformed
                            .as_deref()
                            .or(pending.processed.as_deref())
                            .unwrap_or(&pending.webhook.request);
                        Ending::Attempted(self.send(output, pending, request).await)
                    }
                }
                Ok(Preparation::Stopped(execution_id)) => {
                    prepared.execution_id = execution_id;
                    Ending::Rejected("stopped by the output's function".to_owned())
                }
                Err(FunctionFailed { reason, execution_id, retryable }) => {
                    prepared.execution_id = execution_id;
                    // The destination knows nothing of it: no attempt.
                    if retryable { Ending::Postponed(reason) } else { Ending::Failed(reason) }
                }
            }
        };
        let report = Report {
            ending,
            duration: started.elapsed(),
            transformed: prepared.transformed,
            execution_id: prepared.execution_id,
        };
        self.settle(lane, Some((route, output)), &held.pending, report).await;
    }

    /// Runs the output's function, unless an earlier attempt has.
    async fn prepare(
        &self,
        route: &Route,
        output: &Output,
        pending: &Pending,
    ) -> Result<Preparation, FunctionFailed> {
        let Some(function) = output.spec.function_id.filter(|_| pending.processed.is_none()) else {
            return Ok(Preparation::Ready(Prepared::default()));
        };
        let running = self.run_output_function(function, &route.bucket, output, &pending.webhook);
        let Transformed { execution_id, request, stop } = Box::pin(running).await?;
        Ok(if stop {
            Preparation::Stopped(Some(execution_id))
        } else {
            Preparation::Ready(Prepared {
                transformed: Some(Arc::new(request)),
                execution_id: Some(execution_id),
            })
        })
    }

    async fn send(
        &self,
        output: &Output,
        pending: &Pending,
        request: &Request,
    ) -> Result<ForwardResponse, ForwardError> {
        let max_response_bytes = if self.answers.is_awaited(pending.id) {
            self.options.max_answer_bytes
        } else {
            self.options.max_logged_response_bytes
        };
        let request = outgoing::forward_request(
            &output.spec,
            &pending.webhook,
            request,
            pending.id,
            max_response_bytes,
        )?;
        self.forwarder.forward(request).await
    }

    /// Its output is gone: the store has ended it already, or will not mind.
    pub(super) async fn orphaned(self: &Arc<Self>, lane: &Arc<Lane>, held: Held) {
        let report = Report::without_attempt(Ending::Failed("the output was deleted".to_owned()));
        self.settle(lane, None, &held.pending, report).await;
    }

    /// It has waited past its throttle's deadline.
    pub(super) async fn expire(self: &Arc<Self>, lane: &Arc<Lane>, held: Held) {
        let reason = "waited in the output's queue past the throttle's deadline".to_owned();
        let report = Report::without_attempt(Ending::Failed(reason));
        self.settle(lane, None, &held.pending, report).await;
    }
}

enum Preparation {
    Ready(Prepared),
    Stopped(Option<ExecutionId>),
}

/// A function failed and with it the delivery.
#[derive(Debug)]
pub(super) struct FunctionFailed {
    pub(super) reason: String,
    pub(super) execution_id: Option<ExecutionId>,
    pub(super) retryable: bool,
}

/// What the log keeps of a destination's body.
pub(super) fn cut(body: &Bytes, limit: usize) -> Bytes {
    body.slice(..body.len().min(limit))
}
