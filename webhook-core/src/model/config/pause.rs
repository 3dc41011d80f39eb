//! When nothing leaves for an output: it is paused or disabled, and what waits keeps waiting.

use std::time::Duration;

use crate::wire::Choice;
use serde::{Deserialize, Serialize, Serializer, ser::SerializeMap};

use super::output::RateInterval;
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, Choice)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum OnDisabled {
    /// The output gets nothing of them.
    #[default]
    #[choice("are not stored for it")]
    Skip,
    /// They wait until it is enabled, as in a pause. Those for connected clients are skipped.
    #[choice("wait until it is enabled")]
    Park,
}

/// Who paused an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
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

    fn is_over(&self, now: Timestamp) -> bool {
        self.until.is_some_and(|until| until <= now)
    }
}

/// A change of the pauses of an output.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PauseChange {
    /// Begins a pause, or changes the end and the reason of the one by the same.
    Pause(Pause),
    /// Ends all pauses.
    Resume {
        /// When.
        at: Timestamp,
        /// How fast what waited leaves; without it ever faster.
        rate: Option<(u32, RateInterval)>,
        /// Deliveries that were stored before this moment are not sent any more.
        discard_before: Timestamp,
    },
    /// Ends the pause of an output that failed and works at this moment.
    Recover(Timestamp),
    /// Notes that the output is disabled, or enabled, from this moment on.
    Disable(bool, Timestamp),
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

/// The pauses of one output: those that it is in, one for each that paused it, and the times of
/// those that are over, which do not count for deadlines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pauses {
    /// In the order of who paused.
    current: Vec<Pause>,
    disabled_at: Option<Timestamp>,
    /// In order of time, apart from each other.
    past: Vec<Span>,
    catch_up: Option<CatchUp>,
    /// Deliveries that were stored before this moment are not sent any more.
    discard_before: Option<Timestamp>,
}

impl Serialize for Pauses {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.current.first() {
            Some(shown) => shown.serialize(serializer),
            None => serializer.serialize_map(Some(0))?.end(),
        }
    }
}

impl Pauses {
    /// Whether the output has never been paused nor disabled.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The pauses that have not ended, one for each party that paused the output.
    #[must_use]
    pub fn all(&self) -> &[Pause] {
        &self.current
    }

    /// The pause that the output is in at `now`; of several, that of a person.
    #[must_use]
    pub fn current(&self, now: Timestamp) -> Option<&Pause> {
        self.current.iter().find(|pause| !pause.is_over(now))
    }

    /// When the last of the pauses ends that the output is in at `now`, if that is known.
    pub(crate) fn until(&self, now: Timestamp) -> Option<Option<Timestamp>> {
        let current = self.current.iter().filter(|pause| !pause.is_over(now));
        let ends: Vec<_> = current.map(|pause| pause.until).collect();
        let last = ends.iter().flatten().max().copied();
        (!ends.is_empty()).then(|| last.filter(|_| ends.iter().all(Option::is_some)))
    }

    /// Changes the pauses.
    pub fn change(&mut self, change: PauseChange) {
        match change {
            PauseChange::Pause(pause) => self.pause(pause),
            PauseChange::Resume { at, rate, discard_before } => {
                self.discard(discard_before, at);
                self.resume(at, rate);
            }
            PauseChange::Recover(now) => self.recover(now),
            PauseChange::Disable(disabled, now) => self.set_disabled(disabled, now),
        }
    }

    /// Begins a pause, or changes the end and the reason of the one by the same.
    pub fn pause(&mut self, pause: Pause) {
        self.lapse(pause.at);
        match self.current.iter_mut().find(|current| current.by == pause.by) {
            Some(current) => *current = Pause { at: current.at, ..pause },
            None => self.current.push(pause),
        }
        self.current.sort_unstable_by_key(|pause| pause.by);
    }

    /// Ends all pauses. What waited leaves at `rate`, or, without one, at
    /// 10 a second, twice as fast each ten seconds until only the output's throttle bounds
    /// it.
    pub fn resume(&mut self, now: Timestamp, rate: Option<(u32, RateInterval)>) {
        self.lapse(now);
        self.end(now, rate, |_| true);
    }

    /// Ends the pause of an output that failed and works again.
    fn recover(&mut self, now: Timestamp) {
        self.lapse(now);
        self.end(now, None, |pause| pause.by == PausedBy::Failing);
    }

    fn end(
        &mut self,
        now: Timestamp,
        rate: Option<(u32, RateInterval)>,
        which: impl Fn(&Pause) -> bool,
    ) {
        let (over, current): (Vec<_>, Vec<_>) = self.current.drain(..).partition(which);
        self.current = current;
        for pause in &over {
            self.ended(pause.at, now);
        }
        if !over.is_empty() && self.current.is_empty() {
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

    /// Ends the pauses whose end has come.
    pub(crate) fn lapse(&mut self, now: Timestamp) {
        let (over, current): (Vec<_>, Vec<_>) =
            self.current.drain(..).partition(|pause| pause.is_over(now));
        self.current = current;
        for Pause { at, until, .. } in over {
            let until = until.unwrap_or(now);
            self.ended(at, until);
            if self.current.is_empty() {
                let since = self.resumed_at().map_or(until, |since| since.max(until));
                self.catch_up = Some(CatchUp { since, rate: None });
            }
        }
    }

    /// How long of the time from `from` to `now` nothing left: deadlines are so much later.
    #[must_use]
    pub fn stood_still(&self, from: Timestamp, now: Timestamp) -> Duration {
        let current = self.current.iter().map(|pause| {
            let to = pause.until.map_or(now, |until| until.min(now));
            Span { from: pause.at, to }
        });
        let disabled = self.disabled_at.map(|from| Span { from, to: now });
        let mut spans = self.past.clone();
        spans.extend(current.chain(disabled));
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

/// The part of [`Pauses`] that a store keeps as one text: all but the current pauses. Times are
/// in milliseconds.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct StoredPauses {
    #[serde(skip_serializing_if = "Option::is_none")]
    disabled_at: Option<i64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    past: Vec<(i64, i64)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resumed: Option<(i64, Option<(u32, RateInterval)>)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    discard_before: Option<i64>,
}

impl From<&Pauses> for StoredPauses {
    fn from(pauses: &Pauses) -> Self {
        let past = pauses.past.iter().map(|span| (span.from.as_millis(), span.to.as_millis()));
        Self {
            disabled_at: pauses.disabled_at.map(Timestamp::as_millis),
            past: past.collect(),
            resumed: pauses.catch_up.map(|CatchUp { since, rate }| (since.as_millis(), rate)),
            discard_before: pauses.discard_before.map(Timestamp::as_millis),
        }
    }
}

impl StoredPauses {
    /// All pauses: the stored part and the current pauses.
    #[must_use]
    pub fn with(self, mut current: Vec<Pause>) -> Pauses {
        let at = Timestamp::from_millis;
        let past = self.past.into_iter().map(|(from, to)| Span { from: at(from), to: at(to) });
        current.sort_unstable_by_key(|pause| pause.by);
        Pauses {
            current,
            disabled_at: self.disabled_at.map(at),
            past: joined(past.collect()),
            catch_up: self.resumed.map(|(since, rate)| CatchUp { since: at(since), rate }),
            discard_before: self.discard_before.map(at),
        }
    }
}

#[cfg(test)]
mod tests;
