//! When a delivery is tried again: pure functions of the output's settings, the
//! attempts so far, the time and a random number.
//!
//! ```
//! use std::time::Duration;
//! use webhook_core::{
//!     Timestamp,
//!     model::OutputSpec,
//!     retry::{self, Next, Outcome, Progress},
//! };
//!
//! let spec = OutputSpec::default();
//! let now = Timestamp::from_secs(1_700_000_000);
//! let first = Progress { attempts: 1, received_at: now, now };
//!
//! let unavailable = Outcome::Retryable { retry_after: None };
//! let in_a_second = Next::RetryAt(now + Duration::from_secs(1));
//! assert_eq!(retry::next(&spec, &first, unavailable, 0.5), in_a_second);
//!
//! let asked_to_wait = Outcome::Retryable { retry_after: Some(Duration::from_secs(30)) };
//! let when_asked = Next::RetryAt(now + Duration::from_secs(30));
//! assert_eq!(retry::next(&spec, &first, asked_to_wait, 0.5), when_asked);
//!
//! let third = Progress { attempts: 3, ..first };
//! assert_eq!(retry::next(&spec, &third, unavailable, 0.5), Next::GiveUp);
//! ```
//!
//! # Schedules
//!
//! Each delay counts from the end of the attempt before.
//!
//! | output | delays | the end |
//! |---|---|---|
//! | no `durability` | 1 s, 5 s, then for each of `retries` 10 s, 20 s, 40 s, 80 s, 160 s, 320 s, 600 s, 600 s, … | after 3 + `retries` attempts |
//! | … with `retries: -1` | none | after one attempt |
//! | `seconds` | 1 s, 2 s, 4 s, 8 s, 16 s, 32 s, 64 s, 128 s, 256 s, then 300 s | 25 min after receipt: 13 attempts |
//! | `medium` | 10 s, 20 s, 40 s, 80 s, 160 s, 320 s, 640 s, 1 280 s, 2 560 s, then 1 h | 16 h after receipt: 24 attempts |
//! | `long` | 30 s, 1 min, 2 min, 4 min, 8 min, 16 min, 32 min, 64 min, 128 min, 256 min, 512 min, 1 024 min, then 24 h | 30 d after receipt: 41 attempts |
//! | `custom` | as listed, then the last again | `deadline` after receipt; when that is 0, once each is used |
//!
//! The attempts are those to a destination that fails at once and without
//! jitter; slow failures leave time for fewer. A `deadline` that is not 0 also
//! ends a preset early. With `durability`, `retries` has no effect.
//!
//! # Deadlines
//!
//! No attempt starts later than the [`deadline`]: the end above. (A throttle's
//! `deadline` bounds the waiting for the first attempt, not the retries.) A
//! retry that would start later is not made, so
//! that a delivery is given up when its last attempt fails, not at the deadline.
//!
//! # Jitter
//!
//! A delay is varied by up to 10 % either way, so that deliveries that failed
//! together are not tried again together. A `Retry-After` is no estimate but a
//! demand, and not varied.

use std::time::Duration;

use http::{HeaderMap, StatusCode, header::RETRY_AFTER};

use crate::{
    clock::Timestamp,
    forward::{ForwardError, ForwardResponse},
    model::{OutputSpec, RetrySchedule, config::outcomes::OutcomeList},
};

pub use crate::model::config::output::{MAX_CUSTOM_DELAYS, MAX_RETRIES};

/// The shortest of `custom_delays`.
pub const MIN_CUSTOM_DELAY: Duration = Duration::from_secs(1);
/// The longest `deadline`, and the longest of `custom_delays`.
pub const MAX_DEADLINE: Duration = Duration::from_secs(30 * 24 * 3600);
/// How long a destination's `Retry-After` can put the next attempt off.
pub const MAX_RETRY_AFTER: Duration = Duration::from_secs(24 * 3600);

