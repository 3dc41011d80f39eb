//! Lists of logs, and how queries are written.

use std::{fmt::Display, ops::RangeInclusive, str::FromStr, time::Duration};

use serde::Deserialize;

use super::{Admin, Caller};
use crate::{
    clock::Timestamp,
    error::Error,
    model::{DeliveryStatus, Log},
    store::{LogCursor, LogPage, LogQuery},
};

/// Logs on a page unless the caller says how many.
const DEFAULT_LIMIT: usize = 25;
/// Logs on a page at most.
const MAX_LIMIT: usize = 100;
/// The latest moment that has a date of four digits.
const LAST_SECOND: i64 = 253_402_300_799;

/// Which logs, as a caller writes it. Empty text is nothing said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct LogRequest {
    /// The bucket's ID or name.
    pub bucket: String,
    /// The status's name or integer.
    pub status: String,
    /// The first moment: `YYYY-MM-DD` (UTC), RFC 3339, or unix seconds.
    pub from: String,
    /// The last moment, inclusive: of a day, the whole day.
    pub to: String,
    /// Where the page before ended: its `next_cursor`.
    pub cursor: String,
    /// How many, 25; 1 to 100.
    pub limit: String,
    /// Skip so many.
    pub offset: String,
}

/// A page of logs.
#[derive(Clone, Debug, PartialEq)]
pub struct LogsPage {
    /// The logs, newest first.
    pub logs: Vec<Log>,
    /// How many match in all.
    pub total: u64,
    /// How many were asked for.
    pub limit: usize,
    /// How many were skipped.
    pub offset: u64,
    /// Where the page ends; none after the last.
    pub next: Option<LogCursor>,
}

impl Admin {
    /// A page of the logs of the account, newest first. An access token that
    /// reaches several buckets has to name one.
    pub async fn logs(&self, caller: &Caller, request: &LogRequest) -> Result<LogsPage, Error> {
        caller.require_api_access()?;
        let LogRequest { bucket, status, from, to, cursor, limit, offset } = request;
        let limit = number("limit", limit, 1..=MAX_LIMIT, DEFAULT_LIMIT)?;
        let offset = number("offset", offset, 0..=i64::MAX.unsigned_abs(), 0)?;
        let mut query = LogQuery {
            bucket_id: None,
            status: self::status(status)?,
            from: moment("from", from)?.map(|moment| moment.start),
            to: moment("to", to)?.map(Moment::end),
            before: place(cursor)?,
            offset,
            limit,
        };
        let reading = self.reading(caller, "bucket", bucket).await?;
        let Some(bucket_id) = reading.filter() else {
            return Ok(LogsPage { logs: Vec::new(), total: 0, limit, offset, next: None });
        };
        query.bucket_id = bucket_id;
        let page = self.stores.logs.logs(caller.account_id(), &query).await?;
        let LogPage { logs, total, has_more } = page;
        let next = logs.last().filter(|_| has_more).map(LogCursor::of);
        Ok(LogsPage { logs, total, limit, offset, next })
    }
}

/// A moment with the precision that it was written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment {
    pub(super) start: Timestamp,
    lasts: Duration,
}

impl Moment {
    /// The first moment after it.
    pub(super) fn end(self) -> Timestamp {
        self.start + self.lasts
    }
}

/// `YYYY-MM-DD`, RFC 3339, or unix seconds.
pub(super) fn moment(field: &str, text: &str) -> Result<Option<Moment>, Error> {
    if text.is_empty() {
        return Ok(None);
    }
    parse_moment(text).map(Some).ok_or_else(|| {
        Error::invalid(field, "must be YYYY-MM-DD, a time as in RFC 3339, or unix seconds")
    })
}

