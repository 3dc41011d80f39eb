//! What a script is given, and what it must leave.

use std::{collections::BTreeMap, fs, path::Path};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use serde_json::Value;
use webhook_core::{
    function::{ScriptOutcome, ScriptResponse},
    model::Request,
};

/// When all of this happens: 2024-03-01T12:00:00Z.
pub(crate) const NOW: i64 = 1_709_294_400;

/// A scenario of the cookbook and the webhooks that it is tried with.
pub(crate) struct Scenario {
    pub(crate) title: &'static str,
    pub(crate) cases: Vec<Case>,
}

/// One webhook and what becomes of it.
#[derive(Clone)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) given: Given,
    pub(crate) wanted: Result<ScriptOutcome, &'static str>,
}

/// A webhook and what is around it.
#[derive(Clone)]
pub(crate) struct Given {
    pub(crate) request: Request,
    pub(crate) response: Option<ScriptResponse>,
    pub(crate) config: BTreeMap<String, String>,
    /// When it comes, in unix seconds; [`NOW`] unless it says.
    pub(crate) now: i64,
    /// Answers to the requests of the script by `METHOD URL AUTHORIZATION`.
    pub(crate) upstream: BTreeMap<String, (u16, &'static str)>,
}

pub(crate) fn scenario(title: &'static str) -> Scenario {
    Scenario { title, cases: Vec::new() }
}

impl Scenario {
    /// A webhook, and what is changed of it.
    pub(crate) fn case(
        mut self,
        name: &'static str,
        given: Given,
        wanted: impl FnOnce(Left) -> Left,
    ) -> Self {
        let left = Left(ScriptOutcome {
            request: given.request.clone(),
            response: given.response.clone(),
            response_modified: false,
            stop_forwarding: false,
        });
        let wanted = Ok(wanted(left).0);
        self.cases.push(Case { name, given, wanted });
        self
    }

    /// A webhook on which the script fails with a message that has this in it.
    pub(crate) fn fails(mut self, name: &'static str, given: Given, why: &'static str) -> Self {
        self.cases.push(Case { name, given, wanted: Err(why) });
        self
    }
}

/// A POST of JSON.
pub(crate) fn post(body: &str) -> Given {
    let request = Request {
        method: Method::POST,
        extra_path: String::new(),
        raw_query: String::new(),
        headers: HeaderMap::new(),
        body: Bytes::copy_from_slice(body.as_bytes()),
    };
    Given { request, response: None, config: BTreeMap::new(), now: NOW, upstream: BTreeMap::new() }
        .header("content-type", "application/json")
}

/// A payload of a file in `payloads`.
pub(crate) fn payload(file: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cookbook/payloads");
    fs::read_to_string(folder.join(file)).expect("a payload")
}

/// A payload with one value changed, by its JSON pointer.
pub(crate) fn payload_with(file: &str, pointer: &str, value: impl Into<Value>) -> String {
    let mut payload: Value = serde_json::from_str(&payload(file)).expect("JSON");
    *payload.pointer_mut(pointer).expect("a value there") = value.into();
    payload.to_string()
}

fn put(headers: &mut HeaderMap, name: &str, value: &str) {
    let name: HeaderName = name.parse().expect("a header name");
    headers.insert(name, HeaderValue::from_str(value).expect("a header value"));
}

impl Given {
    pub(crate) fn method(mut self, method: Method) -> Self {
        self.request.method = method;
        self
    }

    pub(crate) fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.request.body = body.into();
        self
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        put(&mut self.request.headers, name, value);
        self
    }

    pub(crate) fn url(mut self, path: &str, query: &str) -> Self {
        self.request.extra_path = path.to_owned();
        self.request.raw_query = query.to_owned();
        self
    }

    pub(crate) fn config(mut self, key: &str, value: &str) -> Self {
        self.config.insert(key.to_owned(), value.to_owned());
        self
    }

    pub(crate) fn at(mut self, now: i64) -> Self {
        self.now = now;
        self
    }

    pub(crate) fn upstream(mut self, request: &str, status: u16, body: &'static str) -> Self {
        self.upstream.insert(request.to_owned(), (status, body));
        self
    }

    pub(crate) fn answered(mut self, status: u16, body: &'static str) -> Self {
        let body = Bytes::from_static(body.as_bytes());
        self.response = Some(ScriptResponse { status, headers: HeaderMap::new(), body });
        self
    }
}

/// What a script leaves; everything that is not said is as it was given.
pub(crate) struct Left(ScriptOutcome);

impl Left {
    pub(crate) fn stopped(mut self) -> Self {
        self.0.stop_forwarding = true;
        self
    }

    /// JSON of the same meaning.
    pub(crate) fn json(mut self, body: Value) -> Self {
        self.0.request.body = Bytes::from(body.to_string());
        self
    }

    pub(crate) fn text(mut self, body: &'static str) -> Self {
        self.0.request.body = Bytes::from_static(body.as_bytes());
        self
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        put(&mut self.0.request.headers, name, value);
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.0.request.headers.remove(name);
        self
    }

    pub(crate) fn method(mut self, method: Method) -> Self {
        self.0.request.method = method;
        self
    }

    pub(crate) fn url(mut self, path: &str, query: &str) -> Self {
        self.0.request.extra_path = path.to_owned();
        self.0.request.raw_query = query.to_owned();
        self
    }

    /// An answer of this status; without a body when it is empty.
    pub(crate) fn answers(mut self, status: u16, body: &str) -> Self {
        let response = self.0.response.get_or_insert_default();
        response.status = status;
        response.body = Bytes::copy_from_slice(body.as_bytes());
        self.0.response_modified = true;
        self
    }

    pub(crate) fn answer_header(mut self, name: &str, value: &str) -> Self {
        put(&mut self.0.response.get_or_insert_default().headers, name, value);
        self
    }
}
