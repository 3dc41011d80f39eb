//! `${NAME}` in the texts of a manifest.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::Error;

/// Puts values in place of `${NAME}` in all texts but the sources of functions, where JavaScript
/// means something else by it. `$${` stands for `${` itself. The names that were used are returned
/// with their values.
pub(crate) fn resolve(
    value: &mut Value,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Vec<(String, String)>, Error> {
    let mut used = Vec::new();
    let mut missing = BTreeSet::new();
    let mut look = |name: &str| match variable(name) {
        Some(text) => {
            if !used.iter().any(|(known, _)| known == name) {
                used.push((name.to_owned(), text.clone()));
            }
            text
        }
        None => {
            missing.insert(name.to_owned());
            String::new()
        }
    };
    each_text(value, &mut String::new(), &mut |at, text| {
        *text = replaced(text, &mut look).map_err(|reason| Error::new(at, reason))?;
        Ok(())
    })?;
    if missing.is_empty() {
        return Ok(used);
    }
    let names: Vec<_> = missing.into_iter().collect();
    Err(Error::new("", format!("variables without a value: {}", names.join(", "))))
}

/// The text with `${` as `$${`, so that [`resolve`] gives it back.
pub(crate) fn escaped(text: &str) -> String {
    text.replace("${", "$${")
}

/// Escapes all texts but the sources of functions.
pub(crate) fn escape(value: &mut Value) {
    let escaped = each_text(value, &mut String::new(), &mut |_, text| {
        *text = escaped(text);
        Ok(())
    });
    debug_assert_eq!(escaped, Ok(()));
}

fn replaced(text: &str, look: &mut dyn FnMut(&str) -> String) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(place) = rest.find("${") {
        if rest[..place].ends_with('$') {
            out.push_str(&rest[..place - 1]);
            out.push_str("${");
            rest = &rest[place + 2..];
            continue;
        }
        out.push_str(&rest[..place]);
        let name = &rest[place + 2..];
        let end =
            name.find('}').ok_or("${ has no end; $${ stands for the characters themselves")?;
        let name = &name[..end];
        let is_name = !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !is_name {
            return Err(format!(
                "{name:?} is no name of a variable; $${{ stands for the characters themselves"
            ));
        }
        out.push_str(&look(name));
        rest = &rest[place + 2 + end + 1..];
    }
    out.push_str(rest);
    Ok(out)
}

type Change<'a> = dyn FnMut(&str, &mut String) -> Result<(), Error> + 'a;

fn each_text(value: &mut Value, at: &mut String, change: &mut Change<'_>) -> Result<(), Error> {
    let length = at.len();
    match value {
        Value::String(text) => change(at, text)?,
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                at.push_str(&format!("[{index}]"));
                each_text(item, at, change)?;
                at.truncate(length);
            }
        }
        Value::Object(fields) => {
            for (key, field) in fields {
                if key == "payload" && at.starts_with("functions[") && !at.contains('.') {
                    continue;
                }
                if !at.is_empty() {
                    at.push('.');
                }
                at.push_str(key);
                each_text(field, at, change)?;
                at.truncate(length);
            }
        }
        _ => {}
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn of(name: &str) -> Option<String> {
        (name == "A").then(|| "x${A}".to_owned())
    }

    #[test]
    fn values_take_the_place_of_names() {
        let mut value = json!({
            "a": "${A} $${A} $A $${", "functions": [{"payload": "`${b}`", "name": "${A}"}],
            "crons": [{"payload": "${A}"}],
        });
        let used = resolve(&mut value, &of).expect("A has a value");
        assert_eq!(used, [("A".to_owned(), "x${A}".to_owned())]);
        let wanted = json!({
            "a": "x${A} ${A} $A ${", "functions": [{"payload": "`${b}`", "name": "x${A}"}],
            "crons": [{"payload": "x${A}"}],
        });
        assert_eq!(value, wanted);
    }

    #[test]
    fn what_is_wrong_is_said() {
        let say = |text: &str| resolve(&mut json!({"a": [text]}), &of).expect_err(text).to_string();
        assert_eq!(say("${B} ${C}${B}"), "variables without a value: B, C");
        assert!(say("${").starts_with("a[0]: ${ has no end"));
        assert!(say("${a b}").starts_with("a[0]: \"a b\" is no name"));
        assert!(say("${}").starts_with("a[0]: "));
    }

    proptest! {
        #[test]
        fn what_is_escaped_comes_back(text in "[$ {}a-zA-Z€]{0,20}") {
            let mut value = json!({"a": text});
            escape(&mut value);
            let used = resolve(&mut value, &|_| None);
            prop_assert_eq!(used, Ok(Vec::new()));
            prop_assert_eq!(&value["a"], &json!(text));
        }
    }
}
