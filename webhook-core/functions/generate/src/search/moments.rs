//! Which values may be moments, and how they are written.

use super::super::convert::TimeForm;
use super::super::go_time::parse;
use super::super::layouts::LAYOUTS;
use super::super::numbers::number;
use super::super::value::Value;

/// Years 2000 to 2100: numbers outside are hardly meant as moments.
const UNIX_SECONDS: std::ops::Range<f64> = 946_684_800.0..4_102_444_800.0;

/// The forms that a value may be a moment in, with whether it has a time of day.
pub(super) fn moment_forms(value: &Value) -> Vec<(TimeForm, bool)> {
    let mut forms = Vec::new();
    if let Some(number) = number(value) {
        if UNIX_SECONDS.contains(&number) {
            forms.push((TimeForm::UnixSeconds, true));
        } else if UNIX_SECONDS.contains(&(number / 1000.0)) {
            forms.push((TimeForm::UnixMilliseconds, true));
        }
    }
    if let Some(text) = value.as_text()
        && (8..=40).contains(&text.len())
        && text.bytes().filter(u8::is_ascii_digit).count() >= 5
    {
        let read =
            LAYOUTS.iter().filter(|layout| layout.full_date && parse(text, layout.text).is_some());
        forms.extend(read.map(|layout| (TimeForm::Layout(layout.text), layout.clock)));
    }
    forms
}
