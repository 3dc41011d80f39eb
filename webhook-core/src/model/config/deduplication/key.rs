//! The key of a webhook: two webhooks of an input with the same key are duplicates.

use std::{borrow::Cow, cell::OnceCell, collections::BTreeMap};

use http::Method;
use ring::digest::{Context, SHA256};
use serde_json::value::RawValue;
use url::form_urlencoded;

use super::{Deduplication, KeyPart, KeySource};
use crate::{content::Document, model::SignatureSpec, rule::value_at, wire::Request};
use webhook_signatures::presets;

impl Deduplication {
    /// What two webhooks have in common that are duplicates, a digest; none if the webhook lacks
    /// a part of it, and is nobody's duplicate. `delivery_id` is asked for where the key is what
    /// the provider of `signature` calls the delivery.
    #[must_use]
    pub fn key_of(
        &self,
        request: &Request,
        signature: Option<&SignatureSpec>,
        delivery_id: impl FnOnce() -> Option<String>,
    ) -> Option<[u8; 32]> {
        if self.content || !self.key.is_empty() || !signature.is_some_and(has_delivery_id) {
            return key(self, request);
        }
        let mut hash = Hash::new("id");
        hash.part(delivery_id()?.as_bytes());
        Some(hash.end())
    }
}

/// Whether the provider names its deliveries.
fn has_delivery_id(spec: &SignatureSpec) -> bool {
    let preset = || presets().iter().find(|preset| preset.name == spec.provider);
    let named = || preset().is_some_and(|preset| !preset.delivery_id.is_empty());
    spec.enabled && (spec.scheme.as_ref().is_some_and(|it| it.id.is_some()) || named())
}

/// The parts of a request, each told from the next by its length.
struct Hash(Context);

impl Hash {
    fn new(kind: &str) -> Self {
        let mut hash = Self(Context::new(&SHA256));
        hash.part(kind.as_bytes());
        hash
    }

    fn part(&mut self, bytes: &[u8]) {
        self.0.update(&(bytes.len() as u64).to_be_bytes());
        self.0.update(bytes);
    }

    fn end(self) -> [u8; 32] {
        let mut key = [0; 32];
        key.copy_from_slice(self.0.finish().as_ref());
        key
    }
}

fn key(spec: &Deduplication, request: &Request) -> Option<[u8; 32]> {
    let mut hash = Hash::new("parts");
    let body = Body { request, json: OnceCell::new() };
    for part in &spec.key {
        values(part, &body, &mut hash)?;
    }
    if spec.content || spec.key.is_empty() {
        content(spec, &body, &mut hash);
    }
    Some(hash.end())
}

/// A request whose body is read when a part of it is asked for.
struct Body<'a> {
    request: &'a Request,
    json: OnceCell<Option<Cow<'a, str>>>,
}

impl Body<'_> {
    /// The body as JSON text, with numbers as they were written.
    fn json(&self) -> Option<&str> {
        let Request { headers, body, .. } = self.request;
        let read = || match Document::read(headers, body).ok()?? {
            Document::Json(text) => Some(text),
            document => document.to_json().map(|text| Cow::Owned(text.into_owned())),
        };
        self.json.get_or_init(read).as_deref()
    }
}

/// All values of the part; none if it is missing.
fn values(KeyPart { source, name }: &KeyPart, body: &Body<'_>, hash: &mut Hash) -> Option<()> {
    let (request, mut count) = (body.request, 0_u64);
    match source {
        KeySource::Header => {
            for value in request.headers.get_all(&**name) {
                hash.part(value.as_bytes());
                count += 1;
            }
        }
        KeySource::Query => {
            for (_, value) in query(request).filter(|(key, _)| key == name) {
                hash.part(value.as_bytes());
                count += 1;
            }
        }
        KeySource::Payload => {
            let value = at(body.json()?, name).map(Cow::into_owned);
            // A rule also finds a value behind a text that is JSON.
            let value = value.or_else(|| value_at(request, name).filter(|it| it != "null"))?;
            hash.part(value.as_bytes());
            count += 1;
        }
    }
    hash.part(&count.to_be_bytes());
    (count > 0).then_some(())
}

