//! Step 5: one attempt, that is the output's function and the request.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, header::LOCATION};
use tokio::time::Instant;

use super::{
    credentials::Credentials,
    outgoing,
    reconnect::Reconnects,
    replayed::{Withdrawals, name_replayed},
};
use crate::{
    body::cut,
    clock::Timestamp,
    destination::{Answer, Deadline, Destinations, FailureKind, SendError},
    forward::ForwardResponse,
    model::{Attempt, Bucket, Output, OutputSpec, Reason, ReplayTotals, Request},
    relay::{
        Observer, RelayOptions,
        cluster::DestinationResponse,
        functions::{FunctionFailed, FunctionFailure, Functions, Transformed},
        loops,
        waiters::Waiters,
    },
    retry::Outcome,
    rule::MAX_ANSWER_BYTES,
    store::{NewExecution, Pending},
};

/// How a delivery's turn ended.
#[derive(Debug)]
pub(crate) enum Ending {
    /// The destination answered.
    Answered(Answer),
    /// The destination answered, and the answer does not pass the rules of the output for a success.
    Unsuccessful(Box<ForwardResponse>),
    /// The destination said that it took the webhook, and the body of this answer did not end.
    AnsweredInPart(Box<ForwardResponse>, FailureKind),
    /// There is no answer.
    Unanswered(AttemptFailure),
    /// The function of an internal output has run: clients get it now.
    HandedOver,
    /// A function stopped it.
    Rejected(Reason, String),
    /// It could not be attempted and never can be.
    Failed(Reason, String),
}

/// Why a delivery's turn brought no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AttemptFailure {
    /// The request was sent, or could not be. This alone counts as an attempt.
    #[error(transparent)]
    Send(SendError),
    /// Too many functions run, so that the output's could not.
    #[error("{0}")]
    FunctionBusy(String),
    /// The store could not say what the output's function is.
    #[error("{0}")]
    StoreUnavailable(String),
    /// The output's function failed, and would again.
    #[error("{0}")]
    FunctionFailed(String),
}

impl From<FunctionFailed> for AttemptFailure {
    fn from(FunctionFailed { failure, reason, .. }: FunctionFailed) -> Self {
        match failure {
            FunctionFailure::Busy => Self::FunctionBusy(reason),
            FunctionFailure::StoreUnavailable => Self::StoreUnavailable(reason),
            FunctionFailure::Failed => Self::FunctionFailed(reason),
        }
    }
}

/// What is known after a delivery's turn.
#[derive(Debug)]
pub(crate) struct Report {
    pub(super) ending: Ending,
    /// How long it took.
    pub(super) duration: Duration,
    /// What the output's function made of the webhook, when it ran in this turn.
    pub(super) transformed: Option<Arc<Request>>,
    /// The run of the output's function, when it ran in this turn.
    pub(super) run: Option<NewExecution>,
    /// The tries of this turn that the destination did not process.
    pub(super) reconnects: Reconnects,
}

impl Report {
    /// Its output is gone: the store has ended it already, or will not mind.
    pub(super) fn orphaned() -> Self {
        Self::failed(Reason::Cancelled, "the output was deleted")
    }

    /// It has waited past its throttle's deadline.
    pub(super) fn expired() -> Self {
        Self::failed(Reason::Deadline, "waited in the output's queue past the throttle's deadline")
    }

    /// It has waited too long for a destination that fails each time.
    pub(super) fn given_up(is_durable: bool) -> Self {
        match is_durable {
            true => Self::failed(
                Reason::Deadline,
                "waited for a destination that fails until its time for retries was over",
            ),
            false => {
                Self::failed(Reason::Destination, "waited 10 minutes for a destination that fails")
            }
        }
    }

    /// Somebody does not want it to be sent any more.
    pub(super) fn withdrawn(detail: &str) -> Self {
        let ending = Ending::Rejected(Reason::Cancelled, detail.to_owned());
        Self { ending, ..Self::failed(Reason::Cancelled, "") }
    }

    fn failed(reason: Reason, detail: &str) -> Self {
        let ending = Ending::Failed(reason, detail.to_owned());
        let (duration, reconnects) = (Duration::ZERO, Reconnects::default());
        Self { ending, duration, transformed: None, run: None, reconnects }
    }
}

/// Makes attempts.
#[derive(Debug)]
pub(super) struct Attempter {
    pub(super) destinations: Arc<Destinations>,
    pub(super) credentials: Credentials,
    pub(super) functions: Arc<Functions>,
    pub(super) waiters: Arc<Waiters>,
    pub(super) observer: Arc<dyn Observer>,
    pub(super) withdrawals: Withdrawals,
    pub(super) options: Arc<RelayOptions>,
}

