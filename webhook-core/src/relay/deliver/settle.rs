//! Step 6: what came of an attempt decides what becomes of the delivery.

use std::{sync::Arc, time::Duration};

use super::{
    attempt::{AttemptFailure, Ending, Report, sent_request},
    fate::{Fate, fate, reason},
    health, history,
    queue::OutputQueue,
    timers::Timers,
    workers::Workers,
};
use crate::{
    body::cut,
    clock::Clock,
    error::ErrorKind,
    forward::ForwardResponse,
    id::NodeId,
    model::{Attempt, Bucket, Output},
    relay::{
        clients::Clients,
        functions::Functions,
        gone::Gone,
        observer::{self, Observer},
        options::RelayOptions,
        waiters::{DestinationResponse, Waiters},
    },
    retry::Progress,
    store::{DeliveryStore, Origin, Pending, Settle},
};

/// How long a delivery waits whose outcome the store refuses.
const NOT_STORED: Duration = Duration::from_secs(30);

/// Writes outcomes and tells whoever waits for them.
#[derive(Debug)]
pub(super) struct Settler {
    pub(super) node: NodeId,
    pub(super) deliveries: Arc<dyn DeliveryStore>,
    pub(super) timers: Arc<Timers>,
    pub(super) workers: Arc<Workers>,
    /// For response functions.
    pub(super) functions: Arc<Functions>,
    pub(super) clients: Arc<Clients>,
    pub(super) waiters: Arc<Waiters>,
    pub(super) gone: Arc<Gone>,
    pub(super) observer: Arc<dyn Observer>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) options: Arc<RelayOptions>,
}

impl Ending {
    /// Whether a request was made, or could not be made as it is.
    fn is_attempt(&self) -> bool {
        matches!(self, Self::Answered(_) | Self::Unanswered(AttemptFailure::Forward(_)))
    }

    /// Whether nothing was sent for a reason that is not the destination's and passes.
    fn is_postponed(&self) -> bool {
        use AttemptFailure::{FunctionBusy, StoreUnavailable};
        matches!(self, Self::Unanswered(FunctionBusy(_) | StoreUnavailable(_)))
    }
}

impl Settler {
    /// Writes what came of it, then tells whoever waits for it.
    pub(super) async fn settle(
        &self,
        queue: &OutputQueue,
        at: Option<(&Bucket, &Output)>,
        pending: &Pending,
        report: Report,
    ) {
        let Report { ending, duration, transformed, run } = report;
        let output_execution_id = run.as_ref().map(|run| run.execution.id);
        let mut runs = Vec::from_iter(run);
        let now = self.clock.now();
        let (is_attempt, is_postponed) = (ending.is_attempt(), ending.is_postponed());
        let attempts = pending.attempts + u32::from(is_attempt);
        let output = at.map(|(_, output)| output);
        let paused = output.map(|output| output.pauses.stood_still(pending.created_at, now));
        let received_at = pending.created_at + paused.unwrap_or_default();
        let fate = fate(&ending, output, Progress { attempts, received_at, now });
        let (status, due_at) = (fate.status(), fate.due_at());
        let reason = reason(&ending, output, fate, now);
        let is_awaited = self.waiters.is_awaited(pending.id);
        let response = is_awaited.then(|| response_of(&ending)).flatten();
        health::judge(queue, at, &ending, now, &self.gone);
        let history = history::after(pending, &ending, duration, now, due_at);
        let mut attempt = self.attempt_of(ending, duration);
        if let Some((bucket, output)) = at
            && due_at.is_none()
            && is_attempt
            && let Some(function) = output.spec.response_function_id
        {
            let sent = sent_request(pending, transformed.as_deref());
            let webhook = &pending.webhook;
            let functions = &self.functions;
            let running =
                functions.run_on_response(function, bucket, output, webhook, sent, &mut attempt);
            runs.extend(Box::pin(running).await);
        }
        let settle = Settle {
            id: pending.id,
            origin: Origin::of(pending),
            node: self.node,
            now,
            status,
            due_at,
            attempts,
            reason,
            attempt: Arc::new(attempt),
            history,
            processed: transformed.clone(),
            output_execution_id,
            runs,
        };
        observer::log(pending, &settle);
        self.observer.settling(pending, output, &settle);
        let written = self.write(queue, settle).await;
        if written == Written::Stored
            && fate == Fate::HandedOver
            && let Some((bucket, output)) = at
        {
            let processed = transformed.as_deref();
            self.clients.publish(bucket, &pending.webhook, pending.id, Some(output.id), processed);
        }
        if !is_postponed {
            self.observer.attempted(status, duration);
        }
        match (written, due_at) {
            (Written::Lost, _) => {}
            (Written::Stored, Some(due_at)) => {
                queue.retry_at(due_at);
                self.timers.add(due_at, queue.output_id);
            }
            _ => {
                queue.ended();
                self.observer.pending(-1);
            }
        }
        // Who waits gets the first response, whatever its status. What was handed
        // over is answered by the report of who delivers it.
        if is_awaited && (response.is_some() || matches!(fate, Fate::Ends(_))) {
            self.waiters.resolve(pending.id, response);
        }
    }

