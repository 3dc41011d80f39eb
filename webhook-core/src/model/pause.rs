//! When nothing leaves for an output: it is paused or disabled, and what waits keeps waiting.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{ExtensionObject, RateInterval};
use crate::clock::Timestamp;

/// How many pauses that are over are remembered one by one; the oldest two become one that
/// has the time between them, too, so that nothing expires early.
const REMEMBERED: usize = 16;
/// The rate after a pause when none was given: so many in the first ten seconds, a second.
const FIRST_RATE: u32 = 10;
/// How often that rate doubles before there is no bound but the output's own.
const DOUBLINGS: u32 = 10;
/// After how long it doubles.
const DOUBLING: Duration = Duration::from_secs(10);

/// What becomes of webhooks that come while an output is disabled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum OnDisabled {
    /// The output gets nothing of them.
    #[default]
    Skip,
    /// They wait until it is enabled, as in a pause. Those for connected clients are skipped.
    Park,
}

/// Who paused an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum PausedBy {
    /// Somebody who may change it.
    Caller,
    /// Its destination, by an answer of 410 (Gone).
    Gone,
    /// Its destination, which has failed for long. It is tried once an hour, and the pause ends
    /// when it works.
    Failing,
}

/// A pause: what is accepted for the output waits, and so does what waited already.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct Pause {
    /// When it began, in unix seconds; not there while the output is not paused.
    #[serde(rename = "paused_at")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<i64>, read_only))]
    pub at: Timestamp,
    /// When it ends by itself, in unix seconds; not there when it has no end.
    #[serde(rename = "paused_until", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<i64>, read_only))]
    pub until: Option<Timestamp>,
    /// Who paused it: `caller`; `gone` when the destination answered 410; `failing` when
    /// it failed for long, and then the pause ends by itself when it works.
    #[serde(rename = "paused_by")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<PausedBy>, read_only))]
    pub by: PausedBy,
    /// What the caller gave as the reason, for people.
    #[serde(rename = "pause_reason")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, read_only))]
    pub reason: String,
}

impl Pause {
    /// A pause by a caller.
    #[must_use]
    pub const fn new(at: Timestamp, until: Option<Timestamp>, reason: String) -> Self {
        Self { at, until, by: PausedBy::Caller, reason }
    }
}

/// A stretch of time in which nothing left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    from: Timestamp,
    to: Timestamp,
}

/// How fast what waited leaves after a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CatchUp {
    since: Timestamp,
    rate: Option<(u32, RateInterval)>,
}

/// The pauses of one output: the one that it is in, and the times of those that are over,
/// which do not count for deadlines.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Pauses {
    #[serde(flatten)]
    current: Option<Pause>,
    #[serde(skip)]
    disabled_at: Option<Timestamp>,
    /// In order of time, apart from each other.
    #[serde(skip)]
    past: Vec<Span>,
    #[serde(skip)]
    catch_up: Option<CatchUp>,
    /// What was stored before this moment is not sent any more.
    #[serde(skip)]
    discard_before: Option<Timestamp>,
}

impl Pauses {
    /// Whether the output has never been paused nor disabled.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The pause that the output is in at `now`.
    #[must_use]
    pub fn current(&self, now: Timestamp) -> Option<&Pause> {
        self.current.as_ref().filter(|pause| pause.until.is_none_or(|until| until > now))
    }

    /// Begins a pause, or changes the end and the reason of the one that there is.
    pub fn pause(&mut self, mut pause: Pause) {
        self.lapse(pause.at);
        if let Some(current) = &self.current {
            pause.at = current.at;
            // A person who pauses what failed decides when it goes on.
            if current.by != PausedBy::Failing {
                pause.by = current.by;
            }
        }
        self.current = Some(pause);
    }

    /// Ends the pause, if there is one. What waited leaves at `rate`, or, without one, at
    /// 10 a second, twice as fast each ten seconds until only the output's throttle bounds
    /// it.
    pub fn resume(&mut self, now: Timestamp, rate: Option<(u32, RateInterval)>) {
        self.lapse(now);
        if let Some(pause) = self.current.take() {
            self.ended(pause.at, now);
            self.catch_up = Some(CatchUp { since: now, rate });
        }
    }

    /// Of what waits for the end of the pause, what was stored before this moment is not to be
    /// sent then. Nothing changes while there is no pause.
    pub(crate) fn discard(&mut self, before: Timestamp, now: Timestamp) {
        if self.current(now).is_some() {
            self.discard_before = self.discard_before.max(Some(before));
        }
    }

    /// Whether what was stored at `created_at` is not sent any more.
    pub(crate) fn discards(&self, created_at: Timestamp) -> bool {
        self.discard_before.is_some_and(|before| created_at < before)
    }

    /// When the latest pause ended.
    pub(crate) fn resumed_at(&self) -> Option<Timestamp> {
        self.catch_up.map(|catch_up| catch_up.since)
    }

    /// Notes that the output is disabled, or no longer.
    pub(crate) fn set_disabled(&mut self, disabled: bool, now: Timestamp) {
        match (self.disabled_at, disabled) {
            (None, true) => self.disabled_at = Some(now),
            (Some(from), false) => {
                self.disabled_at = None;
                self.ended(from, now);
                self.catch_up = Some(CatchUp { since: now, rate: None });
            }
            _ => {}
        }
    }