impl Attempter {
    /// Attempts a delivery once.
    pub(super) async fn attempt(
        &self,
        bucket: &Bucket,
        output: &Output,
        pending: &Pending,
    ) -> Report {
        if self.withdrawals.mean(pending).await {
            return Report::withdrawn(ReplayTotals::WITHDRAWN);
        }
        if let Some(why) = loops::ends(&pending.webhook, &self.options) {
            return Report::failed(Reason::Loop, &why);
        }
        let started = Instant::now();
        let (mut transformed, mut run, mut reconnects) = (None, None, Reconnects::default());
        let ending = match self.transform(bucket, output, pending).await {
            Ok(Some(Transformed { stop: true, run: stopped, .. })) => {
                run = Some(stopped);
                Ending::Rejected(Reason::Function, "stopped by the output's function".to_owned())
            }
            Ok(ran) => {
                if let Some(ran) = ran {
                    run = Some(ran.run);
                    transformed = Some(Arc::new(ran.request));
                }
                let request = sent_request(pending, transformed.as_deref());
                match outgoing::refused_path(&output.spec, request) {
                    Some(why) => Ending::Failed(Reason::DestinationRefused, why.to_owned()),
                    None if output.spec.internal => Ending::HandedOver,
                    None => self.send(output, pending, request, &mut reconnects).await.map_or_else(
                        |error| Ending::of_error(&output.spec, error),
                        |answer| Ending::of_answer(&output.spec, answer),
                    ),
                }
            }
            Err(mut failed) => {
                run = failed.run.take();
                Ending::Unanswered(failed.into())
            }
        };
        Report { ending, duration: started.elapsed(), transformed, run, reconnects }
    }

    /// Runs the output's function, unless there is none or an earlier attempt has run it.
    async fn transform(
        &self,
        bucket: &Bucket,
        output: &Output,
        pending: &Pending,
    ) -> Result<Option<Transformed>, FunctionFailed> {
        let Some(function) = output.spec.function_id.filter(|_| pending.processed.is_none()) else {
            return Ok(None);
        };
        let running = self.functions.run_of_output(function, bucket, output, &pending.webhook);
        Box::pin(running).await.map(Some)
    }

    /// Sends it, and again as long as the destination does not process it.
    async fn send(
        &self,
        output: &Output,
        pending: &Pending,
        request: &Request,
        reconnects: &mut Reconnects,
    ) -> Result<Answer, SendError> {
        let deadline = Deadline::after(outgoing::timeout(&output.spec));
        loop {
            let is_new = reconnects.needs_new_connection();
            match self.send_once(output, pending, request, deadline, is_new).await {
                Err(error) if reconnects.go_on_after(&error, deadline) => {}
                sent => return sent,
            }
        }
    }

    async fn send_once(
        &self,
        output: &Output,
        pending: &Pending,
        request: &Request,
        deadline: Deadline,
        new_connection: bool,
    ) -> Result<Answer, SendError> {
        let mut max_response_bytes = if self.waiters.is_awaited(pending.id) {
            self.options.max_answer_bytes
        } else {
            self.options.max_logged_response_bytes
        };
        if output.spec.success_when.is_some() {
            max_response_bytes = max_response_bytes.max(MAX_ANSWER_BYTES);
        }
        let mut outgoing = outgoing::outgoing(
            &output.spec,
            &pending.webhook,
            request,
            pending.id,
            max_response_bytes,
        )?;
        outgoing.new_connection = new_connection;
        name_replayed(pending, &mut outgoing.headers);
        self.observer.sending(pending, &mut outgoing.headers);
        let spec = &output.spec;
        if spec.has_credentials() {
            let sending = self.credentials.send(spec, &pending.webhook, outgoing, deadline);
            return Box::pin(sending).await;
        }
        self.destinations.send(outgoing, deadline).await
    }
}

/// What is sent of a delivery, with what its function made of it in this turn.
pub(super) fn sent_request<'a>(
    pending: &'a Pending,
    transformed: Option<&'a Request>,
) -> &'a Request {
    transformed.or(pending.processed.as_deref()).unwrap_or(&pending.webhook.request)
}

/// Whether the body of an answer is needed to know what becomes of the delivery.
const fn needs_body(spec: &OutputSpec) -> bool {
    spec.response_function_id.is_some() || spec.success_when.is_some()
}

/// Whether an answer with this status is a success, as far as the status says it.
fn is_success(spec: &OutputSpec, answer: &ForwardResponse) -> bool {
    let now = Timestamp::default();
    Outcome::of_answer(spec, answer.status, &answer.headers, now) == Outcome::Success
}

impl Ending {
    /// The end of an attempt with a whole answer.
    fn of_answer(spec: &OutputSpec, answer: Answer) -> Self {
        match (answer, &spec.success_when) {
            (Answer::Http(it), Some(rules))
                if is_success(spec, &it) && !rules.matches(it.status, &it.headers, &it.body) =>
            {
                Self::Unsuccessful(Box::new(it))
            }
            (answer, _) => Self::Answered(answer),
        }
    }