    /// Writes until the store takes it or says that the delivery is no longer
    /// this node's. What it will never take as it is goes without the destination's
    /// content and the runs of functions, and without being taken at all the delivery is attempted again, as it
    /// is when the relay stops.
    async fn write(&self, queue: &OutputQueue, mut settle: Settle) -> Written {
        let mut pause = Duration::from_millis(100);
        loop {
            let Err(error) = self.deliveries.settle(settle.clone()).await else {
                return Written::Stored;
            };
            let cause = std::error::Error::source(&error).map(tracing::field::display);
            match error.kind() {
                ErrorKind::Unavailable if !self.workers.are_stopped() => {
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(Duration::from_secs(5));
                }
                ErrorKind::Unavailable | ErrorKind::Conflict | ErrorKind::NotFound => {
                    tracing::warn!(delivery = %settle.id, %error, cause, "outcome not stored");
                    return Written::Ended;
                }
                _ if has_content(&settle.attempt) || !settle.runs.is_empty() => {
                    tracing::error!(delivery = %settle.id, %error, cause, "answer not stored");
                    settle.attempt = Arc::new(without_content(&settle.attempt));
                    settle.runs.clear();
                }
                _ => {
                    tracing::error!(delivery = %settle.id, %error, cause, "outcome not stored");
                    self.timers.recover(queue, self.clock.now() + NOT_STORED);
                    return Written::Lost;
                }
            }
        }
    }

    fn attempt_of(&self, ending: Ending, duration: Duration) -> Attempt {
        match ending {
            Ending::Answered(response) => Attempt {
                status_code: response.status.as_u16(),
                response_headers: response.headers,
                response_body: cut(&response.body, self.options.max_logged_response_bytes),
                duration,
                error: None,
            },
            Ending::Unanswered(failure) => {
                Attempt { duration, error: Some(failure.to_string()), ..Attempt::default() }
            }
            Ending::HandedOver => Attempt::default(),
            Ending::Rejected(reason) | Ending::Failed(_, reason) => {
                Attempt { duration, error: Some(reason), ..Attempt::default() }
            }
        }
    }
}

/// What a sender that waits for this delivery gets of it.
fn response_of(ending: &Ending) -> Option<DestinationResponse> {
    match ending {
        Ending::Answered(response) if !response.truncated => {
            let ForwardResponse { status, headers, body, .. } = response.clone();
            Some(DestinationResponse { status, headers, body })
        }
        _ => None,
    }
}

/// What became of an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Written {
    Stored,
    /// The delivery is another's, or nobody's, or this relay stops.
    Ended,
    /// It could not be stored: the delivery is attempted again.
    Lost,
}

/// Whether it has content of the destination's, which a store may refuse.
fn has_content(attempt: &Attempt) -> bool {
    let Attempt { response_headers, response_body, error, .. } = attempt;
    !response_headers.is_empty() || !response_body.is_empty() || error.is_some()
}

fn without_content(attempt: &Attempt) -> Attempt {
    let Attempt { status_code, duration, .. } = *attempt;
    Attempt { status_code, duration, ..Attempt::default() }
}
