//! The fields of a date table, and `os.time`, which reads them.

use super::civil::{Civil, DAY_SECONDS, days_before};
use super::zone::{Shown, Zone};
use crate::lua::bytes::{Arg, Budget, Error};

/// The fields that `os.date("*t")` returns and that `os.time` writes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DateTable {
    /// The year.
    pub year: i64,
    /// 1 to 12.
    pub month: i64,
    /// 1 to 31.
    pub day: i64,
    /// 0 to 23.
    pub hour: i64,
    /// 0 to 59.
    pub min: i64,
    /// 0 to 59.
    pub sec: i64,
    /// 1, which is Sunday, to 7.
    pub wday: i64,
    /// 1 to 366.
    pub yday: i64,
    /// Whether daylight saving time is in effect.
    pub isdst: bool,
}

impl DateTable {
    pub(super) fn new(civil: &Civil, shown: &Shown) -> Self {
        Self {
            year: civil.year,
            month: i64::from(civil.month),
            day: i64::from(civil.day),
            hour: i64::from(civil.hour),
            min: i64::from(civil.minute),
            sec: i64::from(civil.second),
            wday: i64::from(civil.weekday) + 1,
            yday: i64::from(civil.year_day),
            isdst: shown.daylight,
        }
    }
}

/// Whether C's `int` holds the year as C counts it, from 1900.
pub(super) const fn is_representable(year: i64) -> bool {
    year - 1900 >= i32::MIN as i64 && year - 1900 <= i32::MAX as i64
}

/// `os.time(table)`: seconds since 1970 in UTC, and the table's fields brought into their ranges.
///
/// `field` reads one field of the table: `year`, `month`, `day`, `hour`, `min`, `sec` or `isdst`.
///
/// # Errors
/// A field that is missing, no integer or out of bound; a result out of range; the budget.
pub fn time<'a>(
    mut field: impl FnMut(&'static str) -> Arg<'a>,
    zone: &Zone,
    budget: &mut Budget,
) -> Result<(i64, DateTable), Error> {
    let mut read = |name, default, delta| integer_field(field(name), name, default, delta, budget);
    let year = read("year", None, 1900)? + 1900;
    let month = read("month", None, 1)?;
    let day = read("day", None, 0)?;
    let hour = read("hour", Some(12), 0)?;
    let minute = read("min", Some(0), 0)?;
    let second = read("sec", Some(0), 0)?;
    let daylight = match field("isdst") {
        Arg::Nil => None,
        Arg::Bool(daylight) => Some(daylight),
        _ => Some(true),
    };
    // Each field fits in 32 bits, so none of this overflows.
    let days = days_before(year + month.div_euclid(12), month.rem_euclid(12) + 1, 1) + day - 1;
    let local = days * DAY_SECONDS + hour * 3_600 + minute * 60 + second;
    let mut seconds = zone.utc_seconds(local);
    match (daylight, zone.shown_at(seconds).daylight) {
        (Some(true), false) => seconds -= 3_600,
        (Some(false), true) => seconds += 3_600,
        _ => {}
    }
    let (civil, shown) = zone.civil_at(seconds);
    if !is_representable(civil.year) {
        return Err(Error::message("time result cannot be represented in this installation"));
    }
    Ok((seconds, DateTable::new(&civil, &shown)))
}

/// The integer in a field, less `delta`, as it must fit C's `int`.
fn integer_field(
    value: Arg<'_>,
    name: &str,
    default: Option<i64>,
    delta: i64,
    budget: &mut Budget,
) -> Result<i64, Error> {
    let Some(integer) = value.to_number(budget)?.and_then(super::super::number::Number::to_integer)
    else {
        return match (value, default) {
            (Arg::Nil, Some(default)) => Ok(default),
            (Arg::Nil, None) => {
                Err(Error::message(format!("field '{name}' missing in date table")))
            }
            _ => Err(Error::message(format!("field '{name}' is not an integer"))),
        };
    };
    integer
        .checked_sub(delta)
        .filter(|value| i32::try_from(*value).is_ok())
        .ok_or_else(|| Error::message(format!("field '{name}' is out-of-bound")))
}
