//! Conversions of one value, and what each does. A value that a conversion does not fit becomes absent.

use std::sync::Arc;

use super::go_time;
use super::numbers::{boolean, fixed, grouped, number, number_in, tidy};
use super::value::Value;

#[derive(Debug, Clone)]
pub(crate) enum Convert {
    /// A scalar's text.
    Text,
    /// A number, or the number that a text is.
    Number,
    /// The first number in a text, without its thousands separators.
    NumberIn,
    /// `true` and `false`, 1 and 0, yes and no, on and off.
    Boolean,
    Not,
    /// Times the factor, to the nearest whole number.
    Times(u32),
    Divide(u32),
    /// To so many decimals, halves away from zero for positive numbers.
    Round(u32),
    /// Text with so many decimals.
    Fixed(u32),
    /// The same with a comma between thousands.
    Grouped(u32),
    Upper,
    Lower,
    /// Every word with a capital and small letters.
    Title,
    /// The first letter as a capital, the rest as it is.
    Capitalize,
    Trim,
    /// Up to the first (or last) separator; everything when there is none.
    Before {
        separator: Arc<str>,
        last: bool,
    },
    /// From behind the first (or last) separator; everything when there is none.
    After {
        separator: Arc<str>,
        last: bool,
    },
    /// The part between separators, counted from 0.
    Part {
        separator: Arc<str>,
        index: usize,
    },
    /// So many characters from the start.
    First(usize),
    /// So many characters from the end.
    Last(usize),
    Replace {
        from: Arc<str>,
        to: Arc<str>,
    },
    /// The trimmed parts between separators; the empty text has none.
    Split {
        separator: Arc<str>,
    },
    /// Number of elements; 0 for what is no list.
    Count,
    /// Sum of the numbers in a list; 0 for what is no list.
    Sum,
    /// The smallest number in a list.
    Min,
    /// The largest number in a list.
    Max,
    /// How many elements of a list have each text in a field, by that text.
    CountBy(Arc<str>),
    /// The sum of the field `value` of the elements that have each text in the field `key`.
    SumBy {
        key: Arc<str>,
        value: Arc<str>,
    },
    Equals(Value),
    /// What to take in the place of an absent or null value.
    Default(Value),
    /// What each value becomes; absent for the others.
    Lookup(Vec<(Value, Value)>),
    Time {
        from: TimeForm,
        to: TimeForm,
    },
}

/// How a moment is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TimeForm {
    /// A number, or digits in a text.
    UnixSeconds,
    UnixMilliseconds,
    /// A Go reference layout; in UTC unless the text says otherwise.
    Layout(&'static str),
}

impl Convert {
    /// The converted value, or `None` when it is absent.
    pub(crate) fn apply(&self, value: Option<&Value>, single_is_list: bool) -> Option<Value> {
        // The few that have something to say about an absent value.
        match self {
            Self::Count => {
                return Some(Value::Int(
                    i64::try_from(list(value, single_is_list).len()).unwrap_or(i64::MAX),
                ));
            }
            Self::Sum => {
                let numbers = list(value, single_is_list);
                return Some(tidy(numbers.iter().filter_map(number).sum()));
            }
            Self::CountBy(key) => {
                let one = |_: &Value| Some(1.0);
                return Some(by_text(&list(value, single_is_list), key, one));
            }
            Self::SumBy { key, value: summed } => {
                let summed = |item: &Value| number(item.as_object()?.get(summed)?);
                return Some(by_text(&list(value, single_is_list), key, summed));
            }
            Self::Equals(wanted) => {
                return Some(Value::Bool(value.is_some_and(|value| value.same(wanted))));
            }
            Self::Default(default) => {
                return Some(value.filter(|value| !value.is_null()).unwrap_or(default).clone());
            }
            _ => {}
        }
        let value = value?;
        match self {
            Self::Count
            | Self::Sum
            | Self::CountBy(_)
            | Self::SumBy { .. }
            | Self::Equals(_)
            | Self::Default(_) => None,
            Self::Min => numbers_in(value, single_is_list).reduce(f64::min).map(tidy),
            Self::Max => numbers_in(value, single_is_list).reduce(f64::max).map(tidy),
            Self::Text => value.to_text().map(Value::text),
            Self::Number => number(value).map(|number| match value {
                Value::Int(_) => value.clone(),
                // All digits of a long number, where a float would round it.
                Value::Text(text) => text
                    .trim_matches(is_space)
                    .parse()
                    .map_or_else(|_| Value::number(number), Value::Int),
                _ => Value::number(number),
            }),
            Self::NumberIn => number_in(value.as_text()?).map(Value::number),
            Self::Boolean => boolean(value).map(Value::Bool),
            Self::Not => boolean(value).map(|value| Value::Bool(!value)),
            Self::Times(factor) => {
                Some(Value::number((value.as_number()? * f64::from(*factor) + 0.5).floor()))
            }
            Self::Divide(divisor) => Some(tidy(value.as_number()? / f64::from((*divisor).max(1)))),
            Self::Round(decimals) => {
                let scale = 10f64.powi((*decimals).min(9).cast_signed());
                Some(Value::number((value.as_number()? * scale + 0.5).floor() / scale))
            }
            Self::Fixed(decimals) => Some(Value::text(fixed(value.as_number()?, *decimals))),
            Self::Grouped(decimals) => {
                Some(Value::text(grouped(&fixed(value.as_number()?, *decimals))))
            }
            Self::Lookup(table) => {
                table.iter().find(|(from, _)| from.same(value)).map(|(_, to)| to.clone())
            }
            Self::Time { from, to } => go_time::convert(value, *from, *to),
            Self::Split { separator } => {
                let text = value.as_text()?.trim_matches(is_space);
                if text.is_empty() || separator.is_empty() {
                    return Some(Value::list([]));
                }
                Some(Value::list(
                    text.split(separator.as_ref())
                        .map(|part| Value::text(part.trim_matches(is_space))),
                ))
            }
            _ => self.apply_to_text(value.as_text()?).map(Value::text),
        }
    }

