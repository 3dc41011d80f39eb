//! Five or six fields: dates and times of the wall clock, and the moments they mean.

use std::time::Duration;

use jiff::{
    SignedDuration,
    civil::{Date, DateTime, Time},
    tz::{AmbiguousOffset, TimeZone},
};

use crate::cron::{
    InvalidCron,
    field::{FIELDS, Values},
    invalid,
    of_month::OfMonth,
};

/// The longest that a date can be away: 29 February on a given weekday comes
/// every 28 years, and every 40 over a century that has no leap day.
const HORIZON_YEARS: i16 = 50;

/// Above this a gap is no daylight saving.
const LONGEST_GAP: Duration = Duration::from_secs(3 * 60 * 60);

const SECOND: SignedDuration = SignedDuration::from_secs(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Calendar {
    seconds: Values,
    minutes: Values,
    hours: Values,
    days: Values,
    months: Values,
    weekdays: Values,
    of_month: OfMonth,
}

impl Calendar {
    pub(crate) fn parse(text: &str) -> Result<Self, InvalidCron> {
        let parts: Vec<_> = text.split_whitespace().collect();
        let (second, [minute, hour, day, month, weekday]) = match parts[..] {
            [a, b, c, d, e] => ("0", [a, b, c, d, e]),
            [second, a, b, c, d, e] => (second, [a, b, c, d, e]),
            [] => return Err(invalid("must not be empty")),
            _ => {
                return Err(invalid(format!(
                    "must have five fields (minute, hour, day of month, month, day of week), six \
                     with seconds before them, or begin with @, not {} fields",
                    parts.len()
                )));
            }
        };
        let [seconds, minutes, hours, days, months, weekdays] = &FIELDS;
        let mut of_month = OfMonth::default();
        let calendar = Self {
            seconds: seconds.parse(second)?,
            minutes: minutes.parse(minute)?,
            hours: hours.parse(hour)?,
            days: days.parse_with(day, |element| of_month.read_day(days, element))?,
            months: months.parse(month)?,
            weekdays: weekdays.parse_with(weekday, |it| of_month.read_weekday(weekdays, it))?,
            of_month,
        };
        // The years from 2000 on have each date on each weekday.
        match calendar.from(Date::constant(2000, 1, 1).at(0, 0, 0, 0)) {
            Some(_) => Ok(calendar),
            None => Err(days.wrong(format!("{day} never comes in the month {month}"))),
        }
    }

    /// Whether the times are those of certain hours and minutes.
    const fn is_fixed(&self) -> bool {
        !self.minutes.star && !self.hours.star
    }

    pub(crate) fn shortest_period(&self) -> Duration {
        let times = self.hours.iter().flat_map(|hour| {
            let of_hour = self.minutes.iter().map(move |minute| (hour * 60 + minute) * 60);
            of_hour.flat_map(|minute| self.seconds.iter().map(move |second| minute + second))
        });
        let mut times = times.peekable();
        let first = times.peek().copied().unwrap_or_default();
        let (last, shortest) = times
            .skip(1)
            .fold((first, u64::MAX), |(last, shortest), time| (time, shortest.min(time - last)));
        // Over midnight, as if every day matched.
        Duration::from_secs(shortest.min(first + 24 * 60 * 60 - last))
    }

    /// The first moment after `after`, both in milliseconds.
    pub(crate) fn next_after(&self, after: i64, zone: &TimeZone) -> Option<i64> {
        let after = jiff::Timestamp::from_millisecond(after).ok()?;
        let next = match self.is_fixed() {
            true => self.fixed_after(after, zone),
            false => self.shown_after(after, zone),
        };
        next.map(jiff::Timestamp::as_millisecond)
    }

    /// Fixed times: each date and time of the calendar means one moment. Later
    /// ones mean no earlier moment, so the first that is after `after` it is.
    fn fixed_after(&self, after: jiff::Timestamp, zone: &TimeZone) -> Option<jiff::Timestamp> {
        let mut candidate = second_of(zone.to_datetime(after))?;
        loop {
            candidate = self.from(candidate)?;
            match moment(candidate, zone) {
                Some(moment) if moment > after => return Some(moment),
                _ => candidate = candidate.checked_add(SECOND).ok()?,
            }
        }
    }

    /// The next moment at which the wall clock shows a time of the calendar:
    /// between two changes of the clock it runs as time does.
    fn shown_after(&self, after: jiff::Timestamp, zone: &TimeZone) -> Option<jiff::Timestamp> {
        let mut from = after.checked_add(SignedDuration::from_millis(1)).ok()?;
        loop {
            let offset = zone.to_offset(from);
            let shown = offset.to_datetime(from);
            let second = second_of(shown)?;
            let second = if second < shown { second.checked_add(SECOND).ok()? } else { second };
            let found = offset.to_timestamp(self.from(second)?).ok()?;
            match zone.following(from).next().map(|change| change.timestamp()) {
                Some(change) if change <= found => from = change,
                _ => return Some(found),
            }
        }
    }

    /// The first date and time of the calendar that is not before `from`, a
    /// whole second.
    fn from(&self, from: DateTime) -> Option<DateTime> {
        let horizon = from.year().checked_add(HORIZON_YEARS)?;
        let (mut date, mut time) = (from.date(), Some(from.time()));
        while date.year() <= horizon {
            if !self.months.has(date.month()) {
                date = date.last_of_month().tomorrow().ok()?;
                time = None;
                continue;
            }
            let earliest = time.take().unwrap_or_default();
            if self.has_day(date)
                && let Some(time) = self.time_from(earliest)
            {
                return Some(date.to_datetime(time));
            }
            date = date.tomorrow().ok()?;
        }
        None
    }

    fn has_day(&self, date: Date) -> bool {
        let day = self.days.has(date.day()) || self.of_month.has_day(date);
        let weekday = self.weekdays.has(date.weekday().to_sunday_zero_offset())
            || self.of_month.has_weekday(date);
        match self.days.star || self.weekdays.star {
            true => day && weekday,
            false => day || weekday,
        }
    }

    fn time_from(&self, from: Time) -> Option<Time> {
        let (hour, minute) = (from.hour(), from.minute());
        let (first_minute, first_second) = (self.minutes.from(0)?, self.seconds.from(0)?);
        let of_minute = self.seconds.from(from.second()).filter(|_| self.minutes.has(minute));
        let of_hour = || self.minutes.from(minute + 1).map(|minute| (hour, minute, first_second));
        let same = of_minute.map(|second| (hour, minute, second)).or_else(of_hour);
        let (hour, minute, second) = match same.filter(|_| self.hours.has(hour)) {
            Some(same) => same,
            None => (self.hours.from(hour + 1)?, first_minute, first_second),
        };
        Time::new(hour, minute, second, 0).ok()
    }
}

/// The moment that a date and time of a fixed schedule means.
fn moment(shown: DateTime, zone: &TimeZone) -> Option<jiff::Timestamp> {
    match zone.to_ambiguous_timestamp(shown).offset() {
        AmbiguousOffset::Unambiguous { offset } => offset.to_timestamp(shown).ok(),
        AmbiguousOffset::Fold { before, .. } => before.to_timestamp(shown).ok(),
        AmbiguousOffset::Gap { before, after } => {
            let gap = i64::from(after.seconds()) - i64::from(before.seconds());
            if gap.unsigned_abs() >= LONGEST_GAP.as_secs() {
                return None;
            }
            // By the clock as it will be set, this is shortly before it is.
            let just_before = after.to_timestamp(shown).ok()?;
            zone.following(just_before).next().map(|change| change.timestamp())
        }
    }
}

fn second_of(shown: DateTime) -> Option<DateTime> {
    shown.with().subsec_nanosecond(0).build().ok()
}
