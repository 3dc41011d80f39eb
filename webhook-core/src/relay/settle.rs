//! Step 4: what came of an attempt decides what becomes of the delivery.

use std::{sync::Arc, time::Duration};

use super::{
    Inner,
    answers::{Answer, DestinationAnswer},
    attempt::cut,
    lane::Lane,
    routes::Route,
};
use crate::{
    clock::Timestamp,
    error::ErrorKind,
    forward::{ForwardError, ForwardResponse},
    id::ExecutionId,
    model::{Attempt, DeliveryStatus, Output, Request},
    retry::{self, Next, Progress},
    store::{Origin, Pending, Settle},
};

/// How a delivery's turn ended.
#[derive(Debug)]
pub(super) enum Ending {
    /// A request was made, or could not be made.
    Attempted(Result<ForwardResponse, ForwardError>),
    /// The function of an internal output has run: clients get it now.
    HandedOver,
    /// A function stopped it.
    Rejected(String),
    /// It failed for good without a request.
    Failed(String),
}

/// What is known after a delivery's turn.
#[derive(Debug)]
pub(super) struct Report {
    pub(super) ending: Ending,
    pub(super) duration: Duration,
    pub(super) transformed: Option<Arc<Request>>,
    pub(super) execution_id: Option<ExecutionId>,
}

impl Report {
    pub(super) fn without_attempt(ending: Ending) -> Self {
        Self { ending, duration: Duration::ZERO, transformed: None, execution_id: None }
    }
}

impl Inner {
    /// Writes what came of it, then tells whoever waits for it.
    pub(super) async fn settle(
        self: &Arc<Self>,
        lane: &Arc<Lane>,
        at: Option<(&Route, &Output)>,
        pending: &Pending,
        report: Report,
    ) {
        let Report { ending, duration, transformed, execution_id } = report;
        let now = self.clock.now();
        let counted = matches!(ending, Ending::Attempted(_));
        let attempts = pending.attempts + u32::from(counted);
        let (status, due_at) = match (&ending, at) {
            (Ending::Attempted(result), Some((_, output))) => {
                self.judge(output, pending, attempts, now, result)
            }
            (Ending::HandedOver, _) => (DeliveryStatus::Received, None),
            (Ending::Rejected(_), _) => (DeliveryStatus::Rejected, None),
            (Ending::Failed(_) | Ending::Attempted(_), _) => (DeliveryStatus::Failed, None),
        };
        let answer = self.answers.is_awaited(pending.id).then(|| Answer::of(&ending));
        let handed_over = matches!(ending, Ending::HandedOver);
        let mut attempt = self.attempt_of(ending, duration);
        if let Some((route, output)) = at
            && due_at.is_none()
            && counted
            && let Some(function) = output.spec.response_function_id
        {
            let sent = transformed.as_deref().or(pending.processed.as_deref());
            let sent = sent.unwrap_or(&pending.webhook.request);
            let webhook = &pending.webhook;
            let bucket = &route.bucket;
            let running =
                self.run_response_function(function, bucket, output, webhook, sent, &mut attempt);
            Box::pin(running).await;
        }
        let log = LogLine { pending, status, due_at, attempts, now };
        log.write(&attempt);

        let settle = Settle {
            id: pending.id,
            origin: Origin::of(pending),
            node: self.node,
            now,
            status,
            due_at,
            attempts,
            attempt: Arc::new(attempt),
            processed: transformed.clone(),
            output_execution_id: execution_id,
        };
        let written = self.write(settle).await;
        if written
            && handed_over
            && let Some((route, output)) = at
        {
            let processed = transformed.as_deref();
            self.publish(route, &pending.webhook, pending.id, Some(output.id), processed);
        }
        self.observer.attempted(status, duration);
        match due_at.filter(|_| written) {
            Some(due_at) => {
                lane.retry_at(due_at);
                self.dispatch_at(due_at, lane.output_id);
            }
            None => {
                lane.ended();
                self.observer.pending(-1);
            }
        }
        // Who waits gets the first answer, whatever its status. What was handed
        // over is answered by the report of who delivers it.
        match answer {
            Some(answer @ Answer::Response(_)) => self.answers.resolve(pending.id, answer),
            _ if handed_over || due_at.is_some() => {}
            _ => self.answers.resolve(pending.id, Answer::None),
        }
    }

    fn judge(
        &self,
        output: &Output,
        pending: &Pending,
        attempts: u32,
        now: Timestamp,
        result: &Result<ForwardResponse, ForwardError>,
    ) -> (DeliveryStatus, Option<Timestamp>) {
        let outcome = retry::Outcome::of(result.as_ref(), now);
        let progress = Progress { attempts, received_at: pending.created_at, now };
        match retry::next(&output.spec, &progress, outcome, fastrand::f64()) {
            Next::Sent => (DeliveryStatus::Sent, None),
            Next::RetryAt(due_at) => (DeliveryStatus::Received, Some(due_at)),
            Next::GiveUp => (DeliveryStatus::Failed, None),
        }
    }

    /// Writes until the store takes it or says that the delivery is no longer
    /// this node's. A relay that stops gives up: the delivery is attempted again.
    async fn write(&self, settle: Settle) -> bool {
        let mut pause = Duration::from_millis(100);
        loop {
            let Err(error) = self.stores.deliveries.settle(settle.clone()).await else {
                return true;
            };
            if error.kind() != ErrorKind::Unavailable || self.dispatch.is_stopped() {
                let cause = std::error::Error::source(&error).map(tracing::field::display);
                tracing::warn!(delivery = %settle.id, %error, cause, "outcome not stored");
                return false;
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(Duration::from_secs(5));
        }
    }

    fn attempt_of(&self, ending: Ending, duration: Duration) -> Attempt {
        match ending {
            Ending::Attempted(Ok(response)) => Attempt {
                status_code: response.status.as_u16(),
                response_headers: response.headers,
                response_body: cut(&response.body, self.options.max_logged_response_bytes),
                duration,
                error: None,
            },
            Ending::Attempted(Err(error)) => {
                Attempt { duration, error: Some(error.to_string()), ..Attempt::default() }
            }
            Ending::HandedOver => Attempt::default(),
            Ending::Rejected(reason) | Ending::Failed(reason) => {
                Attempt { duration, error: Some(reason), ..Attempt::default() }
            }
        }
    }
}

impl Answer {
    /// What a sender that waits for this delivery gets of it.
    fn of(ending: &Ending) -> Self {
        match ending {
            Ending::Attempted(Ok(response)) if !response.truncated => {
                let ForwardResponse { status, headers, body, .. } = response.clone();
                Self::Response(DestinationAnswer { status, headers, body })
            }
            _ => Self::None,
        }
    }
}

/// One line for each attempt.
struct LogLine<'a> {
    pending: &'a Pending,
    status: DeliveryStatus,
    due_at: Option<Timestamp>,
    attempts: u32,
    now: Timestamp,
}

impl LogLine<'_> {
    fn write(&self, attempt: &Attempt) {
        let retry_in_ms = self.due_at.map(|due| due.since(self.now).as_millis() as u64);
        tracing::info!(
            delivery = %self.pending.id,
            bucket = %self.pending.webhook.bucket_id,
            output = %self.pending.output_id,
            attempt = self.attempts,
            outcome = self.status.as_str(),
            status = attempt.status_code,
            ms = attempt.duration.as_millis() as u64,
            error = attempt.error.as_deref(),
            retry_in_ms,
            "attempt"
        );
    }
}