/// Method, path, query and body, without what is excluded.
fn content(spec: &Deduplication, read: &Body<'_>, hash: &mut Hash) {
    let request = read.request;
    let Request { method, extra_path, raw_query, headers: _, body } = request;
    hash.part(Method::as_str(method).as_bytes());
    hash.part(extra_path.as_bytes());
    let excluded = |prefix| spec.exclude.iter().filter_map(move |path| path.strip_prefix(prefix));
    match excluded("query.").next() {
        None => hash.part(raw_query.as_bytes()),
        Some(_) => {
            let differs = |key: &str| excluded("query.").any(|excluded| excluded == key);
            for (key, value) in query(request).filter(|(key, _)| !differs(key)) {
                hash.part(key.as_bytes());
                hash.part(value.as_bytes());
            }
            hash.part(b"");
        }
    }
    let paths: Vec<_> = excluded("payload.").map(|path| path.split('.').collect()).collect();
    match if paths.is_empty() { None } else { read.json() } {
        Some(document) => without(document, &paths, hash),
        None => hash.part(body),
    }
}

fn query(request: &Request) -> form_urlencoded::Parse<'_> {
    form_urlencoded::parse(request.raw_query.as_bytes())
}

type Object<'a> = BTreeMap<Cow<'a, str>, &'a RawValue>;

fn object(value: &str) -> Option<Object<'_>> {
    value.starts_with('{').then(|| serde_json::from_str(value).ok()).flatten()
}

fn list(value: &str) -> Option<Vec<&RawValue>> {
    value.starts_with('[').then(|| serde_json::from_str(value).ok()).flatten()
}

/// The text of what is at the dotted path; `null` is missing.
fn at<'a>(mut value: &'a str, path: &str) -> Option<Cow<'a, str>> {
    for segment in path.split('.') {
        value = match object(value) {
            Some(object) => object.get(segment)?.get(),
            None => list(value)?.get(segment.parse::<usize>().ok()?)?.get(),
        };
    }
    match value {
        "null" => None,
        text if text.starts_with('"') => serde_json::from_str(text).ok().map(Cow::Owned),
        text => Some(Cow::Borrowed(text)),
    }
}

