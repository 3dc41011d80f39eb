//! What has happened to an output: what is stored of it, beside what was told.
//!
//! An output's state is stored before anybody is told, and what was told is noted with the
//! moment that the state has. So whoever looks finds the same happenings with the same moments,
//! also after a crash between the two.

use std::time::Duration;

use serde_json::{Value, json};

use crate::{
    clock::Timestamp,
    model::{NotificationEvent, Output, Pause},
    store::Notice,
};

/// Something that happened to an output.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Happening {
    pub(super) event: NotificationEvent,
    /// The same whoever looks, and later than those of former happenings of the kind.
    pub(super) moment: Timestamp,
    /// When it happened.
    pub(super) at: Timestamp,
    pub(super) detail: Value,
}

/// What happened to `output` that `told`, a notification's notices of it, does not have; and
/// when to look again though nothing changes.
pub(super) fn happenings(
    output: &Output,
    told: &[&Notice],
    now: Timestamp,
) -> (Vec<Happening>, Option<Timestamp>) {
    use NotificationEvent::{OutputFailing, OutputPaused, OutputRecovered, OutputResumed};
    let last = |event| told.iter().find(|notice| notice.event == event).map(|it| it.moment);
    let mut found = Vec::new();
    let mut pauses = output.pauses.clone();
    pauses.lapse(now);
    let pause = pauses.current(now);
    if let (Some(paused), Some(resumed)) = (last(OutputPaused), pauses.resumed_at())
        && pause.is_none_or(|pause| pause.at > paused)
        && resumed >= paused
        && last(OutputResumed).is_none_or(|told| told < paused)
    {
        let detail = json!({ "paused_at": rfc3339(paused) });
        found.push(Happening { event: OutputResumed, moment: paused, at: resumed, detail });
    }
    if let Some(Pause { at, until, by, reason }) = pause {
        let detail = json!({
            "paused_at": rfc3339(*at),
            "paused_until": until.map(rfc3339),
            "paused_by": by,
            "pause_reason": reason,
        });
        found.push(Happening { event: OutputPaused, moment: *at, at: *at, detail });
    }
    let mut again = pause.and_then(|pause| pause.until);
    if let Some(since) = last(OutputFailing)
        && output.failing_since.is_none_or(|now_since| now_since > since)
        && last(OutputRecovered).is_none_or(|told| told < since)
    {
        let detail = json!({ "failed_since": rfc3339(since) });
        found.push(Happening { event: OutputRecovered, moment: since, at: now, detail });
    }
    if let Some((since, told_at, wait)) = fails(output, now) {
        if wait.is_zero() {
            let detail = json!({ "failing_since": rfc3339(since) });
            found.push(Happening { event: OutputFailing, moment: since, at: told_at, detail });
        } else if output.paused_until(now).is_none() {
            again = Some(now + wait);
        }
    }
    found.retain(|happening| last(happening.event).is_none_or(|told| told < happening.moment));
    (found, again)
}

/// What has happened to the queue of an output when so many webhooks wait for it and `deep_at`
/// are many. What was told counts the turns that it took, so that of several nodes that look
/// each finds the same one.
pub(super) fn depth(
    waiting: u64,
    deep_at: u64,
    told: &[&Notice],
    now: Timestamp,
) -> Option<Happening> {
    let last = |event| told.iter().find(|notice| notice.event == event).map(|it| it.moment);
    let drained = last(NotificationEvent::QueueDrained).unwrap_or_default();
    let deep = last(NotificationEvent::QueueDeep).filter(|deep| *deep > drained);
    let (event, moment) = match deep {
        None if waiting >= deep_at => {
            (NotificationEvent::QueueDeep, drained + Duration::from_millis(1))
        }
        Some(deep) if waiting <= deep_at / 10 => (NotificationEvent::QueueDrained, deep),
        _ => return None,
    };
    let detail = json!({ "waiting": waiting, "queue_deep_at": deep_at });
    Some(Happening { event, moment, at: now, detail })
}

/// Since when the output fails, when that is told at the earliest, and how much longer until then.
fn fails(output: &Output, now: Timestamp) -> Option<(Timestamp, Timestamp, Duration)> {
    let health = output.spec.health.set().filter(|health| health.enabled)?;
    let since = output.failing_since.filter(|_| !health.notify_after.is_zero())?;
    let wait = health.notify_after.saturating_sub(output.has_failed_for(since, now));
    Some((since, since + health.notify_after, wait))
}

pub(super) fn rfc3339(moment: Timestamp) -> String {
    jiff::Timestamp::from_millisecond(moment.as_millis()).unwrap_or_default().to_string()
}
