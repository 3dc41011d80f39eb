//! What a query string says, each field of which is text. Empty text says nothing.

use std::{fmt::Display, ops::RangeInclusive, str::FromStr, time::Duration};

use serde::Deserialize;
use utoipa::IntoParams;
use webhook_core::{
    Error, Id, Timestamp,
    admin::BucketRef,
    model::{DeliveryStatus, Reason},
    store::{LogCursor, Page},
};

/// The longest page of a list of configured things.
const MAX_LIMIT: usize = 100_000;
/// The last place at which such a page begins.
const MAX_OFFSET: usize = 1_000_000_000;

/// The latest moment that has a date of four digits.
const LAST_SECOND: i64 = 253_402_300_799;

/// Which part of a list of configured things.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub(crate) struct PageRequest {
    /// How many; all when it is not said
    #[param(value_type = u64, minimum = 1, maximum = 100_000)]
    limit: String,
    /// How many to skip
    #[param(value_type = u64, maximum = 1_000_000_000)]
    offset: String,
}

impl PageRequest {
    pub(crate) fn read(&self) -> Result<Page, Error> {
        let Page { limit, offset } = Page::ALL;
        Ok(Page {
            limit: number("limit", &self.limit, 1..=MAX_LIMIT, limit)?,
            offset: number("offset", &self.offset, 0..=MAX_OFFSET, offset)?,
        })
    }
}

/// The ID or the name of a bucket.
pub(crate) fn bucket(text: String) -> Option<BucketRef> {
    (!text.is_empty()).then(|| text.into())
}

/// A moment with the precision that it was written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    pub(crate) start: Timestamp,
    lasts: Duration,
}

impl Moment {
    /// The first moment after it.
    pub(crate) fn end(self) -> Timestamp {
        self.start + self.lasts
    }
}

/// What `read` makes of a text, unless it is empty.
fn unless_empty<T, E: Display>(
    field: &str,
    text: &str,
    read: impl FnOnce(&str) -> Result<T, E>,
) -> Result<Option<T>, Error> {
    if text.is_empty() {
        return Ok(None);
    }
    read(text).map(Some).map_err(|reason| Error::invalid(field, reason))
}

