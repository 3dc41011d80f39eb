//! Moments where the interface wants them as text.

use webhook_core::Timestamp;

/// RFC 3339 in UTC, with milliseconds where there are any.
pub(crate) fn rfc3339(moment: Timestamp) -> String {
    // Every moment that a clock shows is within the range of dates.
    let moment = jiff::Timestamp::from_millisecond(moment.as_millis()).unwrap_or_default();
    moment.to_string()
}