    fn apply_to_text(&self, text: &str) -> Option<String> {
        Some(match self {
            Self::Upper => text.to_ascii_uppercase(),
            Self::Lower => text.to_ascii_lowercase(),
            Self::Title => title(text),
            Self::Capitalize => {
                let mut text = text.to_owned();
                if let Some(first) = text.get_mut(..1) {
                    first.make_ascii_uppercase();
                }
                text
            }
            Self::Trim => text.trim_matches(is_space).to_owned(),
            Self::Before { separator, last } => {
                cut(text, separator, *last).map_or(text, |(before, _)| before).to_owned()
            }
            Self::After { separator, last } => {
                cut(text, separator, *last).map_or(text, |(_, after)| after).to_owned()
            }
            Self::Part { separator, .. } if separator.is_empty() => return None,
            Self::Part { separator, index } => {
                text.split(separator.as_ref()).nth(*index)?.to_owned()
            }
            Self::First(count) => text.chars().take(*count).collect(),
            Self::Last(count) => {
                let skipped = text.chars().count().saturating_sub(*count);
                text.chars().skip(skipped).collect()
            }
            Self::Replace { from, to } => text.replace(from.as_ref(), to),
            _ => return None,
        })
    }
}

/// White space as Lua's `%s` has it.
pub(crate) fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\r' | '\x0b' | '\x0c')
}

fn cut<'t>(text: &'t str, separator: &str, last: bool) -> Option<(&'t str, &'t str)> {
    if last { text.rsplit_once(separator) } else { text.split_once(separator) }
}

fn numbers_in(value: &Value, single_is_list: bool) -> impl Iterator<Item = f64> {
    list(Some(value), single_is_list).into_iter().filter_map(|item| number(&item))
}

/// The sum of what `add` says for the elements with each text in the field `key`.
fn by_text(items: &[Value], key: &str, add: impl Fn(&Value) -> Option<f64>) -> Value {
    let mut sums: Vec<(Arc<str>, f64)> = Vec::new();
    for item in items {
        let text = item.as_object().and_then(|item| item.get(key)?.to_text());
        let Some(text) = text.filter(|text| !text.is_empty()) else { continue };
        let more = add(item).unwrap_or(0.0);
        match sums.iter_mut().find(|(known, _)| **known == *text) {
            Some((_, sum)) => *sum += more,
            None => sums.push((text.into(), more)),
        }
    }
    Value::object(sums.into_iter().map(|(text, sum)| (text, tidy(sum))))
}

pub(crate) fn list(value: Option<&Value>, single_is_list: bool) -> Vec<Value> {
    match value {
        Some(Value::List(items)) => items.to_vec(),
        None | Some(Value::Null) => Vec::new(),
        Some(single) if single_is_list => vec![single.clone()],
        Some(_) => Vec::new(),
    }
}

/// Words are runs of letters, digits and apostrophes that open with a letter.
fn title(text: &str) -> String {
    let mut in_word = false;
    text.chars()
        .map(|c| {
            let letter = c.is_ascii_alphabetic();
            let out = if in_word { c.to_ascii_lowercase() } else { c.to_ascii_uppercase() };
            in_word = letter || (in_word && (c.is_ascii_digit() || c == '\''));
            out
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(convert: Convert, from: Value, to: Option<Value>) {
        let got = convert.apply(Some(&from), false);
        let same = match (&got, &to) {
            (Some(got), Some(to)) => got.same(to),
            (None, None) => true,
            _ => false,
        };
        assert!(same, "{convert:?} of {from:?}: {got:?}, wanted {to:?}");
    }

    #[test]
    fn numbers() {
        check(Convert::Number, Value::text(" 19.90 "), Some(Value::Float(19.9)));
        check(Convert::Number, Value::text("1e999"), None);
        check(Convert::Number, Value::text("0x10"), None);
        check(Convert::NumberIn, Value::text("$1,299.50 off"), Some(Value::Float(1299.5)));
        check(Convert::NumberIn, Value::text("INV-12"), Some(Value::Int(12)));
        check(Convert::Times(100), Value::Float(19.99), Some(Value::Int(1999)));
        check(Convert::Divide(100), Value::Int(1999), Some(Value::Float(19.99)));
        check(Convert::Fixed(2), Value::Float(19.9), Some(Value::text("19.90")));
        check(Convert::Grouped(2), Value::Float(-1_234_567.0), Some(Value::text("-1,234,567.00")));
        check(Convert::Round(1), Value::Float(2.25), Some(Value::Float(2.3)));
    }

    #[test]
    fn texts() {
        check(
            Convert::Title,
            Value::text("jANE o'neil-smith"),
            Some(Value::text("Jane O'neil-Smith")),
        );
        check(Convert::Capitalize, Value::text("émile"), Some(Value::text("émile")));
        check(Convert::First(2), Value::text("éàü"), Some(Value::text("éà")));
        check(Convert::Last(2), Value::text("éàü"), Some(Value::text("àü")));
        let before = Convert::Before { separator: "\n".into(), last: false };
        check(before, Value::text("one line"), Some(Value::text("one line")));
        check(
            Convert::Split { separator: ",".into() },
            Value::text("a, b"),
            Some(Value::list(["a", "b"].map(Value::text))),
        );
        check(Convert::Upper, Value::Int(1), None);
    }
}
