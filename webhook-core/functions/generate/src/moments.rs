//! Moments: the forms that the search tries, and what reads and writes them.

use jiff::Timestamp;

use super::convert::TimeForm;
use super::go_time::{format, parse};
use super::json::{Json, number};

/// The layouts in the language of Go's reference time, the more usual first. Where two layouts read the same
/// (`02/01/2006` and `01/02/2006` of the fifth of May), the earlier one is taken.
pub(crate) const LAYOUTS: &[&str] = &[
    "2006-01-02T15:04:05Z07:00",
    "2006-01-02T15:04:05.000Z07:00",
    "2006-01-02",
    "2006-01-02 15:04:05",
    "2006-01-02T15:04:05",
    "2006-01-02 15:04",
    "2006-01-02 15:04:05 MST",
    "2006-01-02 15:04 MST",
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
    "Mon, 02 Jan 2006 15:04:05 MST",
    "Mon, 02 Jan 2006 15:04:05 -0700",
    "15:04:05 Jan 02, 2006 MST",
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
    fn unix_times() {
        let rfc3339 = TimeForm::Layout("2006-01-02T15:04:05Z07:00");
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
