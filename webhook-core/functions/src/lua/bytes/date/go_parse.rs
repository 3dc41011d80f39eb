//! `time.parse` with a Go reference layout.

use super::civil::{Civil, DAY_SECONDS, days_before, days_in_month};
use super::go_chunk::{self, Chunk};
use super::go_scan::{
    Mismatch, digits, half, named, nanos, number, offset, skip, zone_name_length,
};
use super::zone::Zone;
use super::{Instant, MONTHS, WEEKDAYS};
use crate::lua::bytes::{Budget, Error};

/// What was read so far.
#[derive(Debug, Default)]
struct Parts<'v> {
    year: i64,
    month: Option<i64>,
    day: Option<i64>,
    year_day: Option<i64>,
    hour: i64,
    minute: i64,
    second: i64,
    nanos: u32,
    /// Whether the half of the day is the second.
    afternoon: Option<bool>,
    offset_seconds: Option<i64>,
    zone_name: Option<&'v [u8]>,
}

/// Reads `value` as Go's reference time is written in `layout`, which may also be the name of one of Go's layouts.
///
/// Without an offset or the name of a zone in the value, its time is that of `zone`. What the layout does not have
/// is that of the first of January of year 0.
///
/// # Errors
/// A value that is not written so, a part that is out of range, or the budget.
pub fn parse(
    value: &[u8],
    layout: &[u8],
    zone: &Zone,
    budget: &mut Budget,
) -> Result<Instant, Error> {
    budget.charge_scan(value.len())?;
    let whole_layout = go_chunk::resolve(layout);
    let failed = |what: String| {
        let (value, layout) = (shown(value), shown(whole_layout));
        Error::message(format!("parsing time {value:?} as {layout:?}: {what}"))
    };
    let cannot = |rest: &[u8], part: &[u8]| {
        failed(format!("cannot parse {:?} as {:?}", shown(rest), shown(part)))
    };
    let invalid = |what: &str| failed(what.to_owned());
    let mut parts = Parts::default();
    let (mut rest, mut layout) = (value, whole_layout);
    loop {
        let found = go_chunk::next(layout);
        let before = found.map_or(layout, |(before, ..)| before);
        budget.charge_scan(before.len() + 64)?;
        let at = skip(rest, before).ok_or_else(|| cannot(rest, before))?;
        let Some((_, chunk, behind)) = found else {
            rest = at;
            break;
        };
        let written = layout.get(before.len()..layout.len() - behind.len()).unwrap_or_default();
        rest = parts.read(chunk, at, behind).map_err(|mismatch| match mismatch {
            Mismatch::Text => cannot(at, written),
            Mismatch::Invalid(what) => invalid(what),
        })?;
        layout = behind;
    }
    if !rest.is_empty() {
        return Err(failed(format!("extra text: {:?}", shown(rest))));
    }
    let days = parts.days().map_err(invalid)?;
    let hour = match (parts.afternoon, parts.hour) {
        (Some(true), hour) if hour < 12 => hour + 12,
        (Some(false), 12) => 0,
        (_, hour) => hour,
    };
    let local = days * DAY_SECONDS + hour * 3_600 + parts.minute * 60 + parts.second;
    let seconds = match (parts.offset_seconds, parts.zone_name) {
        (Some(offset), _) => local - offset,
        // A name that the zone does not know counts as UTC, as in Go.
        (None, Some(name)) => {
            local - zone.offset_of(&String::from_utf8_lossy(name), local).unwrap_or(0)
        }
        (None, None) => zone.utc_seconds_in_go(local),
    };
    Ok(Instant { seconds, nanos: parts.nanos })
}

/// A text for a message, cut to a length that a log can take.
fn shown(text: &[u8]) -> String {
    String::from_utf8_lossy(text.get(..64).unwrap_or(text)).into_owned()
}

