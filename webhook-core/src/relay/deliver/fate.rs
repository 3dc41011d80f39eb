//! What becomes of a delivery after its turn, and why: decided without a look at what is
//! stored.

use std::time::Duration;

use super::{
    ending::{AttemptFailure, Ending},
    health::{PROBE, is_failed_try},
};
use crate::{
    clock::Timestamp,
    destination::Answer,
    model::{Bucket, DeliveryStatus, NotificationEvent, Output, Reason},
    relay::watch::{self, Watch},
    retry::{self, Next, Outcome, Progress},
    store::Pending,
};

/// How soon a delivery that could not be sent for want of room here is looked at
/// again, at least; at most twice that.
const POSTPONED: Duration = Duration::from_secs(1);

/// What becomes of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Ends(DeliveryStatus),
    /// It is left to clients.
    HandedOver,
    RetryAt(Timestamp),
}

impl Fate {
    pub(super) fn status(self) -> DeliveryStatus {
        match self {
            Self::Ends(status) => status,
            Self::HandedOver | Self::RetryAt(_) => DeliveryStatus::Received,
        }
    }

    pub(super) fn due_at(self) -> Option<Timestamp> {
        match self {
            Self::RetryAt(due_at) => Some(due_at),
            Self::Ends(_) | Self::HandedOver => None,
        }
    }
}

/// What becomes of a delivery of `output`, which may be gone.
pub(super) fn fate(
    ending: &Ending,
    outcome: Option<Outcome>,
    output: Option<&Output>,
    progress: Progress,
) -> Fate {
    if is_failed_try(output, ending, progress.now) {
        return Fate::RetryAt(progress.now + PROBE);
    }
    if let Some((outcome, output)) = outcome.zip(output) {
        return match retry::next(&output.spec, &progress, outcome, fastrand::f64()) {
            Next::Sent => Fate::Ends(DeliveryStatus::Sent),
            Next::RetryAt(due_at) => Fate::RetryAt(due_at),
            Next::GiveUp => Fate::Ends(DeliveryStatus::Failed),
        };
    }
    match ending {
        Ending::HandedOver => Fate::HandedOver,
        Ending::Rejected(..) => Fate::Ends(DeliveryStatus::Rejected),
        _ if ending.is_postponed() => postponed(output, progress),
        _ => Fate::Ends(DeliveryStatus::Failed),
    }
}

/// Why a delivery of `output` ended, unless it was sent.
pub(super) fn reason(
    ending: &Ending,
    outcome: Option<Outcome>,
    output: Option<&Output>,
    fate: Fate,
) -> Option<Reason> {
    if !matches!(fate, Fate::Ends(DeliveryStatus::Failed | DeliveryStatus::Rejected)) {
        return None;
    }
    Some(match ending {
        Ending::Failed(reason, _) | Ending::Rejected(reason, _) => *reason,
        Ending::Unanswered(AttemptFailure::FunctionFailed(_)) => Reason::Function,
        _ if ending.is_postponed() => Reason::Deadline,
        _ if output.is_none() => Reason::Cancelled,
        _ if outcome == Some(Outcome::Final) => Reason::DestinationRefused,
        _ => Reason::AttemptsExhausted,
    })
}

/// Sends the notifications of a delivery that has failed. `of_answer` is the error of its answer, where
/// the status alone does not say it.
pub(super) async fn tell(
    at: Option<(&Bucket, &Output)>,
    pending: &Pending,
    ending: &Ending,
    of_answer: Option<&str>,
    fate: Fate,
    watch: &Watch,
) {
    let Some((bucket, output)) = at else { return };
    if fate == Fate::Ends(DeliveryStatus::Failed) {
        let in_words = || match ending {
            Ending::Answered(Answer::Http(answer)) => watch::answered(answer.status.as_u16()),
            Ending::Unanswered(failure) => failure.to_string(),
            Ending::Answered(Answer::Nack { reason, .. })
            | Ending::Failed(_, reason)
            | Ending::Rejected(_, reason) => reason.clone(),
            Ending::Answered(Answer::Ack { .. })
            | Ending::AnsweredInPart(..)
            | Ending::Unsuccessful(_)
            | Ending::HandedOver => String::new(),
        };
        let error = || of_answer.map_or_else(in_words, str::to_owned);
        let event = NotificationEvent::DeliveryFailed;
        let hops = pending.webhook.checks.hops;
        watch.failed(bucket, event, output.id.as_uuid(), hops, error).await;
    }
}

/// When a delivery that was not sent is looked at again: soon, as often as it
/// takes, but not past the output's deadline.
fn postponed(output: Option<&Output>, progress: Progress) -> Fate {
    let at = progress.now + POSTPONED.mul_f64(1.0 + fastrand::f64());
    let deadline = output.map(|output| retry::deadline(&output.spec, progress.received_at));
    match deadline {
        Some(deadline) if deadline.is_none_or(|deadline| at <= deadline) => Fate::RetryAt(at),
        _ => Fate::Ends(DeliveryStatus::Failed),
    }
}
