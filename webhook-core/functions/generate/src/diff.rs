//! The first difference between what was wanted and what a function gave.

use super::value::Value;

/// Where and how `got` first differs from `wanted`, such as `out.items[2].price: wanted 12, got "12"`.
///
/// Lists are counted from 0. With `one_empty_table` the empty list and the empty object are the same, as they are for
/// Lua.
pub(crate) fn first_difference(
    wanted: &Value,
    got: &Value,
    one_empty_table: bool,
) -> Option<String> {
    differ("out".to_owned(), wanted, got, one_empty_table)
}

fn differ(at: String, wanted: &Value, got: &Value, one_empty_table: bool) -> Option<String> {
    if one_empty_table && is_empty(wanted) && is_empty(got) {
        return None;
    }
    match (wanted, got) {
        (Value::Object(wanted), Value::Object(got)) => {
            for (name, wanted) in wanted.iter() {
                let at = member(&at, name);
                match got.get(name) {
                    Some(got) => {
                        if let Some(difference) = differ(at, wanted, got, one_empty_table) {
                            return Some(difference);
                        }
                    }
                    None => return Some(format!("{at}: wanted {}, got nothing", show(wanted))),
                }
            }
            let extra = got.iter().find(|(name, _)| wanted.get(name).is_none());
            extra.map(|(name, got)| {
                format!("{}: wanted nothing, got {}", member(&at, name), show(got))
            })
        }
        (Value::List(wanted), Value::List(got)) => {
            let pairs = wanted.iter().zip(got.iter()).enumerate();
            for (index, (wanted, got)) in pairs {
                if let Some(difference) =
                    differ(format!("{at}[{index}]"), wanted, got, one_empty_table)
                {
                    return Some(difference);
                }
            }
            (wanted.len() != got.len()).then(|| {
                format!("{at}: wanted a list of {}, got a list of {}", wanted.len(), got.len())
            })
        }
        (wanted, got) if wanted.same(got) => None,
        (wanted, got) => Some(format!("{at}: wanted {}, got {}", show(wanted), show(got))),
    }
}

fn is_empty(value: &Value) -> bool {
    value.as_list().is_some_and(<[Value]>::is_empty)
        || value.as_object().is_some_and(|object| object.len() == 0)
}

fn member(at: &str, name: &str) -> String {
    let plain = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if plain { format!("{at}.{name}") } else { format!("{at}[{}]", quoted(name)) }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The value in one short line.
fn show(value: &Value) -> String {
    const MAX_CHARACTERS: usize = 80;
    match value {
        Value::Text(text) if text.chars().count() > MAX_CHARACTERS => {
            let head: String = text.chars().take(MAX_CHARACTERS).collect();
            format!("{}…", quoted(&head))
        }
        Value::Text(text) => quoted(text),
        Value::Null => "null".to_owned(),
        Value::List(items) => format!("a list of {}", items.len()),
        Value::Object(object) => format!("an object with {} fields", object.len()),
        Value::Bool(_) | Value::Int(_) | Value::Float(_) => value.to_text().unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample::from_json_text;
    use super::*;

    #[test]
    fn the_first_difference_is_named() {
        for (wanted, got, difference) in [
            (
                r#"{"items":[1,2,{"price":12}]}"#,
                r#"{"items":[1,2,{"price":"12"}]}"#,
                Some(r#"out.items[2].price: wanted 12, got "12""#),
            ),
            (r#"{"a b":1}"#, r#"{}"#, Some(r#"out["a b"]: wanted 1, got nothing"#)),
            (r#"{}"#, r#"{"a":[1]}"#, Some("out.a: wanted nothing, got a list of 1")),
            (r#"[1,2]"#, r#"[1]"#, Some("out: wanted a list of 2, got a list of 1")),
            (r#"{"a":1.0,"b":null}"#, r#"{"b":null,"a":1}"#, None),
            (
                r#"{"a":[]}"#,
                r#"{"a":{}}"#,
                Some("out.a: wanted a list of 0, got an object with 0 fields"),
            ),
        ] {
            let read = |text| from_json_text(text).expect("valid JSON");
            assert_eq!(first_difference(&read(wanted), &read(got), false).as_deref(), difference);
        }
        let read = |text| from_json_text(text).expect("valid JSON");
        assert_eq!(first_difference(&read(r#"{"a":[]}"#), &read(r#"{"a":{}}"#), true), None);
    }
}
