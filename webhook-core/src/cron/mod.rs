//! When a cron job runs: pure, without a clock and without a store.
//!
//! # Schedules
//!
//! Five fields, as in `crontab(5)`: minute (0-59), hour (0-23), day of month
//! (1-31), month (1-12 or `JAN`…`DEC`), day of week (0-7 or `SUN`…`SAT`, 0 and 7
//! are Sunday). A sixth field before them has the second (0-59). A field is a
//! list of values, ranges `a-b` and steps `*/n`, `a-b/n`, `a/n` (from `a` on);
//! `?` is `*` in the fields of days. When neither field of days begins with `*`,
//! a day that one of them names is enough, else both must match.
//!
//! Days that depend on the month, as in Quartz: `L` is the last day, `L-3` the
//! third before it, `LW` the last day from Monday to Friday, `15W` the one that
//! is nearest to the 15th within the month, `5L` or `FRIL` the last Friday, `5#2`
//! the second one.
//!
//! `TZ=Europe/Berlin` or `CRON_TZ=Europe/Berlin` before the fields names the time
//! zone of a schedule whose field for it is empty or UTC. `@yearly` (`@annually`), `@monthly`, `@weekly`, `@daily`
//! (`@midnight`) and `@hourly` stand for five fields. `@every 1h30m` runs each
//! time that this much has elapsed, counted from `starts_at`, which is its
//! first run, or from when the cron was made.
//!
//! Other time zones than UTC need the feature `time-zones`, with which the IANA
//! database is part of the program. Without it a schedule that names one is refused.
//!
//! # Clocks that are set
//!
//! As in Vixie cron. A schedule whose minute *and* hour do not begin with `*`
//! has *fixed times*. What falls into an hour that is skipped runs at the first
//! moment after it, once; what falls into an hour that comes twice runs in the
//! first of the two. (A gap of three hours or more is no daylight saving: what
//! falls into it does not run.) Any other schedule follows the clock on the
//! wall: it runs whenever that shows a matching time, so in both of the hours
//! and never in a skipped one. `@every` knows no clocks on walls.
//!
//! ```
//! # #[cfg(feature = "time-zones")]
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use webhook_core::{Timestamp, cron::Timetable, model::CronSpec};
//!
//! let mut spec = CronSpec::new("30 2 * * *", "https://example.com/");
//! spec.timezone = "Europe/Berlin".to_owned();
//! let timetable = Timetable::new(&spec, Timestamp::default())?;
//! let saturday: jiff::Timestamp = "2026-03-28T12:00:00Z".parse()?;
//! // At 2 o'clock the clocks are set to 3: it runs then.
//! let expected: jiff::Timestamp = "2026-03-29T01:00:00Z".parse()?;
//! let next = timetable.next_after(Timestamp::from_millis(saturday.as_millisecond()));
//! assert_eq!(next, Some(Timestamp::from_millis(expected.as_millisecond())));
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "time-zones"))]
//! # fn main() {}
//! ```

mod calendar;
mod every;
mod field;
mod of_month;
mod timetable;

use std::time::Duration;

use timetable::{InvalidCron, invalid};

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
pub struct Timetable(timetable::Timetable);

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
        timetable::Timetable::new(&spec.schedule, &spec.timezone, created_at.as_millis())
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