/// A `Retry-After` that is further ahead than this is no estimate, and counts as none.
const FAR_AHEAD: Duration = Duration::from_secs(365 * 24 * 3600);

/// By which part of itself a delay varies at most, either way.
const JITTER: f64 = 0.1;

/// What an attempt came to, as far as retrying is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The destination took it: 2xx.
    Success,
    /// Another attempt could end differently: no answer, 408, 425, 429, 5xx other than 501
    /// and 508.
    Retryable {
        /// How long the destination asked to be left alone, with 429 and 503.
        retry_after: Option<Duration>,
    },
    /// Another attempt would end the same: any other answer, redirects
    /// included, or a request that cannot be sent.
    Final,
}

impl Outcome {
    /// What `result`, which came `now`, comes to.
    #[must_use]
    pub fn of(result: Result<&ForwardResponse, &ForwardError>, now: Timestamp) -> Self {
        match result {
            Ok(response) => Self::of_response(response.status, &response.headers, now),
            Err(error) if error.is_retryable() => Self::Retryable { retry_after: None },
            Err(_) => Self::Final,
        }
    }

    /// What an answer with this status and these headers comes to.
    #[must_use]
    pub fn of_response(status: StatusCode, headers: &HeaderMap, now: Timestamp) -> Self {
        match status.as_u16() {
            200..=299 => Self::Success,
            429 | 503 => Self::Retryable { retry_after: retry_after(headers, now) },
            // Another attempt would continue the loop (RFC 5842 section 7.2).
            501 | 508 => Self::Final,
            408 | 425 | 500..=599 => Self::Retryable { retry_after: None },
            _ => Self::Final,
        }
    }
}

impl Outcome {
    /// What an answer of the destination of the output `spec` comes to. The codes in its
    /// [`outcomes`](OutputSpec::outcomes) come before the usual ones, and after a code in `retry`
    /// the destination may ask for time.
    #[must_use]
    pub(crate) fn of_answer(
        spec: &OutputSpec,
        status: StatusCode,
        headers: &HeaderMap,
        now: Timestamp,
    ) -> Self {
        match spec.outcomes.set().and_then(|outcomes| outcomes.list_of(status)) {
            None => Self::of_response(status, headers, now),
            Some(OutcomeList::Success) => Self::Success,
            Some(OutcomeList::Retry) => Self::Retryable { retry_after: retry_after(headers, now) },
            Some(OutcomeList::Final) => Self::Final,
        }
    }
}

/// How far a delivery has come.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// The attempts so far, the one that just ended among them.
    pub attempts: u32,
    /// When the webhook was received.
    pub received_at: Timestamp,
    /// When the attempt ended.
    pub now: Timestamp,
}

/// What becomes of a delivery after an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// It is done.
    Sent,
    /// The next attempt is due at this moment.
    RetryAt(Timestamp),
    /// It has failed.
    GiveUp,
}

/// What becomes of a delivery to the output `spec` after an attempt that came
/// to `outcome`.
///
/// `jitter` is a random number from 0 to 1, where 0.5 leaves the delay as it is;
/// anything outside is taken as the nearest of these. The next attempt is due
/// neither before the schedule says nor before `retry_after`, which counts up to
/// [`MAX_RETRY_AFTER`].
#[must_use]
pub fn next(spec: &OutputSpec, progress: &Progress, outcome: Outcome, jitter: f64) -> Next {
    let retry_after = match outcome {
        Outcome::Success => return Next::Sent,
        Outcome::Final => return Next::GiveUp,
        Outcome::Retryable { retry_after } => retry_after.unwrap_or_default(),
    };
    let Some(delay) = delay_after(spec, progress.attempts) else { return Next::GiveUp };
    let at = progress.now + jittered(delay, jitter).max(retry_after.min(MAX_RETRY_AFTER));
    match deadline(spec, progress.received_at) {
        Some(deadline) if at > deadline => Next::GiveUp,
        _ => Next::RetryAt(at),
    }
}

