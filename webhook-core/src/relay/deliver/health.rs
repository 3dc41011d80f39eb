//! What a delivery's turn tells of its destination.

use std::time::Duration;

use http::StatusCode;

use super::{
    circuit::Judged,
    ending::Ending,
    findings::{Findings, Found},
    queue::OutputQueue,
};
use crate::{
    clock::Timestamp,
    model::{Bucket, Output},
    retry::Outcome,
};

/// How long a destination fails before that is stored: one that fails now and then costs
/// nothing.
const NOTED_AFTER: Duration = Duration::from_secs(60);

/// How often an output that is paused because it fails is tried.
pub(super) const PROBE: Duration = Duration::from_secs(3600);

/// Since when an output fails, and when it is tried that is paused because of that.
#[derive(Debug, Default)]
pub(super) struct Failing {
    since: Option<Timestamp>,
    try_at: Option<Timestamp>,
    /// The next delivery that leaves is a try.
    is_tried: bool,
}

impl Failing {
    /// Notes how an attempt ended. Answers since when it fails.
    pub(super) fn judged(&mut self, judged: Judged, now: Timestamp) -> Option<Timestamp> {
        match judged {
            Judged::Works => self.since = None,
            Judged::Fails => self.since = self.since.or(Some(now)),
            Judged::Nothing => {}
        }
        self.since
    }

    /// The output is not paused.
    pub(super) fn goes_on(&mut self, has_health: bool) {
        *self = Self { since: self.since.filter(|_| has_health), ..Self::default() };
    }

    /// Whether it is time to try it, which is then begun.
    pub(super) fn try_again(&mut self, now: Timestamp) -> bool {
        self.is_tried = self.try_at.is_none_or(|at| at <= now);
        if self.is_tried {
            self.try_at = Some(now + PROBE);
        }
        self.is_tried
    }

    pub(super) const fn is_tried(&self) -> bool {
        self.is_tried
    }

    pub(super) const fn tried(&mut self) {
        self.is_tried = false;
    }

    /// Whether there is nothing to remember.
    pub(super) const fn is_empty(&self) -> bool {
        self.since.is_none()
    }
}

/// Whether it was a try of an output that is paused because it fails, and failed: that uses up
/// no attempt.
pub(super) fn is_failed_try(output: Option<&Output>, ending: &Ending, now: Timestamp) -> bool {
    let is_try = |output: &Output| !output.pauses.is_empty() && output.is_probed(now);
    output.is_some_and(|output| is_try(output) && Judged::of(ending, &output.spec) == Judged::Fails)
}

/// Tells the queue, whose circuit may open or close or which gets slow, and the findings, which
/// pause and resume outputs whose destination is gone, fails or works again.
pub(super) fn judge(
    queue: &OutputQueue,
    at: Option<(&Bucket, &Output)>,
    ending: &Ending,
    outcome: Option<Outcome>,
    now: Timestamp,
    findings: &Findings,
) {
    let Some((bucket, output)) = at else { return };
    let judged = Judged::of(ending, &output.spec);
    let failing = queue.judge(judged, now);
    let Some(health) = output.spec.health.set().filter(|health| health.enabled) else { return };
    let found = match (judged, failing) {
        (Judged::Works, _) if output.failing_since.is_some() || output.is_probed(now) => {
            Some(Found::Working)
        }
        (Judged::Fails, Some(since)) => {
            let failed_for = output.has_failed_for(output.failing_since.unwrap_or(since), now);
            let is_new = output.failing_since.is_none() && failed_for >= NOTED_AFTER;
            let gives_up = health.gives_up_after(failed_for) && !output.is_probed(now);
            (is_new || gives_up).then_some(Found::Failing(since))
        }
        _ => None,
    };
    if let Some(found) = found {
        findings.tell(bucket, output, found);
    }
    if let Ending::Answered(answer) = ending
        && answer.status() == Some(StatusCode::GONE)
        && health.pause_on_gone
        && outcome == Some(Outcome::Final)
    {
        findings.tell(bucket, output, Found::Gone);
    }
}
