//! The time of a relay, and the identifiers that are made of it: both from sources that are
//! handed in, so that a test moves them.

mod ids;
mod store;
mod system;

use std::fmt;

use async_trait::async_trait;

pub use crate::wire::Timestamp;
pub use ids::{Ids, Random, SystemRandom};
pub(crate) use store::{Skew, StoreClock};
pub use system::SystemClock;

/// Waits for a moment; without one, for ever.
pub(crate) async fn sleep_until(clock: &dyn Clock, moment: Option<Timestamp>) {
    match moment {
        Some(moment) => clock.sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

/// A calendar month in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Month {
    /// Its first moment.
    pub start: Timestamp,
    /// The first moment after it.
    pub end: Timestamp,
}

impl Month {
    /// The month that `moment` lies in.
    ///
    /// ```
    /// use webhook_core::{Month, Timestamp};
    ///
    /// let month = Month::of(Timestamp::from_secs(1_709_251_199)); // 2024-02-29T23:59:59Z
    /// assert_eq!(month.start, Timestamp::from_secs(1_706_745_600));
    /// assert_eq!(month.end, Timestamp::from_secs(1_709_251_200));
    /// ```
    #[must_use]
    pub fn of(moment: Timestamp) -> Self {
        // Every moment that a clock shows is within the range of dates.
        let zoned = jiff::Timestamp::from_millisecond(moment.as_millis()).unwrap_or_default();
        let first = zoned.to_zoned(jiff::tz::TimeZone::UTC).date().first_of_month();
        let millis = |date: jiff::civil::Date| {
            let start = date.to_zoned(jiff::tz::TimeZone::UTC).ok();
            start.map_or(moment, |start| Timestamp::from_millis(start.timestamp().as_millisecond()))
        };
        let next = first.checked_add(jiff::Span::new().months(1)).unwrap_or(first);
        Self { start: millis(first), end: millis(next) }
    }
}

/// The only source of time. Stores take moments as arguments; everything else
/// asks the clock, so that a test can move it.
///
/// ```
/// use webhook_core::{Clock, Timestamp};
///
/// /// Always the same moment; who waits for a later one waits for ever.
/// #[derive(Debug)]
/// struct Stopped(Timestamp);
///
/// #[async_trait::async_trait]
/// impl Clock for Stopped {
///     fn now(&self) -> Timestamp {
///         self.0
///     }
///
///     async fn sleep_until(&self, moment: Timestamp) {
///         if moment > self.0 {
///             std::future::pending().await
///         }
///     }
/// }
/// ```
#[async_trait]
pub trait Clock: Send + Sync + fmt::Debug {
    /// The current moment.
    fn now(&self) -> Timestamp;

    /// What the clock of the machine shows, also when it was set back.
    fn machine_time(&self) -> Timestamp {
        self.now()
    }

    /// Returns when `moment` has come; at once if it has passed.
    async fn sleep_until(&self, moment: Timestamp);
}

/// A clock that runs with tokio's, so that a test with paused time moves it.
#[cfg(any(test, feature = "test-util"))]
#[derive(Clone, Copy, Debug)]
pub struct TokioClock {
    start: Timestamp,
    started: tokio::time::Instant,
}

#[cfg(any(test, feature = "test-util"))]
impl TokioClock {
    /// A clock that shows `start` now.
    #[must_use]
    pub fn starting_at(start: Timestamp) -> Self {
        Self { start, started: tokio::time::Instant::now() }
    }
}

#[cfg(any(test, feature = "test-util"))]
#[async_trait]
impl Clock for TokioClock {
    fn now(&self) -> Timestamp {
        self.start + self.started.elapsed()
    }

    async fn sleep_until(&self, moment: Timestamp) {
        tokio::time::sleep(moment.since(self.now())).await;
    }
}
