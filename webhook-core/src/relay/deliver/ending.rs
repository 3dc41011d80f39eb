//! How a delivery's turn ended, and what that means.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, header::LOCATION};

use crate::{
    body::cut,
    clock::Timestamp,
    destination::{Answer, FailureKind, SendError},
    forward::ForwardResponse,
    model::{Attempt, OutputSpec, Reason},
    relay::{
        cluster::DestinationResponse,
        functions::{FunctionFailed, FunctionFailure},
    },
    retry::Outcome,
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
    pub(super) fn of_answer(spec: &OutputSpec, answer: Answer) -> Self {
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
    pub(super) fn of_error(spec: &OutputSpec, mut error: SendError) -> Self {
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
