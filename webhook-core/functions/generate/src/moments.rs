//! Moments: the forms that the search tries, and what reads and writes them.

use jiff::{Timestamp, fmt::strtime::BrokenDownTime, tz::TimeZone};

use super::convert::TimeForm;
use super::json::{Json, number};

/// The layouts in the language of Go's reference time, as scripts write them, the more usual first. Where two layouts
/// read the same (`02/01/2006` and `01/02/2006` of the fifth of May), the earlier one is taken.
pub(crate) const LAYOUTS: &[&str] = &[
    RFC3339,
    RFC3339_MILLISECONDS,
    "2006-01-02",
    "2006-01-02 15:04:05",
    "2006-01-02T15:04:05",
    "2006-01-02 15:04",
    "2006-01-02 15:04:05 UTC",
    "2006-01-02 15:04 UTC",
    "2006-01-02T15:04:05-0700",
    "02/01/2006",
    "01/02/2006",
    "02.01.2006",
    "2006/01/02",
    "Jan 2, 2006",
    "January 2, 2006",
    "2 Jan 2006",
    "2 January 2006",
    "02/01/2006 15:04",
    "01/02/2006 15:04",
    "02.01.2006 15:04",
    "Jan 2, 2006 15:04",
    "Jan 2, 2006 3:04 PM",
    "January 2, 2006 15:04",
    "January 2, 2006 3:04 PM",
    "2 Jan 2006 15:04",
    "Mon, 02 Jan 2006 15:04:05 GMT",
    "Mon, 02 Jan 2006 15:04:05 -0700",
    "15:04:05 Jan 02, 2006 UTC",
    "20060102",
    "15:04:05",
    "15:04",
    "3:04 PM",
    "2006-01",
    "January 2006",
    "Jan 2",
    "Monday",
    "2006",
];

const RFC3339: &str = "2006-01-02T15:04:05Z07:00";
const RFC3339_MILLISECONDS: &str = "2006-01-02T15:04:05.000Z07:00";

/// The elements of a layout, the longer first where one opens another, as `strftime` calls them.
const ELEMENTS: &[(&str, &str)] = &[
    ("January", "%B"),
    ("Jan", "%b"),
    ("Monday", "%A"),
    ("Mon", "%a"),
    ("2006", "%Y"),
    ("-0700", "%z"),
    ("15", "%H"),
    ("01", "%m"),
    ("02", "%d"),
    ("04", "%M"),
    ("05", "%S"),
    ("PM", "%p"),
    ("2", "%-d"),
    ("3", "%-I"),
];

/// Years 2000 to 2100: a number outside of them is hardly meant as a moment.
const UNIX_SECONDS: std::ops::Range<f64> = 946_684_800.0..4_102_444_800.0;

/// Whether the layout shows a time of day.
pub(crate) fn has_clock(layout: &str) -> bool {
    layout.contains("04")
}

/// Whether year, month and day are in the layout, so that a moment can be read from it.
fn has_date(layout: &str) -> bool {
    layout.contains("2006")
        && (layout.contains("01") || layout.contains("Jan"))
        && (layout.contains("02") || layout.contains("2 ") || layout.contains("2,"))
}

/// The layout in the language of `strftime`.
fn strftime(layout: &str) -> String {
    let mut out = String::new();
    let mut rest = layout;
    while let Some(first) = rest.chars().next() {
        let known = ELEMENTS.iter().find(|(element, _)| rest.starts_with(element));
        let length = known.map_or(first.len_utf8(), |(element, _)| element.len());
        match known {
            Some((_, directive)) => out.push_str(directive),
            None => out.push(first),
        }
        rest = rest.get(length..).unwrap_or_default();
    }
    out
}

/// Reads a moment; a text without an offset is in UTC.
fn parse(text: &str, layout: &str) -> Option<Timestamp> {
    if matches!(layout, RFC3339 | RFC3339_MILLISECONDS) {
        let plain = text.contains('T') && text.contains('.') == (layout == RFC3339_MILLISECONDS);
        return text.parse().ok().filter(|_| plain);
    }
    let parsed = BrokenDownTime::parse(strftime(layout), text).ok()?;
    let moment = if parsed.offset().is_some() {
        parsed.to_timestamp().ok()?
    } else {
        let time = parsed.to_time().unwrap_or_default();
        parsed.to_date().ok()?.to_datetime(time).to_zoned(TimeZone::UTC).ok()?.timestamp()
    };
    // A reader of Go is strict about zeros before digits.
    (parsed.offset().is_some() || format(moment, layout)? == text).then_some(moment)
}