/// A document without what is at the paths. It goes as deep as they do.
fn without(value: &str, paths: &[Vec<&str>], hash: &mut Hash) {
    let below = |segment: &str| -> Vec<Vec<&str>> {
        let inside = paths.iter().filter(|path| path.first() == Some(&segment));
        inside.map(|path| path.iter().skip(1).copied().collect()).collect()
    };
    let mut entry = |key: &str, value: &str| {
        let paths = below(key);
        if paths.iter().any(Vec::is_empty) {
            return;
        }
        hash.part(key.as_bytes());
        match paths.is_empty() {
            true => hash.part(value.as_bytes()),
            false => without(value, &paths, hash),
        }
    };
    if let Some(object) = object(value) {
        object.iter().for_each(|(key, value)| entry(key, value.get()));
        hash.part(b"}");
    } else if let Some(list) = list(value) {
        list.iter().enumerate().for_each(|(at, value)| entry(&at.to_string(), value.get()));
        hash.part(b"]");
    } else {
        hash.part(value.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::{HeaderMap, HeaderValue};
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn spec(json: Value) -> Deduplication {
        serde_json::from_value(json).expect("a spec")
    }

    fn request(raw_query: &str, body: &str) -> Request {
        let mut headers = HeaderMap::new();
        headers.append("x-id", HeaderValue::from_static("7"));
        Request {
            method: Method::POST,
            extra_path: "/a".to_owned(),
            raw_query: raw_query.to_owned(),
            headers,
            body: Bytes::copy_from_slice(body.as_bytes()),
        }
    }

    #[test]
    fn parts_are_found_and_a_missing_one_is_nobodys_duplicate() {
        let body = r#"{"data": [{"id": 1.50, "name": "aé"}], "none": null}"#;
        let request = request("id=a%20b&id=c&x", body);
        let keyed = |source: &str, name: &str| {
            key(&spec(json!({"key": [{"source": source, "name": name}]})), &request)
        };
        for (source, name) in [
            ("header", "X-Id"),
            ("query", "id"),
            ("query", "x"),
            ("payload", "data.0.id"),
            ("payload", "data.0.name"),
            ("payload", "data"),
        ] {
            assert!(keyed(source, name).is_some(), "{source} {name}");
        }
        for (source, name) in [
            ("header", "x-other"),
            ("query", "ID"),
            ("payload", "none"),
            ("payload", "data.1"),
            ("payload", "data.x"),
            ("payload", "data.0.id.x"),
        ] {
            assert!(keyed(source, name).is_none(), "{source} {name}");
        }
        let both = json!({"key": [
            {"source": "header", "name": "x-id"}, {"source": "query", "name": "nothing"},
        ]});
        assert!(key(&spec(both), &request).is_none());
    }

    #[test]
    fn numbers_are_compared_digit_by_digit() {
        let spec = spec(json!({"key": [{"source": "payload", "name": "id"}]}));
        let keyed = |id: &str| key(&spec, &request("", &format!("{{\"id\": {id}}}")));
        assert_ne!(keyed("90071992547409931"), keyed("90071992547409932"));
        assert_eq!(keyed("\"\\u0061\""), keyed("\"a\""));
    }

    #[test]
    fn content_is_compared_without_what_is_excluded() {
        let all = spec(json!({"content": true}));
        let some = spec(json!({
            "exclude": ["payload.sent_at", "payload.items.0.seq", "query.ts"],
        }));
        let first = request("a=1&ts=1", r#"{"id":1,"sent_at":5,"items":[{"seq":1,"n":1}]}"#);
        let again = request("a=1&ts=2", r#"{"sent_at":6,"id":1,"items":[{"n":1,"seq":2}]}"#);
        let other = request("a=1&ts=2", r#"{"id":1,"sent_at":6,"items":[{"seq":2,"n":2}]}"#);
        assert_eq!(key(&some, &first), key(&some, &again));
        assert_ne!(key(&some, &first), key(&some, &other));
        assert_ne!(key(&all, &first), key(&all, &again));
        assert_eq!(key(&all, &first), key(&all, &first.clone()));
        let elsewhere = Request { extra_path: "/b".to_owned(), ..first.clone() };
        assert_ne!(key(&some, &first), key(&some, &elsewhere));
        let put = Request { method: Method::PUT, ..first.clone() };
        assert_ne!(key(&some, &first), key(&some, &put));
    }

    proptest! {
        #[test]
        fn any_body_and_path_has_a_key_or_none(
            body in ".{0,60}|\\[\\{\"a\":[0-9]{1,3}\\}\\]",
            query in ".{0,20}",
            path in "[a-z0-9.]{1,12}",
        ) {
            let request = request(&query, &body);
            let parts = json!({"key": [{"source": "payload", "name": path}]});
            let _ = key(&spec(parts), &request);
            let exclude = json!({"exclude": [format!("payload.{path}"), "query.a"]});
            prop_assert_eq!(key(&spec(exclude.clone()), &request), key(&spec(exclude), &request));
        }

        #[test]
        fn whatever_differs_makes_another_key(
            one in prop::collection::vec(any::<u8>(), 0..40),
            other in prop::collection::vec(any::<u8>(), 0..40),
        ) {
            let all = spec(json!({"content": true}));
            let with = |body: &[u8]| Request {
                body: Bytes::copy_from_slice(body), ..request("", "")
            };
            prop_assert_eq!(key(&all, &with(&one)) == key(&all, &with(&other)), one == other);
        }
    }
}
