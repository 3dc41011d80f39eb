//! Step 6: what came of an attempt decides what becomes of the delivery.

use std::{sync::Arc, time::Duration};

use super::{
    attempt::{Report, sent_request},
    fate::{self, Fate, fate, reason},
    findings::Findings,
    health,
    history::{self, Ended},
    queue::OutputQueue,
    timers::Timers,
    workers::Workers,
};
use crate::{
    clock::Clock,
    error::ErrorKind,
    id::NodeId,
    model::{Bucket, Output},
    relay::{
        Observer, RelayOptions, clients::Clients, functions::Functions, parts::observer,
        waiters::Waiters, watch::Watch,
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
    pub(super) findings: Arc<Findings>,
    pub(super) watch: Arc<Watch>,
    pub(super) observer: Arc<dyn Observer>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) options: Arc<RelayOptions>,
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
        let Report { ending, duration, transformed, run, reconnects } = report;
        let output_execution_id = run.as_ref().map(|run| run.execution.id);
        let mut runs = Vec::from_iter(run);
        let now = self.clock.now();
        let (is_attempt, is_postponed) = (ending.is_attempt(), ending.is_postponed());
        let output = at.map(|(_, output)| output);
        let counts = is_attempt && !health::is_failed_try(output, &ending, now);
        let attempts = pending.attempts + u32::from(counts);
        let paused = output.map(|output| output.pauses.stood_still(pending.created_at, now));
        let received_at = pending.created_at + paused.unwrap_or_default();
        let outcome = output.and_then(|output| ending.outcome(&output.spec, now));
        let fate = fate(&ending, outcome, output, Progress { attempts, received_at, now });
        let (status, due_at) = (fate.status(), fate.due_at());
        let reason = reason(&ending, outcome, output, fate);
        let is_awaited = self.waiters.is_awaited(pending.id);
        let response = is_awaited.then(|| ending.response()).flatten();
        health::judge(queue, at, &ending, outcome, now, &self.findings);
        let error = output.and_then(|output| ending.error_of_answer(&output.spec));
        fate::tell(at, pending, &ending, error.as_deref(), fate, &self.watch).await;
        let reconnected = reconnects.tries();
        let ended = Ended { ending: &ending, outcome, reconnects: reconnected, duration, now };
        let history = history::after(pending, output, ended, due_at);
        let mut attempt = ending.into_attempt(duration, self.options.max_logged_response_bytes);
        attempt.error = attempt.error.or(error);
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
            // What the store refuses it may have taken before, when the answer was lost.
            (_, Some(due_at)) => {
                if queue.retry_at(due_at) {
                    self.timers.add(due_at, queue.output_id);
                }
            }
            _ => self.observer.pending(queue.ended()),
        }
        // Who waits gets the first response, whatever its status. What was handed
        // over is answered by the report of who delivers it.
        if is_awaited && (response.is_some() || matches!(fate, Fate::Ends(_))) {
            self.waiters.resolve(pending.id, response);
        }
    }

    /// Writes until the store takes it or says that the delivery is no longer
    /// this node's. What it will never take as it is goes without the destination's content
    /// and the runs of functions; if it does not take that either, the delivery is attempted
    /// again, as it is when the relay stops.
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
                kind @ (ErrorKind::Unavailable | ErrorKind::Conflict | ErrorKind::NotFound) => {
                    if kind == ErrorKind::Conflict {
                        self.observer.conflicted();
                    }
                    tracing::warn!(delivery = %settle.id, %error, cause, "outcome not stored");
                    return Written::Ended;
                }
                _ if settle.attempt.has_content() || !settle.runs.is_empty() => {
                    tracing::error!(delivery = %settle.id, %error, cause, "answer not stored");
                    settle.attempt = Arc::new(settle.attempt.without_content());
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
