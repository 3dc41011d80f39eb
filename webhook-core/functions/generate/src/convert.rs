//! Conversions of one value, and what each does. A value that a conversion does not fit becomes absent.

use super::json::{Json, from_f64, grouped, is_space, number, tidy, to_text};
use super::moments;
use super::program::field;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Convert {
    /// A scalar's text.
    Text,
    /// A number, or the number that a text is.
    Number,
    /// Times the factor, to the nearest whole number.
    Times(u32),
    Divide(u32),
    /// Text with so many decimals.
    Fixed(u32),
    /// The same with a comma between thousands.
    Grouped(u32),
    Upper,
    /// Number of elements; 0 for what is no list.
    Count,
    /// Sum of the numbers in a list, each in a field of its element.
    Sum(Vec<String>),
    /// The texts in a list, each in a field of its element, as one text.
    Join {
        field: Vec<String>,
        separator: String,
    },
    /// How many elements of a list have each text in a field, by that text.
    CountBy(String),
    /// The sum of the field `value` of the elements that have each text in the field `key`.
    SumBy {
        key: String,
        value: String,
    },
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
    pub(crate) fn apply(&self, value: Option<&Json>) -> Option<Json> {
        let items = || value.and_then(Json::as_array).into_iter().flatten();
        match self {
            Self::Count => return Some(Json::from(items().count())),
            Self::Sum(of) => {
                return Some(tidy(items().filter_map(|item| number(field(item, of)?)).sum()));
            }
            Self::CountBy(key) => return Some(by_text(items(), key, |_| Some(1.0))),
            Self::SumBy { key, value } => {
                return Some(by_text(items(), key, |item| number(item.as_object()?.get(value)?)));
            }
            _ => {}
        }
        let value = value?;
        match self {
            Self::Join { field: of, separator } => {
                let texts = items().filter_map(|item| to_text(field(item, of)?));
                Some(Json::String(texts.collect::<Vec<_>>().join(separator)))
            }
            Self::Text => to_text(value).map(Json::String),
            Self::Number => match value {
                Json::Number(_) => Some(value.clone()),
                // All digits of a long number, where a float would round it.
                Json::String(text) => {
                    let rounded = number(value)?;
                    let whole = text.trim_matches(is_space).parse::<i64>();
                    Some(whole.map_or_else(|_| from_f64(rounded), Json::from))
                }
                _ => None,
            },
            Self::Times(factor) => {
                Some(from_f64((value.as_f64()? * f64::from(*factor) + 0.5).floor()))
            }
            Self::Divide(divisor) => Some(tidy(value.as_f64()? / f64::from((*divisor).max(1)))),
            Self::Fixed(decimals) => {
                Some(Json::String(format!("{:.*}", *decimals as usize, value.as_f64()?)))
            }
            Self::Grouped(decimals) => {
                let plain = format!("{:.*}", *decimals as usize, value.as_f64()?);
                Some(Json::String(grouped(&plain)))
            }
            Self::Time { from, to } => moments::convert(value, *from, *to),
            Self::Upper => Some(Json::String(value.as_str()?.to_ascii_uppercase())),
            Self::Count | Self::Sum(_) | Self::CountBy(_) | Self::SumBy { .. } => None,
        }
    }
}

/// The sum of what `add` says for the elements with each text in the field `key`.
fn by_text<'v>(
    items: impl Iterator<Item = &'v Json>,
    key: &str,
    add: impl Fn(&Json) -> Option<f64>,
) -> Json {
    let mut sums: Vec<(String, f64)> = Vec::new();
    for item in items {
        let text = item.as_object().and_then(|item| to_text(item.get(key)?));
        let Some(text) = text.filter(|text| !text.is_empty()) else { continue };
        let more = add(item).unwrap_or(0.0);
        match sums.iter_mut().find(|(known, _)| *known == text) {
            Some((_, sum)) => *sum += more,
            None => sums.push((text, more)),
        }
    }
    Json::Object(sums.into_iter().map(|(text, sum)| (text, tidy(sum))).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_conversion_fits_some_values_only() {
        for (convert, from, to) in [
            (Convert::Number, json!(" 19.90 "), Some(json!(19.9))),
            (
                Convert::Number,
                json!("820982911946154508"),
                Some(json!(820_982_911_946_154_508_i64)),
            ),
            (Convert::Times(100), json!(19.99), Some(json!(1999))),
            (Convert::Divide(100), json!(1999), Some(json!(19.99))),
            (Convert::Fixed(2), json!(19.9), Some(json!("19.90"))),
            (Convert::Grouped(2), json!(-1_234_567), Some(json!("-1,234,567.00"))),
            (Convert::Upper, json!(1), None),
            (Convert::Count, json!("no list"), Some(json!(0))),
        ] {
            assert_eq!(convert.apply(Some(&from)), to, "{convert:?} of {from}");
        }
    }
}
