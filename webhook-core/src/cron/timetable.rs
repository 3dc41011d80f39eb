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
//! Moments are milliseconds since 1970-01-01T00:00:00Z.
//!
//! ```
//! # #[cfg(feature = "time-zones")]
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use webhook_cron::Timetable;
//!
//! let timetable = Timetable::new("30 2 * * *", "Europe/Berlin", 0)?;
//! let saturday: jiff::Timestamp = "2026-03-28T12:00:00Z".parse()?;
//! // At 2 o'clock the clocks are set to 3: it runs then.
//! let expected: jiff::Timestamp = "2026-03-29T01:00:00Z".parse()?;
//! let next = timetable.next_after(saturday.as_millisecond());
//! assert_eq!(next, Some(expected.as_millisecond()));
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "time-zones"))]
//! # fn main() {}
//! ```

mod calendar;
mod every;
mod field;
mod of_month;
#[cfg(test)]
mod tests;

use std::time::Duration;

use jiff::tz::TimeZone;

use calendar::Calendar;
use every::Every;

/// What is wrong with a schedule, and in which field of the cron.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {reason}")]
#[non_exhaustive]
pub struct InvalidCron {
    /// `schedule`, `timezone` or `ends_at`.
    pub field: &'static str,
    /// What is wrong with it, and in which part of a schedule.
    pub reason: String,
}

/// What the schedule of a cron says.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Schedule {
    Calendar(Calendar),
    Every(Every),
}

impl Schedule {
    fn parse(text: &str) -> Result<Self, InvalidCron> {
        let fields = match text.trim() {
            "@yearly" | "@annually" => "0 0 1 1 *",
            "@monthly" => "0 0 1 * *",
            "@weekly" => "0 0 * * 0",
            "@daily" | "@midnight" => "0 0 * * *",
            "@hourly" => "0 * * * *",
            other => match other.strip_prefix("@every") {
                Some(period) => return Every::parse(period).map(Self::Every),
                None if other.starts_with('@') => {
                    return Err(invalid(format!(
                        "{other:?} is none of @yearly, @annually, @monthly, @weekly, @daily, \
                         @midnight, @hourly and @every"
                    )));
                }
                None => other,
            },
        };
        Calendar::parse(fields).map(Self::Calendar)
    }
}

/// The moments at which a cron runs.
#[derive(Clone, Debug)]
pub struct Timetable {
    schedule: Schedule,
    zone: TimeZone,
    /// From which periods are counted.
    created_at: i64,
    starts_at: Option<i64>,
    ends_at: Option<i64>,
}

impl Timetable {
    /// The timetable of a cron that was made at `created_at`. `timezone` is an IANA
    /// name in any case, or empty for UTC or the time zone that the schedule begins with.
    ///
    /// # Errors
    ///
    /// In `schedule`, with the part of it: what does not parse, a date that never
    /// comes (31 February). In `timezone`: an unknown time zone.
    pub fn new(schedule: &str, timezone: &str, created_at: i64) -> Result<Self, InvalidCron> {
        let (own_zone, schedule) = split_zone(schedule.trim());
        let schedule = Schedule::parse(schedule)?;
        let mut zone = zone(timezone)?;
        if let Some(own_zone) = own_zone {
            let own = self::zone(own_zone).map_err(|refusal| invalid(refusal.reason))?;
            if ![&own, &TimeZone::UTC].contains(&&zone) {
                let reason =
                    format!("the schedule begins with TZ={own_zone}: leave this field empty");
                return Err(InvalidCron { field: "timezone", reason });
            }
            zone = own;
        }
        Ok(Self { schedule, zone, created_at, starts_at: None, ends_at: None })
    }

    /// The same without the runs before `starts_at` and those after `ends_at`.
    ///
    /// # Errors
    ///
    /// In `ends_at`: an end before the start.
    pub fn between(
        self,
        starts_at: Option<i64>,
        ends_at: Option<i64>,
    ) -> Result<Self, InvalidCron> {
        if let (Some(start), Some(end)) = (starts_at, ends_at)
            && end < start
        {
            let reason = "must not be before starts_at".to_owned();
            return Err(InvalidCron { field: "ends_at", reason });
        }
        Ok(Self { starts_at, ends_at, ..self })
    }

