//! What differs, line by line, without secrets.

use serde_json::{Map, Value};

use crate::secrets::{is_secret, same};

/// The longest text that is shown on one line, in characters.
const MAX_SHOWN: usize = 120;
/// The most lines of a source that are shown as gone, and as new.
const MAX_LINES: usize = 20;

/// What is set of something new.
pub(crate) fn made(settings: &Map<String, Value>, used: &[(String, String)]) -> Vec<String> {
    let mut lines = Vec::new();
    for (path, value) in flat(settings) {
        if path != "name" {
            match value {
                Value::String(text) if text.contains('\n') => {
                    lines.push(format!("{path}: {} lines", text.lines().count()));
                }
                value => lines.push(format!("{path}: {}", shown(&path, value, used))),
            }
        }
    }
    lines
}

/// What changes of something that is there.
pub(crate) fn changed(
    before: &Map<String, Value>,
    after: &Map<String, Value>,
    used: &[(String, String)],
) -> Vec<String> {
    let (before, after) = (flat(before), flat(after));
    let mut lines = Vec::new();
    for (path, old) in &before {
        match after.iter().find(|(other, _)| other == path) {
            None => lines.push(format!("{path}: {} -> its default", shown(path, old, used))),
            Some((_, new)) if same(old, new) => {}
            Some((_, new)) if is_hidden(path) => {
                let is_text = new.is_string() && old.is_string();
                let what = if is_text { "another value" } else { "other values" };
                lines.push(format!("{path}: (secret) -> {what}"));
            }
            Some((_, Value::String(new))) if new.contains('\n') => {
                lines.push(format!("{path}:"));
                lines.extend(lines_between(old.as_str().unwrap_or_default(), new));
            }
            Some((_, new)) => {
                let (old, new) = (shown(path, old, used), shown(path, new, used));
                lines.push(format!("{path}: {old} -> {new}"));
            }
        }
    }
    for (path, new) in &after {
        if !before.iter().any(|(other, _)| other == path) {
            lines.push(format!("{path}: its default -> {}", shown(path, new, used)));
        }
    }
    lines
}

/// Objects as paths, but rules and headers, which are read as a whole.
fn flat(settings: &Map<String, Value>) -> Vec<(String, &Value)> {
    let mut all = Vec::new();
    for (key, value) in settings {
        match value {
            Value::Object(fields) if key != "rules" && key != "metadata" => {
                all.extend(fields.iter().map(|(inner, value)| (format!("{key}.{inner}"), value)));
            }
            value => all.push((key.clone(), value)),
        }
    }
    all
}

fn is_hidden(path: &str) -> bool {
    path.split('.').any(is_secret)
}

fn shown(path: &str, value: &Value, used: &[(String, String)]) -> String {
    if is_hidden(path) {
        return "(secret)".to_owned();
    }
    let mut value = value.clone();
    hide(&mut value);
    let mut text = value.to_string();
    for (name, secret) in used {
        // A short one would be found in places that it did not come from.
        let quoted = Value::String(secret.clone()).to_string();
        if secret.len() >= 4 {
            text = text.replace(quoted.trim_matches('"'), &format!("${{{name}}}"));
        }
    }
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn hide(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(hide),
        Value::Object(fields) => {
            for (key, field) in fields {
                match is_secret(key) {
                    true => *field = Value::String("(secret)".to_owned()),
                    false => hide(field),
                }
            }
        }
        _ => {}
    }
}

/// The lines that differ, without those before and behind that do not.
fn lines_between(old: &str, new: &str) -> Vec<String> {
    let (old, new): (Vec<_>, Vec<_>) = (old.lines().collect(), new.lines().collect());
    let same = |pairs: &mut dyn Iterator<Item = (&&str, &&str)>| {
        pairs.take_while(|(old, new)| old == new).count()
    };
    let start = same(&mut old.iter().zip(&new));
    let rest = old.len().min(new.len()) - start;
    let end = same(&mut old.iter().rev().zip(new.iter().rev())).min(rest);
    let side = |sign: char, lines: &[&str]| {
        let mut shown: Vec<_> =
            lines.iter().take(MAX_LINES).map(|line| format!("  {sign} {line}")).collect();
        if lines.len() > MAX_LINES {
            shown.push(format!("  {sign} … {} lines more", lines.len() - MAX_LINES));
        }
        shown
    };
    let mut lines = side('-', &old[start..old.len() - end]);
    lines.extend(side('+', &new[start..new.len() - end]));
    if lines.is_empty() {
        lines.push("  (the end of the last line)".to_owned());
    }
    lines
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn map(value: Value) -> Map<String, Value> {
        value.as_object().expect("an object").clone()
    }

    #[test]
    fn changes_are_shown_and_secrets_are_not() {
        let before = map(
            json!({"name": "a", "gone": 1, "auth": {"token": "s3cret-1", "type": "token"},
            "payload": "one\ntwo\nthree\n", "rules": {"match": {"secret": "s3cret-3", "type": "x"}}}),
        );
        let after = map(json!({"name": "a", "auth": {"token": "s3cret-2", "type": "basic"},
            "payload": "one\n2\nthree\n", "destination": "https://example.com/s3cret-4",
            "rules": {"match": {"secret": "s3cret-3", "type": "y"}}}));
        let used = [("HERE".to_owned(), "s3cret-4".to_owned())];
        let lines = changed(&before, &after, &used);
        let wanted = [
            "gone: 1 -> its default",
            "auth.token: (secret) -> another value",
            "auth.type: \"token\" -> \"basic\"",
            "payload:",
            "  - two",
            "  + 2",
            "rules: {\"match\":{\"secret\":\"(secret)\",\"type\":\"x\"}} -> \
             {\"match\":{\"secret\":\"(secret)\",\"type\":\"y\"}}",
            "destination: its default -> \"https://example.com/${HERE}\"",
        ];
        assert_eq!(lines, wanted);
        assert!(!made(&after, &used).join("\n").contains("s3cret"));
    }
}
