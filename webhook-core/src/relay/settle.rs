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

/// How soon a delivery that could not be sent for want of room here is looked at
/// again, at least; at most twice that.
const POSTPONED: Duration = Duration::from_secs(1);
/// How long a delivery waits whose outcome the store refuses.
const NOT_STORED: Duration = Duration::from_secs(30);

/// How a delivery's turn ended.
#[derive(Debug)]
pub(super) enum Ending {
    /// A request was made, or could not be made.
    Attempted(Result<ForwardResponse, ForwardError>),
    /// Nothing was sent, for a reason that is not the destination's and passes.
    Postponed(String),
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
            (Ending::Postponed(_), Some((_, output))) => self.postpone(output, pending, now),
            (Ending::HandedOver, _) => (DeliveryStatus::Received, None),
            (Ending::Rejected(_), _) => (DeliveryStatus::Rejected, None),
            (Ending::Failed(_) | Ending::Attempted(_) | Ending::Postponed(_), _) => {
                (DeliveryStatus::Failed, None)
            }
        };
        let answer = self.answers.is_awaited(pending.id).then(|| Answer::of(&ending));
        let handed_over = matches!(ending, Ending::HandedOver);
        let postponed = matches!(ending, Ending::Postponed(_));
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
        let written = self.write(lane, settle).await;
        if written == Written::Stored
            && handed_over
            && let Some((route, output)) = at
        {
            let processed = transformed.as_deref();
            self.publish(route, &pending.webhook, pending.id, Some(output.id), processed);
        }
        if !postponed {
            self.observer.attempted(status, duration);
        }
        match (written, due_at) {
            (Written::Lost, _) => {}
            (Written::Stored, Some(due_at)) => {
                lane.retry_at(due_at);
                self.dispatch_at(due_at, lane.output_id);
            }
            _ => {
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

    /// When a delivery that was not sent is looked at again: soon, as often as it
    /// takes, but not past the output's deadline.
    fn postpone(
        &self,
        output: &Output,
        pending: &Pending,
        now: Timestamp,
    ) -> (DeliveryStatus, Option<Timestamp>) {
        let at = now + POSTPONED.mul_f64(1.0 + fastrand::f64());
        match retry::deadline(&output.spec, pending.created_at) {
            Some(deadline) if at > deadline => (DeliveryStatus::Failed, None),
            _ => (DeliveryStatus::Received, Some(at)),
        }
    }

    /// Writes until the store takes it or says that the delivery is no longer
    /// this node's. What it will never take as it is goes without the destination's
    /// content, and without being taken at all the delivery is attempted again, as it
    /// is when the relay stops.
    async fn write(&self, lane: &Lane, mut settle: Settle) -> Written {
        let mut pause = Duration::from_millis(100);
        loop {
            let Err(error) = self.stores.deliveries.settle(settle.clone()).await else {
                return Written::Stored;
            };
            let cause = std::error::Error::source(&error).map(tracing::field::display);
            match error.kind() {
                ErrorKind::Unavailable if !self.dispatch.is_stopped() => {
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(Duration::from_secs(5));
                }
                ErrorKind::Unavailable | ErrorKind::Conflict | ErrorKind::NotFound => {
                    tracing::warn!(delivery = %settle.id, %error, cause, "outcome not stored");
                    return Written::Ended;
                }
                _ if has_content(&settle.attempt) => {
                    tracing::error!(delivery = %settle.id, %error, cause, "answer not stored");
                    settle.attempt = Arc::new(without_content(&settle.attempt));
                }
                _ => {
                    tracing::error!(delivery = %settle.id, %error, cause, "outcome not stored");
                    self.lost(lane, NOT_STORED);
                    return Written::Lost;
                }
            }
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
            Ending::Postponed(reason) | Ending::Rejected(reason) | Ending::Failed(reason) => {
                Attempt { duration, error: Some(reason), ..Attempt::default() }
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

/// Whether it has content of the destination's, which a store may refuse.
fn has_content(attempt: &Attempt) -> bool {
    let Attempt { response_headers, response_body, error, .. } = attempt;
    !response_headers.is_empty() || !response_body.is_empty() || error.is_some()
}

fn without_content(attempt: &Attempt) -> Attempt {
    let Attempt { status_code, duration, .. } = *attempt;
    Attempt { status_code, duration, ..Attempt::default() }
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
