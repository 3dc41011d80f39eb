//! When a cron job runs: [`CronSpec`] as a timetable of the crate `webhook-cron`, whose
//! documentation says what schedules mean, also where clocks are set.
//!
//! Other time zones than UTC need the feature `time-zones`, with which the IANA
//! database is part of the program. Without it a schedule that names one is refused.

use std::time::Duration;

use crate::{clock::Timestamp, error::Error, model::CronSpec};

/// The moments at which a cron runs.
///
/// ```
/// use webhook_core::{Timestamp, cron::Timetable, model::CronSpec};
///
/// let spec = CronSpec::new("30 2 * * *", "https://example.com/");
/// let timetable = Timetable::new(&spec, Timestamp::default())?;
/// let midnight = Timestamp::from_secs(1_709_251_200);
/// let expected = Timestamp::from_secs(1_709_251_200 + 150 * 60);
/// assert_eq!(timetable.next_after(midnight), Some(expected));
/// # Ok::<(), webhook_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Timetable(webhook_cron::Timetable);

impl Timetable {
    /// The timetable of a cron that was made at `created_at`.
    ///
    /// # Errors
    ///
    /// [`Invalid`](crate::ErrorKind::Invalid), with the field, and for
    /// `schedule` with the part of it: what does not parse, a date that never
    /// comes (31 February), an unknown time zone, an end before the start.
    pub fn new(spec: &CronSpec, created_at: Timestamp) -> Result<Self, Error> {
        let [start, end] = [spec.starts_at, spec.ends_at].map(|at| at.map(Timestamp::as_millis));
        webhook_cron::Timetable::new(&spec.schedule, &spec.timezone, created_at.as_millis())
            .and_then(|timetable| timetable.between(start, end))
            .map(Self)
            .map_err(|error| Error::invalid(error.field, error.reason))
    }

    /// The first run after `after`, within `starts_at` and `ends_at`, both of
    /// which are included.
    #[must_use]
    pub fn next_after(&self, after: Timestamp) -> Option<Timestamp> {
        self.0.next_after(after.as_millis()).map(Timestamp::from_millis)
    }

    /// The run to make at `now` when the one of `due` has not been made: the
    /// earliest that is at most one period late. A run's period is the time to
    /// the next one. None when all of them are later than that.
    #[must_use]
    pub fn catch_up(&self, due: Timestamp, now: Timestamp) -> Option<Timestamp> {
        self.0.catch_up(due.as_millis(), now.as_millis()).map(Timestamp::from_millis)
    }

    /// The IANA name of the time zone, spelled as IANA does.
    #[must_use]
    pub fn zone_name(&self) -> &str {
        self.0.zone_name()
    }

    /// The shortest time from one run to the next, as far as the clock is not set.
    #[must_use]
    pub fn shortest_period(&self) -> Duration {
        self.0.shortest_period()
    }
}
