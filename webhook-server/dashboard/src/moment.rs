//! Days and moments, as people type them.

use std::time::Duration;

use jiff::{civil::Date, tz::TimeZone};
use webhook_core::Timestamp;

/// What is said of a text that is none.
pub(crate) const EXPECTED: &str =
    "must be a day like 2026-01-31, a moment like 2026-01-31T12:00:00Z, or unix seconds";

const DAY: Duration = Duration::from_secs(86_400);

/// A day (UTC), a moment of RFC 3339, or unix seconds: where it begins, and where what comes
/// after it begins. None for anything else.
pub(crate) fn read(text: &str) -> Option<(Timestamp, Timestamp)> {
    let millis = |moment: jiff::Timestamp| Timestamp::from_millis(moment.as_millisecond());
    if let Ok(seconds) = text.parse::<i64>() {
        let end = Timestamp::from_secs(seconds.saturating_add(1));
        return Some((Timestamp::from_secs(seconds), end));
    }
    let day = text.parse::<Date>().ok().filter(|_| text.len() == 10);
    if let Some(zoned) = day.and_then(|day| day.to_zoned(TimeZone::UTC).ok()) {
        let start = millis(zoned.timestamp());
        return Some((start, start + DAY));
    }
    let start = millis(text.parse::<jiff::Timestamp>().ok()?);
    Some((start, start + Duration::from_millis(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

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
            assert_eq!(read(text), Some((start, end)), "{text}");
        }
        for wrong in ["", "soon", "2023-13-01", "2023-11-14T22:13"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
