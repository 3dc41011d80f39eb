//! How people type durations, moments, headers and pairs.

use std::time::Duration;

use http::{HeaderName, HeaderValue};
use jiff::{civil::Date, tz::TimeZone};

use crate::wire::{Headers, Timestamp};

/// The units, the longest first, in nanoseconds.
const UNITS: [(&str, u64); 6] = [
    ("d", 86_400_000_000_000),
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("ns", 1),
];

/// A number of seconds in nanoseconds, for the range of a duration.
#[must_use]
pub const fn seconds(count: i64) -> i64 {
    count * 1_000_000_000
}

/// A number of minutes in nanoseconds.
#[must_use]
pub const fn minutes(count: i64) -> i64 {
    seconds(count * 60)
}

/// A number of hours in nanoseconds.
#[must_use]
pub const fn hours(count: i64) -> i64 {
    minutes(count * 60)
}

/// A number of days in nanoseconds.
#[must_use]
pub const fn days(count: i64) -> i64 {
    hours(count * 24)
}

pub(super) fn duration(typed: &str) -> Result<Duration, String> {
    let help = || format!("{typed:?} is not a duration such as 500ms, 30s, 5m, 1h or 2d");
    let end = typed.find(|c: char| !c.is_ascii_digit()).unwrap_or(typed.len());
    let (number, unit) = typed.split_at(end);
    let number: u64 = number.parse().map_err(|_| help())?;
    if number == 0 && unit.is_empty() {
        return Ok(Duration::ZERO);
    }
    let factor = UNITS.iter().find(|(name, _)| *name == unit).map(|(_, factor)| *factor);
    let nanos = factor.and_then(|factor| number.checked_mul(factor)).ok_or_else(help)?;
    // The wire has signed numbers.
    i64::try_from(nanos).map(|_| Duration::from_nanos(nanos)).map_err(|_| help())
}

/// A duration as people type it: `30s`. Zero is an empty text.
#[must_use]
pub fn duration_text(duration: Duration) -> String {
    let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    match UNITS.iter().find(|(_, factor)| nanos.is_multiple_of(*factor)) {
        Some((name, factor)) if nanos > 0 => format!("{}{name}", nanos / factor),
        _ => String::new(),
    }
}

/// The refusal of a text that is no moment.
pub const NO_MOMENT: &str =
    "must be a day like 2026-01-31, a moment like 2026-01-31T12:00:00Z, or unix seconds";

/// Reads a day (UTC), a moment of RFC 3339, or unix seconds: answers where it begins, and where
/// it ends. None for anything else.
#[must_use]
pub fn moment(typed: &str) -> Option<(Timestamp, Timestamp)> {
    let millis = |moment: jiff::Timestamp| Timestamp::from_millis(moment.as_millisecond());
    if let Ok(seconds) = typed.parse::<i64>() {
        let end = Timestamp::from_secs(seconds.saturating_add(1));
        return Some((Timestamp::from_secs(seconds), end));
    }
    let day = typed.parse::<Date>().ok().filter(|_| typed.len() == 10);
    if let Some(zoned) = day.and_then(|day| day.to_zoned(TimeZone::UTC).ok()) {
        let start = millis(zoned.timestamp());
        return Some((start, start + Duration::from_secs(86_400)));
    }
    let start = millis(typed.parse::<jiff::Timestamp>().ok()?);
    Some((start, start + Duration::from_millis(1)))
}

pub(super) fn moment_text(moment: Timestamp) -> String {
    match jiff::Timestamp::from_millisecond(moment.as_millis()) {
        Ok(shown) if moment != Timestamp::default() => shown.to_string(),
        _ => String::new(),
    }
}

/// The lines that are not empty, with their numbers from 1 on.
pub(super) fn lines(typed: &str) -> impl Iterator<Item = (usize, &str)> {
    let numbered = typed.lines().enumerate().map(|(at, line)| (at + 1, line.trim()));
    numbered.filter(|(_, line)| !line.is_empty())
}

fn pair(number: usize, line: &str) -> Result<(&str, &str), String> {
    let (name, value) = line
        .split_once(':')
        .ok_or_else(|| format!("line {number} must be a name, a colon and a value"))?;
    Ok((name.trim(), value.trim()))
}

pub(super) fn pairs(typed: &str) -> Result<Vec<(String, String)>, String> {
    let pairs = lines(typed).map(|(number, line)| {
        pair(number, line).map(|(name, value)| (name.to_owned(), value.to_owned()))
    });
    pairs.collect()
}

pub(super) fn headers(typed: &str) -> Result<Headers, String> {
    let mut headers = Headers::default();
    for (number, line) in lines(typed) {
        let (name, value) = pair(number, line)?;
        let name =
            HeaderName::try_from(name).map_err(|_| format!("{name:?} is not a header name"))?;
        let value = HeaderValue::try_from(value)
            .map_err(|_| format!("line {number} has a value that no header can have"))?;
        headers.0.append(name, value);
    }
    Ok(headers)
}

pub(super) fn headers_text(headers: &Headers) -> String {
    let lines = headers.0.iter().map(|(name, value)| {
        format!("{}: {}", Headers::canonical_name(name), String::from_utf8_lossy(value.as_bytes()))
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_they_are_shown() {
        for text in ["1ns", "500ms", "30s", "90s", "5m", "1h", "36h", "2d"] {
            assert_eq!(duration(text).map(duration_text).as_deref(), Ok(text));
        }
        assert_eq!(duration_text(Duration::from_secs(60)), "1m");
        assert_eq!(duration("0"), Ok(Duration::ZERO));
        for wrong in ["", "5", "s", "-1s", "1.5s", "1 s", "99999999999d", "200000d"] {
            assert!(duration(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn days_moments_and_seconds_have_a_beginning_and_an_end() {
        let secs = Timestamp::from_secs;
        for (text, start, end) in [
            ("2023-11-14", secs(1_699_920_000), secs(1_700_006_400)),
            ("1700000000", secs(1_700_000_000), secs(1_700_000_001)),
            (
                "2023-11-14T22:13:20Z",
                secs(1_700_000_000),
                secs(1_700_000_000) + Duration::from_millis(1),
            ),
        ] {
            assert_eq!(moment(text), Some((start, end)), "{text}");
        }
        for wrong in ["", "soon", "2023-13-01", "2023-11-14T22:13"] {
            assert_eq!(moment(wrong), None, "{wrong}");
        }
    }
}
