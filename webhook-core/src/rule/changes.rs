//! What differs between two requests, for people: bounded, and without secrets.

use std::collections::BTreeSet;

use http::HeaderMap;
use serde::Serialize;
use serde_json::Value;

use crate::rule::{
    MAX_EXPLAINED_VALUE_BYTES, Request,
    explain::{MASK, is_secret_name, mask_secrets},
};

/// The most changes that are told of two requests.
pub const MAX_CHANGES: usize = 100;

/// What differs between two requests: see [`RequestChanges::between`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestChanges {
    /// What differs, in the order of the parts; [`MAX_CHANGES`] at most.
    pub list: Vec<RequestChange>,
    /// Whether there are more changes than that, or longer values than
    /// [`MAX_EXPLAINED_VALUE_BYTES`].
    pub cut: bool,
}

/// One difference between two requests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct RequestChange {
    /// Of what.
    pub part: RequestPart,
    /// Of which header, or where in a JSON body (`order.lines[2].sku`); empty for the whole.
    pub name: String,
    /// What it was, at most 1 KiB; absent when there was nothing, or it is not for showing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// What it is then; absent when there is nothing, or it is not for showing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
}

/// A part of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum RequestPart {
    /// The method.
    Method,
    /// What followed the input's address in the path.
    Path,
    /// The query.
    Query,
    /// A header.
    Header,
    /// The body, or a value in it.
    Body,
}

impl RequestChanges {
    /// What makes `after` of `before`. What goes by the name of a secret is told to differ,
    /// and nothing of its value.
    #[must_use]
    pub fn between(before: &Request, after: &Request) -> Self {
        let mut changes = Self::outside_of_bodies(before, after);
        changes.body(&before.body, &after.body);
        changes
    }

    /// The same where one of the bodies is not known.
    #[must_use]
    pub fn outside_of_bodies(before: &Request, after: &Request) -> Self {
        let mut changes = Self::default();
        if before.method != after.method {
            changes.text(RequestPart::Method, before.method.as_str(), after.method.as_str());
        }
        if before.extra_path != after.extra_path {
            changes.text(RequestPart::Path, &before.extra_path, &after.extra_path);
        }
        if before.raw_query != after.raw_query {
            changes.text(RequestPart::Query, &before.raw_query, &after.raw_query);
        }
        changes.headers(&before.headers, &after.headers);
        changes
    }

    /// The same without values, for webhooks whose content is forgotten.
    #[must_use]
    pub fn without_values(mut self) -> Self {
        for change in &mut self.list {
            (change.from, change.to) = (None, None);
        }
        self
    }

    fn body(&mut self, before: &[u8], after: &[u8]) {
        if before == after {
            return;
        }
        let json = |body| serde_json::from_slice::<Value>(body).ok();
        match (json(before), json(after)) {
            (Some(from), Some(to)) if from != to && is_nested(&from) && is_nested(&to) => {
                self.json(&mut String::new(), Some(&from), Some(&to));
            }
            _ => {
                let (from, to) = (String::from_utf8_lossy(before), String::from_utf8_lossy(after));
                self.text(RequestPart::Body, &from, &to);
            }
        }
    }

    fn text(&mut self, part: RequestPart, from: &str, to: &str) {
        let shown = |text: &str| (!text.is_empty()).then(|| mask_secrets(text).into_owned());
        self.add(part, "", shown(from), shown(to));
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
            self.add(RequestPart::Header, name, shown(from), shown(to));
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
                        self.add(
                            RequestPart::Body,
                            path,
                            masked(old.get(key)),
                            masked(new.get(key)),
                        );
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
                self.add(RequestPart::Body, path, shown(from), shown(to));
            }
        }
    }

    fn is_full(&mut self) -> bool {
        let full = self.list.len() >= MAX_CHANGES;
        self.cut |= full;
        full
    }

    fn add(&mut self, part: RequestPart, name: &str, from: Option<String>, to: Option<String>) {
        if self.is_full() {
            return;
        }
        let mut shown = |value: Option<String>| {
            let mut value = value?;
            if value.len() > MAX_EXPLAINED_VALUE_BYTES {
                value.truncate(value.floor_char_boundary(MAX_EXPLAINED_VALUE_BYTES));
                self.cut = true;
            }
            Some(value)
        };
        let (from, to) = (shown(from), shown(to));
        self.list.push(RequestChange { part, name: name.to_owned(), from, to });
    }
}

fn is_nested(value: &Value) -> bool {
    matches!(value, Value::Object(_) | Value::Array(_))
}

#[cfg(test)]
mod tests;
