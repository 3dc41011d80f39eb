//! What is kept of how a delivery's turn ended, and what is answered of it.

use std::time::Duration;

use super::attempt::{AttemptFailure, Ending};
use crate::{
    body::cut, forward::ForwardResponse, model::Attempt, relay::waiters::DestinationResponse,
};

impl Ending {
    /// Whether a request was made, or could not be made as it is.
    pub(super) fn is_attempt(&self) -> bool {
        matches!(self, Self::Answered(_) | Self::Unanswered(AttemptFailure::Forward(_)))
    }

    /// Whether nothing was sent for a reason that is not the destination's and passes.
    pub(super) fn is_postponed(&self) -> bool {
        use AttemptFailure::{FunctionBusy, StoreUnavailable};
        matches!(self, Self::Unanswered(FunctionBusy(_) | StoreUnavailable(_)))
    }

    /// What a sender that waits for this delivery gets of it.
    pub(super) fn response(&self) -> Option<DestinationResponse> {
        match self {
            Self::Answered(response) if !response.truncated => {
                let ForwardResponse { status, headers, body, .. } = response.clone();
                Some(DestinationResponse { status, headers, body })
            }
            _ => None,
        }
    }

    /// What is stored of it, with so many bytes of the answer at most.
    pub(super) fn into_attempt(self, duration: Duration, max_body_bytes: usize) -> Attempt {
        match self {
            Self::Answered(response) => Attempt {
                status_code: response.status.as_u16(),
                response_headers: response.headers,
                response_body: cut(&response.body, max_body_bytes),
                duration,
                error: None,
            },
            Self::Unanswered(failure) => {
                Attempt { duration, error: Some(failure.to_string()), ..Attempt::default() }
            }
            Self::HandedOver => Attempt::default(),
            Self::Rejected(_, reason) | Self::Failed(_, reason) => {
                Attempt { duration, error: Some(reason), ..Attempt::default() }
            }
        }
    }
}