impl<'v> Parts<'v> {
    /// Reads one element; answers what is behind it. `layout` is what follows it there.
    fn read(&mut self, chunk: Chunk, value: &'v [u8], layout: &[u8]) -> Result<&'v [u8], Mismatch> {
        let mut rest = value;
        match chunk {
            Chunk::Year => {
                let year = digits(&mut rest, 2, 2)?;
                self.year = if year >= 69 { year + 1900 } else { year + 2000 };
            }
            Chunk::LongYear => self.year = digits(&mut rest, 4, 4)?,
            Chunk::Month => self.month = Some(named(&mut rest, &MONTHS, 3)? + 1),
            Chunk::LongMonth => self.month = Some(named(&mut rest, &MONTHS, usize::MAX)? + 1),
            Chunk::NumMonth | Chunk::ZeroMonth => {
                let least = if chunk == Chunk::NumMonth { 1 } else { 2 };
                self.month = Some(number(&mut rest, least, 1..=12, "month out of range")?);
            }
            // As in Go the weekday need not be that of the date.
            Chunk::Weekday => _ = named(&mut rest, &WEEKDAYS, 3)?,
            Chunk::LongWeekday => _ = named(&mut rest, &WEEKDAYS, usize::MAX)?,
            Chunk::Day => self.day = Some(digits(&mut rest, 1, 2)?),
            Chunk::UnderDay => {
                rest = rest.strip_prefix(b" ").unwrap_or(rest);
                self.day = Some(digits(&mut rest, 1, 2)?);
            }
            Chunk::ZeroDay => self.day = Some(digits(&mut rest, 2, 2)?),
            Chunk::UnderYearDay => {
                for _ in 0..2 {
                    rest = rest.strip_prefix(b" ").unwrap_or(rest);
                }
                self.year_day = Some(digits(&mut rest, 1, 3)?);
            }
            Chunk::ZeroYearDay => self.year_day = Some(digits(&mut rest, 3, 3)?),
            Chunk::Hour => self.hour = number(&mut rest, 1, 0..=23, "hour out of range")?,
            Chunk::Hour12 => self.hour = number(&mut rest, 1, 0..=12, "hour out of range")?,
            Chunk::ZeroHour12 => self.hour = number(&mut rest, 2, 0..=12, "hour out of range")?,
            Chunk::Minute => self.minute = number(&mut rest, 1, 0..=59, "minute out of range")?,
            Chunk::ZeroMinute => self.minute = number(&mut rest, 2, 0..=59, "minute out of range")?,
            Chunk::Second | Chunk::ZeroSecond => {
                let least = if chunk == Chunk::Second { 1 } else { 2 };
                self.second = number(&mut rest, least, 0..=59, "second out of range")?;
                // A fraction may follow even when the layout has none.
                if !matches!(go_chunk::next(layout), Some((_, Chunk::Fraction { .. }, _))) {
                    self.any_fraction(&mut rest);
                }
            }
            Chunk::UpperHalf => self.afternoon = Some(half(&mut rest, b"AM", b"PM")?),
            Chunk::LowerHalf => self.afternoon = Some(half(&mut rest, b"am", b"pm")?),
            Chunk::Offset(style) => self.offset_seconds = Some(offset(&mut rest, style)?),
            Chunk::ZoneName => match rest.strip_prefix(b"UTC") {
                Some(behind) => {
                    self.offset_seconds = Some(0);
                    rest = behind;
                }
                None => {
                    let len = zone_name_length(rest).ok_or(Mismatch::Text)?;
                    let (name, behind) = rest.split_at_checked(len).ok_or(Mismatch::Text)?;
                    self.zone_name = Some(name);
                    rest = behind;
                }
            },
            Chunk::Fraction { trim_zeros: true, .. } => self.any_fraction(&mut rest),
            Chunk::Fraction { digits, trim_zeros: false } => {
                let (text, behind) = rest.split_at_checked(digits + 1).ok_or(Mismatch::Text)?;
                self.nanos = nanos(text).ok_or(Mismatch::Text)?;
                rest = behind;
            }
        }
        Ok(rest)
    }

    /// Reads a point and all the digits behind it, if there are any.
    fn any_fraction(&mut self, rest: &mut &'v [u8]) {
        let len = 1 + rest.iter().skip(1).take_while(|byte| byte.is_ascii_digit()).count();
        if let Some((text, behind)) = rest.split_at_checked(len)
            && let Some(nanos) = nanos(text)
        {
            self.nanos = nanos;
            *rest = behind;
        }
    }

    /// Days from the start of 1970 to the date, or what of it is out of range.
    fn days(&self) -> Result<i64, &'static str> {
        let new_year = days_before(self.year, 1, 1);
        if let Some(year_day) = self.year_day {
            let days = new_year + year_day - 1;
            if year_day < 1 || days >= days_before(self.year + 1, 1, 1) {
                return Err("day-of-year out of range");
            }
            let civil = Civil::from_seconds(days * DAY_SECONDS);
            if self.month.is_some_and(|month| month != i64::from(civil.month)) {
                return Err("day-of-year does not match month");
            }
            if self.day.is_some_and(|day| day != i64::from(civil.day)) {
                return Err("day-of-year does not match day");
            }
            return Ok(days);
        }
        let (month, day) = (self.month.unwrap_or(1), self.day.unwrap_or(1));
        if day < 1 || day > days_in_month(self.year, month) {
            return Err("day out of range");
        }
        Ok(days_before(self.year, month, day))
    }
}