fn parse_moment(text: &str) -> Option<Moment> {
    let (second, day) = (Duration::from_secs(1), Duration::from_secs(24 * 60 * 60));
    if let Ok(secs) = text.parse::<i64>() {
        let start = Timestamp::from_secs(secs);
        return (0..=LAST_SECOND).contains(&secs).then_some(Moment { start, lasts: second });
    }
    if text.len() == 10 {
        let date: jiff::civil::Date = text.parse().ok()?;
        let start = date.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp().as_millisecond();
        return Some(Moment { start: Timestamp::from_millis(start), lasts: day });
    }
    // A `+` that a client forgot to escape arrives as a blank.
    let offset = text.rfind(' ').filter(|at| *at >= 19);
    let escaped = offset.map(|at| format!("{}+{}", &text[..at], &text[at + 1..]));
    let moment: jiff::Timestamp = escaped.as_deref().unwrap_or(text).parse().ok()?;
    let start = Timestamp::from_millis(moment.as_millisecond());
    let whole = moment.subsec_nanosecond() == 0;
    Some(Moment { start, lasts: if whole { second } else { Duration::from_millis(1) } })
}

/// A whole number, or its default.
pub(in crate::admin) fn number<T>(
    field: &str,
    text: &str,
    range: RangeInclusive<T>,
    default: T,
) -> Result<T, Error>
where
    T: FromStr + PartialOrd + Display,
{
    if text.is_empty() {
        return Ok(default);
    }
    text.parse().ok().filter(|number| range.contains(number)).ok_or_else(|| {
        let (least, most) = (range.start(), range.end());
        Error::invalid(field, format!("must be a whole number from {least} to {most}"))
    })
}

pub(super) fn status(text: &str) -> Result<Option<DeliveryStatus>, Error> {
    if text.is_empty() {
        return Ok(None);
    }
    let known = "preparing, sent, failed, stalled, received, rejected, or their integers 0 to 5";
    let status = DeliveryStatus::from_wire(text);
    status.map(Some).ok_or_else(|| Error::invalid("status", format!("must be one of {known}")))
}

pub(super) fn place(cursor: &str) -> Result<Option<LogCursor>, Error> {
    if cursor.is_empty() {
        return Ok(None);
    }
    cursor.parse().map(Some).map_err(|error| Error::invalid("cursor", error))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn range(text: &str) -> (i64, i64) {
        let moment = parse_moment(text).unwrap_or_else(|| panic!("{text:?} is a moment"));
        (moment.start.as_millis(), moment.end().as_millis())
    }

    #[test]
    fn moments_end_with_what_was_written() {
        let start = 1_704_164_645_000;
        assert_eq!(range("1704164645"), (start, start + 1_000));
        for same in [
            "2024-01-02T03:04:05Z",
            "2024-01-02T05:04:05+02:00",
            "2024-01-02T05:04:05 02:00",
            "2024-01-01T22:04:05-05:00",
        ] {
            assert_eq!(range(same), (start, start + 1_000), "{same}");
        }
        assert_eq!(range("2024-01-02T03:04:05.250Z"), (start + 250, start + 251));
        let day = 1_704_153_600_000;
        assert_eq!(range("2024-01-02"), (day, day + 86_400_000));
    }

    #[test]
    fn what_is_no_moment_is_refused_by_name() {
        for wrong in [
            "yesterday",
            "2024-13-01",
            "2024-01-02T03:04:05",
            "-5",
            "1704164645000",
            "99999999999999999999",
            "2024-01-02T03:04:0€ 1",
            "1.5",
        ] {
            let error = moment("from", wrong).expect_err(wrong);
            assert!(error.to_string().starts_with("from: "), "{error}");
        }
    }

    #[test]
    fn numbers_have_bounds_and_defaults() {
        assert_eq!(number("limit", "", 1..=100, 25_u64).ok(), Some(25));
        assert_eq!(number("limit", "100", 1..=100, 25_u64).ok(), Some(100));
        for wrong in ["0", "101", "-1", "ten", "1e1", "99999999999999999999999"] {
            let error = number("limit", wrong, 1..=100, 25_u64).expect_err(wrong);
            assert_eq!(error.to_string(), "limit: must be a whole number from 1 to 100");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_moment_or_refused(text in "\\PC{0,40}") {
            let _ = moment("to", &text);
            let _ = place(&text);
            let _ = status(&text);
        }
    }
}
