//! Five fields: dates and times of the wall clock, and the moments they mean.

use std::time::Duration;

use jiff::{
    SignedDuration,
    civil::{Date, DateTime},
    tz::{AmbiguousOffset, TimeZone},
};

use crate::{
    InvalidCron,
    field::{FIELDS, Values},
    invalid,
};

/// The longest that a date can be away: 29 February on a given weekday comes
/// every 28 years, and every 40 over a century that has no leap day.
const HORIZON_YEARS: i16 = 50;

/// Above this a gap is no daylight saving.
const LONGEST_GAP: Duration = Duration::from_secs(3 * 60 * 60);

const MINUTE: SignedDuration = SignedDuration::from_mins(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Calendar {
    minutes: Values,
    hours: Values,
    days: Values,
    months: Values,
    weekdays: Values,
}

impl Calendar {
    pub(crate) fn parse(text: &str) -> Result<Self, InvalidCron> {
        let parts: Vec<_> = text.split_whitespace().collect();
        let [minute, hour, day, month, weekday] = parts[..] else {
            let [zone, ..] = parts[..] else { return Err(invalid("must not be empty")) };
            if zone.starts_with("TZ=") || zone.starts_with("CRON_TZ=") {
                return Err(invalid("the time zone belongs into the field timezone"));
            }
            return Err(invalid(format!(
                "must have five fields (minute, hour, day of month, month, day of week) or begin \
                 with @, not {} fields",
                parts.len()
            )));
        };
        let [minutes, hours, days, months, weekdays] = &FIELDS;
        let calendar = Self {
            minutes: minutes.parse(minute)?,
            hours: hours.parse(hour)?,
            days: days.parse(day)?,
            months: months.parse(month)?,
            weekdays: weekdays.parse(weekday)?,
        };
        match calendar.comes() {
            true => Ok(calendar),
            false => Err(days.wrong(format!("{day} never comes in the month {month}"))),
        }
    }

    /// Whether there is a day that matches.
    fn comes(&self) -> bool {
        let longest = |month| match month {
            2 => 29,
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        let first = self.days.from(1).unwrap_or(u8::MAX);
        let either = !self.days.star && !self.weekdays.star;
        either || self.months.iter().any(|month| first <= longest(month))
    }

    /// Whether the times are those of certain hours and minutes.
    const fn is_fixed(&self) -> bool {
        !self.minutes.star && !self.hours.star
    }

    pub(crate) fn shortest_period(&self) -> Duration {
        let of_hour = |hour| self.minutes.iter().map(move |minute| (hour, minute));
        let minutes = |(hour, minute): (u8, u8)| u64::from(hour) * 60 + u64::from(minute);
        let mut times = self.hours.iter().flat_map(of_hour).map(minutes);
        let first = times.next().unwrap_or_default();
        let (last, shortest) = times
            .fold((first, u64::MAX), |(last, shortest), time| (time, shortest.min(time - last)));
        // Over midnight, as if every day matched.
        let shortest = shortest.min(first + 24 * 60 - last);
        Duration::from_secs(shortest * 60)
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
        let mut candidate = minute_of(zone.to_datetime(after))?;
        loop {
            candidate = self.from(candidate)?;
            match moment(candidate, zone) {
                Some(moment) if moment > after => return Some(moment),
                _ => candidate = candidate.checked_add(MINUTE).ok()?,
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
            let minute = minute_of(shown)?;
            let minute = if minute < shown { minute.checked_add(MINUTE).ok()? } else { minute };
            let found = offset.to_timestamp(self.from(minute)?).ok()?;
            match zone.following(from).next().map(|change| change.timestamp()) {
                Some(change) if change <= found => from = change,
                _ => return Some(found),
            }
        }
    }

    /// The first date and time of the calendar that is not before `from`, a
    /// whole minute.
    fn from(&self, from: DateTime) -> Option<DateTime> {
        let horizon = from.year().checked_add(HORIZON_YEARS)?;
        let (mut date, mut time) = (from.date(), Some((from.hour(), from.minute())));
        while date.year() <= horizon {
            if !self.months.has(date.month().unsigned_abs()) {
                date = date.last_of_month().tomorrow().ok()?;
                time = None;
                continue;
            }
            let (hour, minute) = time.take().unwrap_or_default();
            if self.has_day(date)
                && let Some((hour, minute)) = self.time_from(hour, minute)
            {
                return Some(date.at(hour, minute, 0, 0));
            }
            date = date.tomorrow().ok()?;
        }
        None
    }

    fn has_day(&self, date: Date) -> bool {
        let weekday = date.weekday().to_sunday_zero_offset().unsigned_abs();
        let (day, weekday) = (self.days.has(date.day().unsigned_abs()), self.weekdays.has(weekday));
        match self.days.star || self.weekdays.star {
            true => day && weekday,
            false => day || weekday,
        }
    }

    fn time_from(&self, hour: i8, minute: i8) -> Option<(i8, i8)> {
        let (hour, minute) = (hour.unsigned_abs(), minute.unsigned_abs());
        let this_hour = self.minutes.from(minute).filter(|_| self.hours.has(hour));
        let (hour, minute) = match this_hour {
            Some(minute) => (hour, minute),
            None => (self.hours.from(hour + 1)?, self.minutes.from(0)?),
        };
        Some((i8::try_from(hour).ok()?, i8::try_from(minute).ok()?))
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

fn minute_of(shown: DateTime) -> Option<DateTime> {
    shown.with().second(0).subsec_nanosecond(0).build().ok()
}