    /// The end of an attempt without a whole answer. The destination has said yes with the head
    /// of a success, unless its body matters, too.
    fn of_error(spec: &OutputSpec, mut error: SendError) -> Self {
        match error.head.take_if(|head| is_success(spec, head) && !needs_body(spec)) {
            Some(head) => Self::AnsweredInPart(head, error.kind),
            None => Self::Unanswered(AttemptFailure::Send(error)),
        }
    }

    /// Whether a request was made, or could not be made as it is.
    pub(super) fn is_attempt(&self) -> bool {
        matches!(
            self,
            Self::Answered(_)
                | Self::Unsuccessful(_)
                | Self::AnsweredInPart(..)
                | Self::Unanswered(AttemptFailure::Send(_))
        )
    }

    /// The outcome of an attempt to deliver to the output `spec`.
    pub(super) fn outcome(&self, spec: &OutputSpec, now: Timestamp) -> Option<Outcome> {
        let retryable = match self {
            Self::Answered(Answer::Http(it)) => {
                return Some(Outcome::of_answer(spec, it.status, &it.headers, now));
            }
            Self::Unsuccessful(_) => true,
            Self::Answered(Answer::Ack { .. }) | Self::AnsweredInPart(..) => {
                return Some(Outcome::Success);
            }
            Self::Answered(Answer::Nack { retryable, .. }) => *retryable,
            Self::Unanswered(AttemptFailure::Send(error)) => error.is_retryable(),
            _ => return None,
        };
        Some(if retryable { Outcome::Retryable { retry_after: None } } else { Outcome::Final })
    }

    /// Whether nothing was sent for a reason that is not the destination's and passes.
    pub(super) fn is_postponed(&self) -> bool {
        use AttemptFailure::{FunctionBusy, StoreUnavailable};
        matches!(self, Self::Unanswered(FunctionBusy(_) | StoreUnavailable(_)))
    }

    /// What a sender that waits for this delivery gets of it.
    pub(super) fn response(&self) -> Option<DestinationResponse> {
        match self {
            Self::Answered(Answer::Http(response)) => whole(response),
            Self::Unsuccessful(response) => whole(response),
            _ => None,
        }
    }

    /// The error of an answer, where its status alone does not say it.
    pub(super) fn error_of_answer(&self, spec: &OutputSpec) -> Option<String> {
        match self {
            Self::Unsuccessful(_) => Some("the answer does not pass success_when".to_owned()),
            Self::Answered(Answer::Http(it))
                if it.status.is_redirection() && !is_success(spec, it) =>
            {
                Some(redirect(it))
            }
            _ => None,
        }
    }

    /// The attempt as it is stored, with at most `max_body_bytes` of the answer.
    pub(super) fn into_attempt(self, duration: Duration, max_body_bytes: usize) -> Attempt {
        let answered = |status_code, response_headers, body: &Bytes| Attempt {
            status_code,
            response_headers,
            response_body: cut(body, max_body_bytes),
            duration,
            error: None,
        };
        let error = match self {
            Self::Answered(Answer::Http(ForwardResponse { status, headers, body, .. })) => {
                return answered(status.as_u16(), headers, &body);
            }
            Self::AnsweredInPart(head, _) | Self::Unsuccessful(head) => {
                let ForwardResponse { status, headers, body, .. } = *head;
                return answered(status.as_u16(), headers, &body);
            }
            Self::Answered(Answer::Ack { detail }) => {
                return answered(0, HeaderMap::new(), &detail);
            }
            Self::HandedOver => return Attempt::default(),
            Self::Unanswered(failure) => failure.to_string(),
            Self::Answered(Answer::Nack { reason, .. })
            | Self::Rejected(_, reason)
            | Self::Failed(_, reason) => reason,
        };
        Attempt { duration, error: Some(error), ..Attempt::default() }
    }
}

/// The response for a sender, if all of it was read.
fn whole(response: &ForwardResponse) -> Option<DestinationResponse> {
    let ForwardResponse { status, headers, body, truncated, .. } = response;
    let (status, headers, body) = (*status, headers.clone(), body.clone());
    (!truncated).then_some(DestinationResponse { status, headers, body })
}

/// How much of the target of a redirect an error says, in characters.
const SHOWN_TARGET: usize = 200;

/// The error of a redirect.
fn redirect(answer: &ForwardResponse) -> String {
    let status = answer.status.as_u16();
    let target =
        answer.headers.get(LOCATION).map(|target| String::from_utf8_lossy(target.as_bytes()));
    let to = target.map_or_else(String::new, |target| {
        let shown: String = target.chars().take(SHOWN_TARGET).collect();
        format!(" to {shown}")
    });
    format!("the answer was {status}{to}; redirects are not followed")
}