/// Writes the moment in UTC.
fn format(moment: Timestamp, layout: &str) -> Option<String> {
    let layout = match layout {
        RFC3339 => "%Y-%m-%dT%H:%M:%SZ".to_owned(),
        RFC3339_MILLISECONDS => "%Y-%m-%dT%H:%M:%S.%3fZ".to_owned(),
        layout => strftime(layout),
    };
    let moment = moment.to_zoned(TimeZone::UTC);
    (moment.year() > 0).then(|| moment.strftime(&layout).to_string())
}

/// The forms that a value may be a moment in.
pub(crate) fn forms(value: &Json) -> Vec<TimeForm> {
    let mut forms = Vec::new();
    if let Some(number) = number(value) {
        if UNIX_SECONDS.contains(&number) {
            forms.push(TimeForm::UnixSeconds);
        } else if UNIX_SECONDS.contains(&(number / 1000.0)) {
            forms.push(TimeForm::UnixMilliseconds);
        }
    }
    if let Some(text) = value.as_str()
        && (8..=40).contains(&text.len())
        && text.bytes().filter(u8::is_ascii_digit).count() >= 5
    {
        let read =
            LAYOUTS.iter().filter(|layout| has_date(layout) && parse(text, layout).is_some());
        forms.extend(read.map(|layout| TimeForm::Layout(layout)));
    }
    forms
}

/// The moment that a value is in this form.
pub(crate) fn read(value: &Json, form: TimeForm) -> Option<Timestamp> {
    let milliseconds = match form {
        TimeForm::Layout(layout) => return parse(value.as_str()?, layout),
        TimeForm::UnixSeconds => number(value)? * 1000.0,
        TimeForm::UnixMilliseconds => number(value)?,
    };
    Timestamp::from_millisecond((milliseconds + 0.5).floor() as i64).ok()
}

/// The value that writes a moment in this form.
pub(crate) fn write(moment: Timestamp, form: TimeForm) -> Option<Json> {
    match form {
        TimeForm::Layout(layout) => format(moment, layout).map(Json::String),
        TimeForm::UnixSeconds => Some(Json::from(moment.as_millisecond().div_euclid(1000))),
        TimeForm::UnixMilliseconds => Some(Json::from(moment.as_millisecond())),
    }
}

pub(crate) fn convert(value: &Json, from: TimeForm, to: TimeForm) -> Option<Json> {
    write(read(value, from)?, to)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_layout_with_a_date_reads_what_it_writes() {
        let moment: Timestamp = "2024-03-05T14:07:09Z".parse().expect("a moment");
        for layout in LAYOUTS.iter().filter(|layout| has_date(layout)) {
            let text = format(moment, layout).expect("in range");
            let again = parse(&text, layout).and_then(|read| format(read, layout));
            assert_eq!(again.as_deref(), Some(text.as_str()), "{layout}");
        }
    }

    #[test]
    fn offsets_fractions_and_names() {
        let seconds = |text, layout| parse(text, layout).map(Timestamp::as_second);
        assert_eq!(seconds("2024-03-05T14:07:09+02:00", RFC3339), Some(1_709_640_429));
        assert_eq!(seconds("2024-03-05T12:07:09.25Z", RFC3339_MILLISECONDS), Some(1_709_640_429));
        assert_eq!(
            seconds("Tue, 05 Mar 2024 12:07:09 GMT", "Mon, 02 Jan 2006 15:04:05 GMT"),
            Some(1_709_640_429)
        );
        assert_eq!(seconds("Mar 5, 2024 3:04 PM", "Jan 2, 2006 3:04 PM"), Some(1_709_651_040));
        assert_eq!(seconds("2024-02-30", "2006-01-02"), None);
        assert_eq!(seconds("2024-03-05 trailing", "2006-01-02"), None);
        assert_eq!(seconds("2024-3-5", "2006-01-02"), None);
    }

    #[test]
    fn unix_times() {
        let rfc3339 = TimeForm::Layout(RFC3339);
        for (value, form) in [
            (json!(1_714_557_600), TimeForm::UnixSeconds),
            (json!("1714557600"), TimeForm::UnixSeconds),
            (json!(1_714_557_600_000_i64), TimeForm::UnixMilliseconds),
        ] {
            assert_eq!(convert(&value, form, rfc3339), Some(json!("2024-05-01T10:00:00Z")));
        }
        assert!(convert(&json!(1e300), TimeForm::UnixSeconds, rfc3339).is_none());
    }
}
