//! What is remembered of an attempt, made of what is at hand when it ends.

use std::time::Duration;

use super::{
    ending::{AttemptFailure, Ending},
    reconnect::Unprocessed,
};
use crate::{
    clock::Timestamp,
    destination::Answer,
    forward::{
        Timings,
        history::{FailureKind, History, NextBecause, PastAttempt, Trigger},
    },
    model::Output,
    retry::Outcome,
    store::Pending,
};

/// A delivery's turn that is over.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ended<'a> {
    pub(super) ending: &'a Ending,
    pub(super) outcome: Option<Outcome>,
    /// The tries of the same attempt that the destination did not process.
    pub(super) reconnects: &'a [Unprocessed],
    /// How long it took until `now`.
    pub(super) duration: Duration,
    pub(super) now: Timestamp,
}

/// The attempts of a delivery after this one; none when it was no attempt, because then there is
/// nothing to add.
pub(super) fn after(
    pending: &Pending,
    output: Option<&Output>,
    ended: Ended<'_>,
    due_at: Option<Timestamp>,
) -> Option<History> {
    let Ended { ending, outcome, reconnects, duration, now } = ended;
    let (status_code, timings, failure) = match ending {
        Ending::Answered(Answer::Http(it)) => (it.status.as_u16(), it.timings, None),
        Ending::Unsuccessful(it) => {
            (it.status.as_u16(), it.timings, Some(FailureKind::Unsuccessful))
        }
        Ending::AnsweredInPart(head, kind) => (head.status.as_u16(), head.timings, Some(*kind)),
        Ending::Answered(Answer::Ack { .. }) => (0, Timings::default(), None),
        Ending::Answered(Answer::Nack { .. }) => (0, Timings::default(), Some(FailureKind::Nack)),
        Ending::Unanswered(AttemptFailure::Send(error)) => {
            (0, error.timings.as_deref().copied().unwrap_or_default(), Some(error.kind))
        }
        _ => return None,
    };
    let millis = i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
    let began = Timestamp::from_millis(now.as_millis().saturating_sub(millis));
    let number = pending.attempts.saturating_add(1);
    let trigger = trigger(pending, output, began);
    let mut attempt = PastAttempt::new(number, trigger, began.as_millis(), 0);
    attempt.queued = began.since(pending.due_at);
    let (mut history, mut at) = (None, began);
    for each in reconnects {
        at = at + each.timings.total;
        let next = Some((at.as_millis(), NextBecause::Reconnect));
        let unprocessed =
            PastAttempt { failure: Some(each.kind), timings: each.timings, next, ..attempt };
        history = Some(history.as_ref().unwrap_or(&pending.history).with(unprocessed));
        attempt = PastAttempt::new(number, Trigger::Reconnect, at.as_millis(), 0);
    }
    (attempt.status_code, attempt.failure) = (status_code, failure);
    // Another forwarder may not tell.
    let is_told = timings != Timings::default();
    attempt.timings = timings;
    if !is_told {
        attempt.timings.total = duration;
    }
    attempt.next = due_at.map(|due_at| (due_at.as_millis(), because(outcome, now, due_at)));
    Some(history.as_ref().unwrap_or(&pending.history).with(attempt))
}

/// Why an attempt was made that began at `at`. A delivery that was stored later than its
/// webhook was added to it.
fn trigger(pending: &Pending, output: Option<&Output>, at: Timestamp) -> Trigger {
    let paused = output.filter(|output| !output.pauses.is_empty());
    let resumed_at = paused.and_then(|output| output.pauses.resumed_at());
    match pending.attempts {
        _ if paused.is_some_and(|output| output.is_probed(at)) => Trigger::Probe,
        _ if resumed_at.is_some_and(|end| pending.due_at < end && end <= at) => Trigger::Resume,
        1.. => Trigger::Retry,
        0 if pending.replay.is_some() => Trigger::Replay,
        0 if pending.created_at == pending.webhook.received_at => Trigger::First,
        0 => Trigger::Resend,
    }
}

/// The schedule, unless the destination asked to be left alone for longer than that.
fn because(outcome: Option<Outcome>, now: Timestamp, due_at: Timestamp) -> NextBecause {
    match outcome {
        Some(Outcome::Retryable { retry_after: Some(asked) }) if due_at == now + asked => {
            NextBecause::RetryAfter
        }
        _ => NextBecause::Schedule,
    }
}