    /// The first run after `after`, within `starts_at` and `ends_at`, both of
    /// which are included.
    #[must_use]
    pub fn next_after(&self, after: i64) -> Option<i64> {
        self.within_end(self.unbounded_next(after))
    }

    /// The run to make at `now` when the one of `due` has not been made: the
    /// earliest that is at most one period late. A run's period is the time to
    /// the next one. None when all of them are later than that.
    #[must_use]
    pub fn catch_up(&self, due: i64, now: i64) -> Option<i64> {
        let in_time = |run: i64| self.unbounded_next(run).is_none_or(|next| next >= now);
        if in_time(due) {
            return self.within_end(Some(due));
        }
        // The later, the more in time: the boundary is a run.
        let (mut late, mut found) = (due, now);
        while found - late > 1 {
            let middle = late + (found - late) / 2;
            match in_time(middle) {
                true => found = middle,
                false => late = middle,
            }
        }
        self.within_end(Some(found))
    }

    /// The IANA name of the time zone, spelled as IANA does.
    #[must_use]
    pub fn zone_name(&self) -> &str {
        self.zone.iana_name().unwrap_or("UTC")
    }

    /// The shortest time from one run to the next, as far as the clock is not set.
    #[must_use]
    pub fn shortest_period(&self) -> Duration {
        match &self.schedule {
            Schedule::Calendar(calendar) => calendar.shortest_period(),
            Schedule::Every(every) => every.period(),
        }
    }

    /// As [`next_after`](Self::next_after), past `ends_at` as well.
    fn unbounded_next(&self, after: i64) -> Option<i64> {
        let before_start = self.starts_at.map(|start| start.saturating_sub(1));
        let after = before_start.map_or(after, |before| before.max(after));
        match &self.schedule {
            Schedule::Calendar(calendar) => calendar.next_after(after, &self.zone),
            Schedule::Every(every) => {
                Some(every.next_after(after, self.created_at, self.starts_at))
            }
        }
    }

    fn within_end(&self, run: Option<i64>) -> Option<i64> {
        run.filter(|run| self.ends_at.is_none_or(|end| *run <= end))
    }
}

/// The name of the time zone before a schedule, and the schedule.
fn split_zone(schedule: &str) -> (Option<&str>, &str) {
    let named = ["TZ=", "CRON_TZ="].iter().find_map(|prefix| schedule.strip_prefix(prefix));
    match named.map(|rest| rest.split_once(' ').unwrap_or((rest, ""))) {
        Some((zone, schedule)) => (Some(zone), schedule.trim_start()),
        None => (None, schedule),
    }
}

/// The time zone of this IANA name, in any case; UTC for none.
fn zone(name: &str) -> Result<TimeZone, InvalidCron> {
    let found = match cfg!(feature = "time-zones") {
        true => any_zone(name),
        false => utc_alone(name),
    };
    found.map_err(|reason| InvalidCron { field: "timezone", reason })
}

fn any_zone(name: &str) -> Result<TimeZone, String> {
    if name.is_empty() {
        return Ok(TimeZone::UTC);
    }
    let known = TimeZone::get(name).ok().filter(|zone| !zone.is_unknown());
    known.ok_or_else(|| format!("{name:?} is not an IANA time zone such as Europe/London or UTC"))
}

/// Without the database a cron of another zone must not run at the hours of UTC.
fn utc_alone(name: &str) -> Result<TimeZone, String> {
    match name.is_empty() || name.eq_ignore_ascii_case("UTC") {
        true => Ok(TimeZone::UTC),
        false => Err(format!(
            "{name:?} is not UTC, and this program was built without the feature time-zones, \
             which has the others"
        )),
    }
}

fn invalid(reason: impl std::fmt::Display) -> InvalidCron {
    InvalidCron { field: "schedule", reason: reason.to_string() }
}