/// `YYYY-MM-DD`, RFC 3339, or unix seconds.
pub(crate) fn moment(field: &str, text: &str) -> Result<Option<Moment>, Error> {
    unless_empty(field, text, |text| {
        parse_moment(text).ok_or("must be YYYY-MM-DD, a time as in RFC 3339, or unix seconds")
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
pub(crate) fn number<T>(
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

/// The name or the integer of a status.
pub(crate) fn status(text: &str) -> Result<Option<DeliveryStatus>, Error> {
    unless_empty("status", text, |text| {
        DeliveryStatus::from_wire(text).ok_or(
            "must be one of preparing, sent, failed, stalled, received, rejected, or their \
             integers 0 to 5",
        )
    })
}

/// Why logs ended as they did.
pub(crate) fn reason(word: &str) -> Result<Option<Reason>, Error> {
    let known = || Reason::ALL.map(Reason::as_str).join(", ");
    unless_empty("reason", word, |word| {
        Reason::from_wire(word).ok_or_else(|| format!("must be one of {}", known()))
    })
}

/// Yes or no.
pub(crate) fn truth(field: &str, text: &str) -> Result<Option<bool>, Error> {
    unless_empty(field, text, |text| text.parse().map_err(|_| "must be true or false"))
}

/// A place between two logs.
pub(crate) fn place(cursor: &str) -> Result<Option<LogCursor>, Error> {
    unless_empty("cursor", cursor, str::parse)
}

/// One status code, or all of a class: `5xx`.
pub(crate) fn status_codes(text: &str) -> Result<Option<RangeInclusive<u16>>, Error> {
    let class = |text: &str| {
        let class: u16 = text.to_ascii_lowercase().strip_suffix("xx")?.parse().ok()?;
        (1..=5).contains(&class).then(|| class * 100..=class * 100 + 99)
    };
    let code = || text.parse().ok().filter(|code| *code <= 999).map(|code| code..=code);
    unless_empty("status_code", text, |text| {
        let reason = "must be a status code from 0 (no answer) to 999, or a class such as 5xx";
        class(text).or_else(code).ok_or(reason)
    })
}

/// A duration in nanoseconds, or with a unit.
pub(crate) fn duration(field: &str, text: &str) -> Result<Option<Duration>, Error> {
    unless_empty(field, text, |text| {
        let nanoseconds = text.parse().ok().map(Duration::from_nanos);
        let reason = "must be a duration such as 300ms or 1.5s, or nanoseconds";
        nanoseconds.or_else(|| with_unit(text)).ok_or(reason)
    })
}

fn with_unit(text: &str) -> Option<Duration> {
    text.parse::<jiff::SignedDuration>().ok()?.try_into().ok()
}

/// An ID.
pub(crate) fn id<K>(field: &str, text: &str) -> Result<Option<Id<K>>, Error> {
    unless_empty(field, text, str::parse)
}

/// How old: `24h`, `30m`, `1h30m`. Empty text says nothing.
pub(crate) fn age(text: &str) -> Result<Option<Duration>, Error> {
    unless_empty("max_age", text, |text| {
        let age = with_unit(text).filter(|age| !age.is_zero());
        age.ok_or("must be a duration such as 24h or 30m")
    })
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

    #[test]
    fn ages() {
        assert_eq!(age("").expect("nothing said"), None);
        for (text, secs) in [("24h", 86_400), ("30m", 1_800), ("1h30m", 5_400), ("9s", 9)] {
            assert_eq!(age(text).expect(text), Some(Duration::from_secs(secs)), "{text}");
        }
        for wrong in ["24", "0s", "-1h", "soon", "1 fortnight", "99999999999999999999h"] {
            let error = age(wrong).expect_err(wrong);
            assert!(error.to_string().starts_with("max_age: "), "{error}");
        }
    }

    #[test]
    fn status_codes_are_one_or_a_class() {
        for (text, codes) in
            [("404", 404..=404), ("0", 0..=0), ("5xx", 500..=599), ("2XX", 200..=299)]
        {
            assert_eq!(status_codes(text).expect(text), Some(codes), "{text}");
        }
        for wrong in ["xx", "0xx", "6xx", "1000", "-1", "40x", "ok"] {
            let error = status_codes(wrong).expect_err(wrong);
            assert!(error.to_string().starts_with("status_code: "), "{error}");
        }
    }

    #[test]
    fn reasons_are_their_words_and_truths_are_two() {
        for known in Reason::ALL {
            assert_eq!(reason(known.as_str()).expect("known"), Some(known));
        }
        let error = reason("Rules").expect_err("another case");
        assert!(error.to_string().starts_with("reason: must be one of rules, "), "{error}");
        assert_eq!(truth("verified", "true").expect("true"), Some(true));
        assert_eq!(truth("verified", "false").expect("false"), Some(false));
        let error = truth("verified", "1").expect_err("a number");
        assert_eq!(error.to_string(), "verified: must be true or false");
    }

    #[test]
    fn durations_have_a_unit_or_are_nanoseconds() {
        let millis = Duration::from_millis;
        for (text, read) in
            [("300ms", millis(300)), ("1.5s", millis(1_500)), ("2000000", millis(2))]
        {
            assert_eq!(duration("min_duration", text).expect(text), Some(read), "{text}");
        }
        for wrong in ["long", "-1s", "-5", "1.5"] {
            let error = duration("min_duration", wrong).expect_err(wrong);
            assert!(error.to_string().starts_with("min_duration: "), "{error}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_moment_or_refused(text in "\\PC{0,40}") {
            let _ = moment("to", &text);
            let _ = place(&text);
            let _ = status(&text);
            let _ = status_codes(&text);
            let _ = duration("min_duration", &text);
        }
    }
}
