mod booleans;
mod building;
mod elements;
mod explaining;
mod matching;
mod page;
mod payload;
mod properties;
mod refused;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use serde_json::{Value, json};

use super::{Rules, Subject};
use crate::wire::Request;

/// A request with nothing in it but this body.
fn with_body(content_type: &str, body: impl Into<Bytes>) -> Request {
    let mut request = Request {
        method: Method::POST,
        extra_path: String::new(),
        raw_query: String::new(),
        headers: HeaderMap::new(),
        body: body.into(),
    };
    if !content_type.is_empty() {
        add_header(&mut request, "content-type", content_type.as_bytes());
    }
    request
}

fn add_header(request: &mut Request, name: &'static str, value: &[u8]) {
    let value = HeaderValue::from_bytes(value).expect("a header value");
    request.headers.append(HeaderName::from_static(name), value);
}

fn parse(json: Value) -> Rules {
    serde_json::from_value(json).expect("valid rules")
}

fn passes(rules: Value, request: &Request) -> bool {
    parse(rules).matches(&Subject::new(request))
}

/// A match of `kind` with `field` set to `text`.
fn rule(kind: &str, field: &str, text: &str, source: &str, name: &str) -> Value {
    json!({"match": {
        "type": kind, field: text, "parameter": {"source": source, "name": name},
    }})
}

/// The text of a parameter, found by asking for it: none when it is missing.
fn is_text(request: &Request, source: &str, name: &str, text: &str) -> bool {
    passes(rule("value", "value", text, source, name), request)
}

fn is_missing(request: &Request, source: &str, name: &str) -> bool {
    !passes(rule("contains", "substring", "", source, name), request)
}
