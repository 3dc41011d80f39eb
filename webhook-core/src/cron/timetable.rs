//! A timetable in milliseconds since 1970-01-01T00:00:00Z, without a clock and without a store.

#[cfg(test)]
mod tests;

use std::time::Duration;

use jiff::tz::TimeZone;

use super::{calendar::Calendar, every::Every};

/// What is wrong with a schedule, and in which field of the cron.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {reason}")]
#[non_exhaustive]
pub(super) struct InvalidCron {
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
pub(super) struct Timetable {
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
    pub(super) fn new(
        schedule: &str,
        timezone: &str,
        created_at: i64,
    ) -> Result<Self, InvalidCron> {
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
    pub(super) fn between(
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
    pub(super) fn next_after(&self, after: i64) -> Option<i64> {
        self.within_end(self.unbounded_next(after))
    }

    /// The run to make at `now` when the one of `due` has not been made: the
    /// earliest that is at most one period late. A run's period is the time to
    /// the next one. None when all of them are later than that.
    #[must_use]
    pub(super) fn catch_up(&self, due: i64, now: i64) -> Option<i64> {
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
    pub(super) fn zone_name(&self) -> &str {
        self.zone.iana_name().unwrap_or("UTC")
    }

    /// The shortest time from one run to the next, as far as the clock is not set.
    #[must_use]
    pub(super) fn shortest_period(&self) -> Duration {
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

pub(super) fn invalid(reason: impl std::fmt::Display) -> InvalidCron {
    InvalidCron { field: "schedule", reason: reason.to_string() }
}
