//! Conversions as calls of helpers, which are named alike in both languages.

use std::collections::BTreeSet;

use super::super::convert::{Convert, TimeForm};
use super::super::value::Value;
use super::Dialect;

/// The source that converts the value.
pub(super) fn of(
    convert: &Convert,
    dialect: &impl Dialect,
    value: String,
    helpers: &mut BTreeSet<&'static str>,
) -> String {
    let text = |text: &str| dialect.text(text);
    let (helper, arguments): (&'static str, Vec<String>) = match convert {
        Convert::Text => ("to_text", vec![]),
        Convert::Number => ("to_number", vec![]),
        Convert::NumberIn => ("number_in", vec![]),
        Convert::Boolean => ("to_boolean", vec![]),
        Convert::Not => ("negate", vec![]),
        Convert::Times(factor) => ("times", vec![factor.to_string()]),
        Convert::Divide(divisor) => ("divide", vec![divisor.to_string()]),
        Convert::Round(decimals) => ("round", vec![decimals.to_string()]),
        Convert::Fixed(decimals) => ("fixed", vec![decimals.to_string()]),
        Convert::Grouped(decimals) => ("grouped", vec![decimals.to_string()]),
        Convert::Upper => ("upper", vec![]),
        Convert::Lower => ("lower", vec![]),
        Convert::Title => ("title", vec![]),
        Convert::Capitalize => ("capitalize", vec![]),
        Convert::Trim => ("trim", vec![]),
        Convert::Before { separator, last: false } => ("before", vec![text(separator)]),
        Convert::Before { separator, last: true } => ("before_last", vec![text(separator)]),
        Convert::After { separator, last: false } => ("after", vec![text(separator)]),
        Convert::After { separator, last: true } => ("after_last", vec![text(separator)]),
        Convert::Part { separator, index } => {
            ("part", vec![text(separator), (index + 1).to_string()])
        }
        Convert::First(count) => ("start_of", vec![count.to_string()]),
        Convert::Last(count) => ("end_of", vec![count.to_string()]),
        Convert::Replace { from, to } => ("replace", vec![text(from), text(to)]),
        Convert::Split { separator } => ("split", vec![text(separator)]),
        Convert::Count => ("count", vec![]),
        Convert::Sum => ("sum", vec![]),
        Convert::Min => ("least", vec![]),
        Convert::Max => ("most", vec![]),
        Convert::CountBy(key) => ("count_by", vec![text(key)]),
        Convert::SumBy { key, value: summed } => ("sum_by", vec![text(key), text(summed)]),
        Convert::Equals(wanted) => {
            return format!("({})", dialect.equals(&value, &dialect.constant(wanted), false));
        }
        Convert::Default(default) => ("or_else", vec![dialect.constant(default)]),
        Convert::Lookup(table) => return dialect.lookup(table, &value),
        Convert::Time { from, to } => return time(*from, *to, dialect, value, helpers),
    };
    call(helper, value, &arguments, helpers)
}

fn call(
    helper: &'static str,
    value: String,
    more: &[String],
    helpers: &mut BTreeSet<&'static str>,
) -> String {
    helpers.insert(helper);
    let arguments: Vec<&str> =
        [value.as_str()].into_iter().chain(more.iter().map(String::as_str)).collect();
    format!("{helper}({})", arguments.join(", "))
}

fn time(
    from: TimeForm,
    to: TimeForm,
    dialect: &impl Dialect,
    value: String,
    helpers: &mut BTreeSet<&'static str>,
) -> String {
    let read = match from {
        TimeForm::UnixSeconds => call("read_unix", value, &["1".to_owned()], helpers),
        TimeForm::UnixMilliseconds => call("read_unix", value, &["1000".to_owned()], helpers),
        TimeForm::Layout(layout) => {
            call("read_time", value, &[dialect.constant(&Value::text(layout))], helpers)
        }
    };
    match to {
        TimeForm::UnixSeconds => call("unix_seconds", read, &[], helpers),
        TimeForm::UnixMilliseconds => call("unix_milliseconds", read, &[], helpers),
        TimeForm::Layout(layout) => {
            call("write_time", read, &[dialect.constant(&Value::text(layout))], helpers)
        }
    }
}
