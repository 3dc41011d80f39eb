//! The first difference between two values.

use std::fmt;

use super::json::{Json, is_scalar, same};

/// Where two values first differ, and what each has there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Difference {
    /// The place, such as `out.items[2].price`. Lists are counted from 0.
    pub(crate) place: String,
    pub(crate) wanted: String,
    pub(crate) got: String,
}

/// Such as `out.items[2].price: wanted 12, got "12"`.
impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: wanted {}, got {}", self.place, self.wanted, self.got)
    }
}

/// Where and how `got` first differs from `wanted`.
///
/// With `one_empty_table` the empty list and the empty object are the same, as they are for Lua.
pub(crate) fn first_difference(
    wanted: &Json,
    got: &Json,
    one_empty_table: bool,
) -> Option<Difference> {
    differ("out", wanted, Some(got), one_empty_table)
}

fn differ(place: &str, wanted: &Json, got: Option<&Json>, one_empty: bool) -> Option<Difference> {
    let difference =
        |wanted: String, got: String| Some(Difference { place: place.to_owned(), wanted, got });
    let Some(got) = got else { return difference(show(wanted), "nothing".to_owned()) };
    if one_empty && is_empty(wanted) && is_empty(got) {
        return None;
    }
    match (wanted, got) {
        (Json::Object(wanted), Json::Object(got)) => {
            let first = wanted.iter().find_map(|(name, wanted)| {
                differ(&member(place, name), wanted, got.get(name), one_empty)
            });
            first.or_else(|| {
                let (name, extra) = got.iter().find(|(name, _)| !wanted.contains_key(*name))?;
                let wanted = "nothing".to_owned();
                Some(Difference { place: member(place, name), wanted, got: show(extra) })
            })
        }
        (Json::Array(wanted), Json::Array(got)) => {
            let first = wanted.iter().zip(got).enumerate().find_map(|(index, (wanted, got))| {
                differ(&format!("{place}[{index}]"), wanted, Some(got), one_empty)
            });
            let lengths = (wanted.len() != got.len()).then(|| {
                let list = |length| format!("a list of {length}");
                difference(list(wanted.len()), list(got.len()))
            });
            first.or_else(|| lengths.flatten())
        }
        (wanted, got) if same(wanted, got) => None,
        (wanted, got) => difference(show(wanted), show(got)),
    }
}

fn is_empty(value: &Json) -> bool {
    value.as_array().is_some_and(Vec::is_empty)
        || value.as_object().is_some_and(serde_json::Map::is_empty)
}

/// The place of a field as a reader would write it.
pub(crate) fn member(place: &str, name: &str) -> String {
    let plain = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    match (plain, place) {
        (true, "") => name.to_owned(),
        (true, place) => format!("{place}.{name}"),
        (false, place) => format!("{place}[{}]", Json::from(name)),
    }
}

/// The value in one short line.
pub(crate) fn show(value: &Json) -> String {
    const MAX_CHARACTERS: usize = 80;
    match value {
        Json::String(text) if text.chars().count() > MAX_CHARACTERS => {
            let head: String = text.chars().take(MAX_CHARACTERS).collect();
            format!("{}…", Json::from(head))
        }
        Json::Array(items) => format!("a list of {}", items.len()),
        Json::Object(object) => format!("an object with {} fields", object.len()),
        scalar => {
            debug_assert!(is_scalar(scalar));
            scalar.to_string()
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_first_difference_is_named() {
        for (wanted, got, difference) in [
            (
                json!({"items": [1, 2, {"price": 12}]}),
                json!({"items": [1, 2, {"price": "12"}]}),
                Some(r#"out.items[2].price: wanted 12, got "12""#),
            ),
            (json!({"a b": 1}), json!({}), Some(r#"out["a b"]: wanted 1, got nothing"#)),
            (json!({}), json!({"a": [1]}), Some("out.a: wanted nothing, got a list of 1")),
            (json!([1, 2]), json!([1]), Some("out: wanted a list of 2, got a list of 1")),
            (json!({"a": 1.0, "b": null}), json!({"b": null, "a": 1}), None),
            (
                json!({"a": []}),
                json!({"a": {}}),
                Some("out.a: wanted a list of 0, got an object with 0 fields"),
            ),
        ] {
            let found = first_difference(&wanted, &got, false).map(|found| found.to_string());
            assert_eq!(found.as_deref(), difference);
        }
        assert_eq!(first_difference(&json!({"a": []}), &json!({"a": {}}), true), None);
    }
}
