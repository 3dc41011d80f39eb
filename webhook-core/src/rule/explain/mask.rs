//! What an explanation does not show.

use std::borrow::Cow;

use serde_json::{Map, Value};

/// What stands for a secret.
pub(crate) const MASK: &str = "…";

/// What names of secrets have in them, without what separates words.
const SECRET: [&str; 10] = [
    "authorization",
    "cookie",
    "token",
    "secret",
    "password",
    "passwd",
    "apikey",
    "credential",
    "session",
    "privatekey",
];

/// Whether something of this name is a secret, going by the name.
pub(crate) fn is_secret(name: &str) -> bool {
    let letters = name.chars().filter(char::is_ascii_alphanumeric);
    let name: String = letters.map(|letter| letter.to_ascii_lowercase()).collect();
    SECRET.iter().any(|word| name.contains(word))
}

/// A match as it is written, without its secret and, with `values`, without what it holds
/// the parameter against.
pub(super) fn rule(json: &Map<String, Value>, values: bool) -> Map<String, Value> {
    let masked = |key: &str| match key {
        "secret" => true,
        "value" | "substring" | "regex" => values,
        _ => false,
    };
    let entry = |(key, value): (&String, &Value)| {
        let value = if masked(key) { MASK.into() } else { value.clone() };
        (key.clone(), value)
    };
    json.iter().map(entry).collect()
}

/// `text` with secrets masked where it is JSON or a form, or the beginning of one.
pub(crate) fn text(text: &str) -> Cow<'_, str> {
    match text.trim_start().chars().next() {
        Some('{' | '[') => json(text).into(),
        _ if text.contains('=') && !text.contains(char::is_whitespace) => form(text).into(),
        _ => text.into(),
    }
}

/// Masks the values of secret names. It goes from string to string, so that JSON which ends
/// too early is masked as far as it goes.
fn json(text: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('"') {
        let (before, from) = rest.split_at(at);
        let (string, after) = from.split_at(string_length(from));
        masked.push_str(before);
        masked.push_str(string);
        rest = after;
        let colon = rest.len() - rest.trim_start().len();
        let Some(value) = rest.trim_start().strip_prefix(':') else { continue };
        if is_secret(string) {
            masked.push_str(rest.get(..=colon).unwrap_or_default());
            let spaces = value.len() - value.trim_start().len();
            masked.push_str(value.get(..spaces).unwrap_or_default());
            masked.push('"');
            masked.push_str(MASK);
            masked.push('"');
            let value = value.trim_start();
            rest = value.get(value_length(value)..).unwrap_or_default();
        }
    }
    masked.push_str(rest);
    masked
}

/// How long the string is at whose quote `text` begins.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// How long the value is with which `text` begins.
fn value_length(text: &str) -> usize {
    let (mut at, mut depth) = (0, 0_usize);
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        match rest.as_bytes().first() {
            Some(b'"') => at += string_length(rest),
            Some(b'{' | b'[') => {
                depth += 1;
                at += 1;
            }
            Some(b'}' | b']' | b',') if depth == 0 => return at,
            Some(b'}' | b']') => {
                depth -= 1;
                at += 1;
            }
            _ => at += rest.chars().next().map_or(1, char::len_utf8),
        }
        if depth == 0 && text.get(..at).is_some_and(|value| value.ends_with(['"', '}', ']'])) {
            return at;
        }
    }
    text.len()
}

fn form(text: &str) -> String {
    let field = |field: &str| match field.split_once('=') {
        Some((name, _)) if is_secret(name) => format!("{name}={MASK}"),
        _ => field.to_owned(),
    };
    text.split('&').map(field).collect::<Vec<_>>().join("&")
}