    /// Ends a pause whose end has come.
    pub(crate) fn lapse(&mut self, now: Timestamp) {
        let is_over = |pause: &mut Pause| pause.until.is_some_and(|until| until <= now);
        if let Some(Pause { at, until: Some(until), .. }) = self.current.take_if(is_over) {
            self.ended(at, until);
            self.catch_up = Some(CatchUp { since: until, rate: None });
        }
    }

    /// How long of the time from `from` to `now` nothing left: deadlines are so much later.
    #[must_use]
    pub fn stood_still(&self, from: Timestamp, now: Timestamp) -> Duration {
        let current = self.current.as_ref().map(|pause| {
            let to = pause.until.map_or(now, |until| until.min(now));
            Span { from: pause.at, to }
        });
        let disabled = self.disabled_at.map(|from| Span { from, to: now });
        let mut spans = self.past.clone();
        spans.extend(current.into_iter().chain(disabled));
        let apart = joined(spans).into_iter();
        apart.map(|span| span.to.min(now).since(span.from.max(from))).sum()
    }

    /// How many of what was received before which moment may leave in what time; none
    /// when only the throttle bounds it.
    #[must_use]
    pub(crate) fn catch_up(&self, now: Timestamp) -> Option<(Timestamp, u32, Duration)> {
        let CatchUp { since, rate } = self.catch_up?;
        if let Some((rate, interval)) = rate {
            return Some((since, rate, interval.duration()));
        }
        let doublings = now.since(since).as_secs() / DOUBLING.as_secs();
        let doublings = u32::try_from(doublings).ok().filter(|times| *times < DOUBLINGS)?;
        Some((since, FIRST_RATE << doublings, Duration::from_secs(1)))
    }

    fn ended(&mut self, from: Timestamp, to: Timestamp) {
        self.past.push(Span { from, to });
        self.past = joined(std::mem::take(&mut self.past));
        while self.past.len() > REMEMBERED {
            let first = self.past.remove(0);
            if let Some(second) = self.past.first_mut() {
                second.from = first.from;
            }
        }
    }
}

/// The same time in spans that are apart and in order.
fn joined(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_unstable_by_key(|span| span.from);
    let mut apart: Vec<Span> = Vec::with_capacity(spans.len());
    for span in spans {
        match apart.last_mut() {
            Some(last) if span.from <= last.to => last.to = last.to.max(span.to),
            _ => apart.push(span),
        }
    }
    apart
}

/// [`Pauses`] as a store keeps them, in milliseconds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StoredPauses {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pause: Option<StoredPause>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    disabled_at: Option<i64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    past: Vec<(i64, i64)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    resumed: Option<(i64, Option<(u32, RateInterval)>)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    discard_before: Option<i64>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct StoredPause {
    at: i64,
    until: Option<i64>,
    by: PausedBy,
    reason: String,
}

impl ExtensionObject for StoredPauses {}

impl From<&Pauses> for StoredPauses {
    fn from(pauses: &Pauses) -> Self {
        let pause = pauses.current.as_ref().map(|Pause { at, until, by, reason }| StoredPause {
            at: at.as_millis(),
            until: until.map(Timestamp::as_millis),
            by: *by,
            reason: reason.clone(),
        });
        let past = pauses.past.iter().map(|span| (span.from.as_millis(), span.to.as_millis()));
        Self {
            pause,
            disabled_at: pauses.disabled_at.map(Timestamp::as_millis),
            past: past.collect(),
            resumed: pauses.catch_up.map(|CatchUp { since, rate }| (since.as_millis(), rate)),
            discard_before: pauses.discard_before.map(Timestamp::as_millis),
        }
    }
}

impl From<StoredPauses> for Pauses {
    fn from(stored: StoredPauses) -> Self {
        let at = Timestamp::from_millis;
        let current = stored.pause.map(|pause| Pause {
            at: at(pause.at),
            until: pause.until.map(at),
            by: pause.by,
            reason: pause.reason,
        });
        let past = stored.past.into_iter().map(|(from, to)| Span { from: at(from), to: at(to) });
        Self {
            current,
            disabled_at: stored.disabled_at.map(at),
            past: joined(past.collect()),
            catch_up: stored.resumed.map(|(since, rate)| CatchUp { since: at(since), rate }),
            discard_before: stored.discard_before.map(at),
        }
    }
}

/// Since when an output fails as a store keeps it, in milliseconds.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct StoredFailing {
    /// Since when.
    pub since: i64,
}

impl ExtensionObject for StoredFailing {}

/// What an output does while it is disabled as a store keeps it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct StoredDisabling {
    /// With what comes then.
    pub on_disabled: OnDisabled,
}

impl ExtensionObject for StoredDisabling {}

/// What a caller says of a pause.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct PauseRequest {
    /// For people, at most 1 000 bytes.
    pub reason: String,
    /// When it ends by itself, in unix seconds; 0 for no end.
    #[cfg_attr(feature = "openapi", schema(value_type = i64, default = 0))]
    pub until: Timestamp,
}

/// What a caller says of the end of a pause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ResumeRequest {
    /// How many of the webhooks that waited are sent in each `interval`, at most 1 000 000;
    /// 0 for 10 a second, twice as many each ten seconds. The output's throttle holds, too.
    pub rate: u32,
    /// The interval of `rate`.
    pub interval: RateInterval,
    /// What waited and was received before this moment is not sent, and `rejected` when its
    /// turn comes; in unix seconds, not after now; 0 for nothing.
    #[cfg_attr(feature = "openapi", schema(value_type = i64, default = 0))]
    pub discard_before: Timestamp,
}

#[cfg(test)]
mod tests;
