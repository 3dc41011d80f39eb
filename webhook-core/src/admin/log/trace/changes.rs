//! What differs between two requests, for people: bounded, and without secrets.

use std::collections::BTreeSet;

use http::HeaderMap;
use serde_json::Value;

use crate::{
    model::{Request, TraceChange, TracePart},
    rule::{MAX_EXPLAINED_VALUE_BYTES, is_secret_name, mask_secrets},
};

/// The most changes that are told.
const MAX_CHANGES: usize = 100;
/// What stands for a secret.
const MASK: &str = "…";

/// What differs, and whether there is more than that.
#[derive(Debug, Default)]
pub(super) struct Changes {
    pub(super) list: Vec<TraceChange>,
    pub(super) cut: bool,
    /// For webhooks whose content is forgotten: no values.
    without_values: bool,
}

/// What makes `after` of `before`; without the body where that is not known as it was.
pub(super) fn between(
    before: &Request,
    after: &Request,
    with_body: bool,
    without_values: bool,
) -> Changes {
    let mut changes = Changes { without_values, ..Changes::default() };
    if before.method != after.method {
        changes.text(TracePart::Method, "", before.method.as_str(), after.method.as_str());
    }
    if before.extra_path != after.extra_path {
        changes.text(TracePart::Path, "", &before.extra_path, &after.extra_path);
    }
    if before.raw_query != after.raw_query {
        changes.text(TracePart::Query, "", &before.raw_query, &after.raw_query);
    }
    changes.headers(&before.headers, &after.headers);
    if with_body && before.body != after.body {
        let json = |body| serde_json::from_slice::<Value>(body).ok();
        match (json(&before.body), json(&after.body)) {
            (Some(from), Some(to)) if from != to && is_nested(&from) && is_nested(&to) => {
                changes.json(&mut String::new(), Some(&from), Some(&to));
            }
            _ => {
                let from = String::from_utf8_lossy(&before.body);
                let to = String::from_utf8_lossy(&after.body);
                changes.text(TracePart::Body, "", &from, &to);
            }
        }
    }
    changes
}

fn is_nested(value: &Value) -> bool {
    matches!(value, Value::Object(_) | Value::Array(_))
}

impl Changes {
    fn text(&mut self, part: TracePart, name: &str, from: &str, to: &str) {
        let shown = |text: &str| (!text.is_empty()).then(|| mask_secrets(text).into_owned());
        self.add(part, name, shown(from), shown(to));
    }

    fn headers(&mut self, before: &HeaderMap, after: &HeaderMap) {
        let names: BTreeSet<_> =
            before.keys().chain(after.keys()).map(http::HeaderName::as_str).collect();
        for name in names {
            let values = |headers: &HeaderMap| -> Vec<_> {
                let all = headers.get_all(name).iter();
                all.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()).collect()
            };
            let (from, to) = (values(before), values(after));
            if from == to {
                continue;
            }
            let shown = |values: Vec<String>| match (values.is_empty(), is_secret_name(name)) {
                (true, _) => None,
                (false, true) => Some(MASK.to_owned()),
                (false, false) => Some(mask_secrets(&values.join(", ")).into_owned()),
            };
            self.add(TracePart::Header, name, shown(from), shown(to));
        }
    }

    /// Goes as deep as JSON is read, which is 128 levels.
    fn json(&mut self, path: &mut String, from: Option<&Value>, to: Option<&Value>) {
        if from == to || self.is_full() {
            return;
        }
        let before = path.len();
        match (from, to) {
            (Some(Value::Object(old)), Some(Value::Object(new))) => {
                let added = new.keys().filter(|key| !old.contains_key(*key));
                for key in old.keys().chain(added) {
                    if !path.is_empty() {
                        path.push('.');
                    }
                    path.push_str(key);
                    if is_secret_name(key) && old.get(key) != new.get(key) {
                        let masked = |value: Option<&Value>| value.map(|_| MASK.to_owned());
                        self.add(TracePart::Body, path, masked(old.get(key)), masked(new.get(key)));
                    } else {
                        self.json(path, old.get(key), new.get(key));
                    }
                    path.truncate(before);
                }
            }
            (Some(Value::Array(old)), Some(Value::Array(new))) => {
                for index in 0..old.len().max(new.len()) {
                    path.push_str(&format!("[{index}]"));
                    self.json(path, old.get(index), new.get(index));
                    path.truncate(before);
                }
            }
            _ => {
                let shown = |value: Option<&Value>| {
                    value.map(|value| mask_secrets(&value.to_string()).into_owned())
                };
                self.add(TracePart::Body, path, shown(from), shown(to));
            }
        }
    }

    fn is_full(&mut self) -> bool {
        let full = self.list.len() >= MAX_CHANGES;
        self.cut |= full;
        full
    }

    fn add(&mut self, part: TracePart, name: &str, from: Option<String>, to: Option<String>) {
        if self.is_full() {
            return;
        }
        let mut shown = |value: Option<String>| {
            let mut value = value.filter(|_| !self.without_values)?;
            if value.len() > MAX_EXPLAINED_VALUE_BYTES {
                value.truncate(value.floor_char_boundary(MAX_EXPLAINED_VALUE_BYTES));
                self.cut = true;
            }
            Some(value)
        };
        let (from, to) = (shown(from), shown(to));
        self.list.push(TraceChange { part, name: name.to_owned(), from, to });
    }
}

#[cfg(test)]
mod tests;