/// The delay between attempt number `attempts` and the next, before jitter; none
/// when that is the last one whatever the time.
#[must_use]
pub fn delay_after(spec: &OutputSpec, attempts: u32) -> Option<Duration> {
    let Some(attempts_before) = attempts.checked_sub(1) else { return Some(Duration::ZERO) };
    if !spec.durability.enabled {
        return match attempts_before {
            _ if spec.retries < 0 => None,
            0 => Some(Duration::from_secs(1)),
            1 => Some(Duration::from_secs(5)),
            retry => {
                let retry = retry - 2;
                let ten_minutes = Duration::from_secs(600);
                (i64::from(retry) < i64::from(spec.retries))
                    .then(|| doubling(Duration::from_secs(10), ten_minutes, retry))
            }
        };
    }
    if let Some(Preset { first, longest, .. }) = preset(spec.durability.schedule) {
        return Some(doubling(first, longest, attempts_before));
    }
    let delays = &spec.durability.custom_delays;
    let index = usize::try_from(attempts_before).unwrap_or(usize::MAX);
    let repeated = || delays.last().filter(|_| !spec.durability.deadline.is_zero());
    delays.get(index).or_else(repeated).copied()
}

/// The moment after which no attempt to deliver to the output `spec` starts, if
/// there is one.
#[must_use]
pub fn deadline(spec: &OutputSpec, received_at: Timestamp) -> Option<Timestamp> {
    let not_zero = |duration: Duration| (!duration.is_zero()).then_some(duration);
    let durability = spec.durability.enabled.then(|| {
        let span = preset(spec.durability.schedule).map(|preset| preset.span);
        span.into_iter().chain(not_zero(spec.durability.deadline)).min()
    });
    durability.flatten().map(|duration| received_at + duration)
}

/// How long after `now` a destination asks to be left alone in its
/// `Retry-After` header, which holds seconds or a date (RFC 9110 section
/// 10.2.3). None without one that can be read, and for more than a year; zero for a
/// date that has passed; at most [`MAX_RETRY_AFTER`].
#[must_use]
pub fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    let asked = if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        // Only a number that is far over a year does not fit.
        Duration::from_secs(text.parse().unwrap_or(u64::MAX))
    } else {
        let date = httpdate::parse_http_date(text).ok()?;
        let since_1970 = date.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        (Timestamp::default() + since_1970).since(now)
    };
    (asked <= FAR_AHEAD).then(|| asked.min(MAX_RETRY_AFTER))
}

/// Delays that double from `first` to `longest`, until `span` after receipt.
struct Preset {
    first: Duration,
    longest: Duration,
    span: Duration,
}

fn preset(schedule: RetrySchedule) -> Option<Preset> {
    let (first, longest, span) = match schedule {
        RetrySchedule::Seconds => (1, 5 * 60, 25 * 60),
        RetrySchedule::Medium => (10, 3600, 16 * 3600),
        RetrySchedule::Long => (30, 24 * 3600, 30 * 24 * 3600),
        RetrySchedule::Custom => return None,
    };
    let [first, longest, span] = [first, longest, span].map(Duration::from_secs);
    Some(Preset { first, longest, span })
}

fn doubling(first: Duration, longest: Duration, doublings: u32) -> Duration {
    let factor = 1_u32.checked_shl(doublings).unwrap_or(u32::MAX);
    first.saturating_mul(factor).min(longest)
}

fn jittered(delay: Duration, jitter: f64) -> Duration {
    let jitter = if jitter.is_nan() { 0.5 } else { jitter.clamp(0.0, 1.0) };
    let factor = 1.0 + JITTER * (2.0 * jitter - 1.0);
    Duration::try_from_secs_f64(delay.as_secs_f64() * factor).unwrap_or(delay)
}

#[cfg(test)]
mod tests;
