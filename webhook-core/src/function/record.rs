//! A run as it is kept, and as the interface shows it (`ExecuteRequest`, `ExecuteResponse`).

use std::{collections::BTreeMap, time::Duration};

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method};
use serde_json::{Map, Value, json};

use super::{Completion, Invocation, ScriptResponse};
use crate::{
    clock::Timestamp,
    id::{AccountId, ExecutionId, FunctionId},
    model::{Checks, Execution, ExecutionStatus, Headers, Request},
};

/// How much of what goes through a function is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Everything.
    Whole,
    /// Bodies up to so many bytes; a longer one is cut and `body_truncated` says so.
    Cut(usize),
    /// Neither bodies nor queries nor headers nor what was printed, which may
    /// be made of them: for what must not be kept.
    NoContent,
}

/// One run of a function as it is kept. It shares the memory of the webhook, and becomes the
/// [`Execution`] that the interface shows when somebody asks for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunRecord {
    /// Identifies the run.
    pub id: ExecutionId,
    /// The function that ran.
    pub function_id: FunctionId,
    /// Whose function it is.
    pub account_id: AccountId,
    /// When it started.
    pub created: Timestamp,
    /// When it ended.
    pub updated: Timestamp,
    /// How long it took.
    pub duration: Duration,
    /// How it ended.
    pub status: ExecutionStatus,
    /// For how many runs of the function this record stands, itself included.
    pub stands_for: u64,
    /// What the function was given.
    pub given: Given,
    /// What it left.
    pub left: Left,
}

/// What a function was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// The method.
    pub method: Method,
    /// What follows the input's address in the path.
    pub extra_path: String,
    /// The query.
    pub raw_query: String,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: KeptBody,
    /// What `r.Metadata` reads.
    pub metadata: BTreeMap<String, String>,
    /// What was found out about the webhook; its count of duplicates is not kept.
    pub checks: Checks,
    /// The destination's answer, for a response function.
    pub response: Option<KeptResponse>,
}

/// What a function left: of the request what it changed, which is not what the function was given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// The method, if it was changed.
    pub method: Option<Method>,
    /// The path, if it was changed.
    pub extra_path: Option<String>,
    /// The query, if it was changed.
    pub raw_query: Option<String>,
    /// All headers, if one was changed.
    pub headers: Option<HeaderMap>,
    /// The body, if it was changed.
    pub body: Option<KeptBody>,
    /// The answer, when there was one or the function set any part of one.
    pub response: Option<KeptResponse>,
    /// Whether the function changed it.
    pub response_modified: bool,
    /// Whether the webhook goes no further.
    pub stop_forwarding: bool,
    /// Why it failed, or nothing.
    pub error: String,
    /// What it printed, a line each.
    pub logs: Vec<String>,
}

/// A body, or how it begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptBody {
    /// The bytes that are kept.
    pub bytes: Bytes,
    /// Whether there were more.
    pub truncated: bool,
}

/// An answer as it is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptResponse {
    /// The status; 0 when it was not set.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: KeptBody,
}

impl Detail {
    fn body(self, body: &Bytes) -> KeptBody {
        let max = match self {
            Self::Whole => usize::MAX,
            Self::Cut(max) => max,
            Self::NoContent => return KeptBody::default(),
        };
        match body.get(..max) {
            // A copy, so that what is left out need not stay in memory.
            Some(begin) if max < body.len() => {
                KeptBody { bytes: Bytes::copy_from_slice(begin), truncated: true }
            }
            _ => KeptBody { bytes: body.clone(), truncated: false },
        }
    }

    fn headers(self, headers: &HeaderMap) -> HeaderMap {
        if self == Self::NoContent { HeaderMap::new() } else { headers.clone() }
    }

    fn text(self, text: &str) -> String {
        if self == Self::NoContent { String::new() } else { text.to_owned() }
    }

    fn response(self, response: &ScriptResponse) -> KeptResponse {
        let ScriptResponse { status, headers, body } = response;
        KeptResponse { status: *status, headers: self.headers(headers), body: self.body(body) }
    }
}

impl Given {
    /// What a call was given, in this detail.
    #[must_use]
    pub fn of(invocation: &Invocation, detail: Detail) -> Self {
        let Request { method, extra_path, raw_query, headers, body } = &invocation.request;
        Self {
            method: method.clone(),
            extra_path: extra_path.clone(),
            raw_query: detail.text(raw_query),
            headers: detail.headers(headers),
            body: detail.body(body),
            metadata: invocation.metadata.clone(),
            checks: Checks { duplicates: 0, hops: 0, ..invocation.checks.clone() },
            response: invocation.response.as_ref().map(|response| detail.response(response)),
        }
    }
}

impl Left {
    /// What a call left, in this detail.
    #[must_use]
    pub fn of(invocation: &Invocation, completion: &Completion, detail: Detail) -> Self {
        let logs = match detail {
            Detail::NoContent => Vec::new(),
            Detail::Whole | Detail::Cut(_) => completion.logs.clone(),
        };
        let outcome = match &completion.result {
            Ok(outcome) => outcome,
            Err(error) => return Self { error: error.to_string(), logs, ..Self::default() },
        };
        let before = &invocation.request;
        let Request { method, extra_path, raw_query, headers, body } = &outcome.request;
        Self {
            method: (before.method != *method).then(|| method.clone()),
            extra_path: (before.extra_path != *extra_path).then(|| extra_path.clone()),
            raw_query: (before.raw_query != *raw_query).then(|| detail.text(raw_query)),
            headers: (before.headers != *headers).then(|| detail.headers(headers)),
            body: (before.body != *body).then(|| detail.body(body)),
            response: outcome.response.as_ref().map(|response| detail.response(response)),
            response_modified: outcome.response_modified,
            stop_forwarding: outcome.stop_forwarding,
            error: String::new(),
            logs,
        }
    }

    /// Whether the function ran to its end, changed nothing and did not stop the webhook.
    pub(crate) fn is_unmodified(&self) -> bool {
        self.error.is_empty()
            && !self.stop_forwarding
            && !self.response_modified
            && !self.has_changed_request()
    }

    /// Whether it is not the request that the function was given.
    const fn has_changed_request(&self) -> bool {
        let Self { method, extra_path, raw_query, headers, body, .. } = self;
        method.is_some()
            || extra_path.is_some()
            || raw_query.is_some()
            || headers.is_some()
            || body.is_some()
    }
}

impl RunRecord {
    /// As the interface shows it.
    #[must_use]
    pub fn execution(&self) -> Execution {
        let Self { id, function_id, account_id, created, updated, duration, status, .. } = self;
        Execution {
            id: *id,
            function_id: *function_id,
            account_id: *account_id,
            created: *created,
            updated: *updated,
            duration: *duration,
            status: *status,
            stands_for: self.stands_for,
            execute_request: self.request(),
            execute_response: self.response(),
        }
    }

    /// What the function was given, as the interface shows it.
    #[must_use]
    pub fn request(&self) -> Value {
        let mut given = self.side(&Left::default());
        let Checks { verified, event, duplicate_of, .. } = &self.given.checks;
        if let Some(verified) = verified {
            given.insert("verified".to_owned(), json!(verified));
        }
        if let Some(event) = event {
            given.insert("event".to_owned(), json!(event));
        }
        if let Some(log) = duplicate_of {
            given.insert("duplicate_of".to_owned(), json!(log));
        }
        let mut whole =
            object([("function_id", json!(self.function_id)), ("request", given.into())]);
        if let Some(response) = &self.given.response {
            whole.insert("response".to_owned(), answer(response).into());
        }
        whole.into()
    }

    /// What the function left, as the interface shows it.
    #[must_use]
    pub fn response(&self) -> Value {
        let left = &self.left;
        let whole = object([
            ("request_id", json!(self.id)),
            ("function_id", json!(self.function_id)),
            ("request", self.side(left).into()),
            ("response", answer(left.response.as_ref().unwrap_or(&KeptResponse::default())).into()),
            ("request_modified", left.has_changed_request().into()),
            ("response_modified", left.response_modified.into()),
            ("unmodified", left.is_unmodified().into()),
            ("stop_forwarding", left.stop_forwarding.into()),
            ("error", left.error.as_str().into()),
            ("logs", left.logs.as_slice().into()),
        ]);
        whole.into()
    }

    /// The request after what was `left` of it.
    fn side(&self, left: &Left) -> Map<String, Value> {
        let Given { method, extra_path, raw_query, headers, body, metadata, .. } = &self.given;
        let mut side = object([
            ("header", header(left.headers.as_ref().unwrap_or(headers))),
            ("header_modified", left.headers.is_some().into()),
            ("body_modified", left.body.is_some().into()),
            ("path", left.extra_path.as_deref().unwrap_or(extra_path).into()),
            ("path_modified", left.extra_path.is_some().into()),
            ("raw_query", left.raw_query.as_deref().unwrap_or(raw_query).into()),
            ("raw_query_modified", left.raw_query.is_some().into()),
            ("method", left.method.as_ref().unwrap_or(method).as_str().into()),
            ("method_modified", left.method.is_some().into()),
            ("metadata", json!(metadata)),
        ]);
        put_body(&mut side, left.body.as_ref().unwrap_or(body));
        side
    }
}

/// An object of values that are made; `json!` would copy each of them.
fn object<const FIELDS: usize>(fields: [(&str, Value); FIELDS]) -> Map<String, Value> {
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn answer(response: &KeptResponse) -> Map<String, Value> {
    let KeptResponse { status, headers, body } = response;
    let mut answer = object([("status", (*status).into()), ("header", header(headers))]);
    put_body(&mut answer, body);
    answer
}

fn put_body(whole: &mut Map<String, Value>, body: &KeptBody) {
    whole.insert("body".to_owned(), STANDARD.encode(&body.bytes).into());
    if body.truncated {
        whole.insert("body_truncated".to_owned(), Value::Bool(true));
    }
}

fn header(headers: &HeaderMap) -> Value {
    let names = headers.keys().map(|name| {
        let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let values = headers.get_all(name).iter().map(|value| Value::String(text(value)));
        (Headers::canonical_name(name), object([("values", values.collect())]).into())
    });
    Value::Object(names.collect::<Map<_, _>>())
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, sync::Arc, time::Duration};

    use http::Method;

    use super::*;
    use crate::{
        function::ScriptOutcome,
        id::{AccountId, FunctionId},
        model::Driver,
    };

    fn recorded(invocation: &Invocation, completion: &Completion, detail: Detail) -> RunRecord {
        RunRecord {
            id: ExecutionId::generate(),
            function_id: invocation.function_id,
            account_id: invocation.account_id,
            created: Timestamp::default(),
            updated: Timestamp::default(),
            duration: completion.duration,
            status: ExecutionStatus::Success,
            stands_for: 1,
            given: Given::of(invocation, detail),
            left: Left::of(invocation, completion, detail),
        }
    }

    fn run() -> (Invocation, Completion) {
        let mut headers = HeaderMap::new();
        headers.append("x-token", "a".parse().expect("a value"));
        headers.append("x-token", "b".parse().expect("a value"));
        let request = Request {
            method: Method::POST,
            extra_path: "/p".to_owned(),
            raw_query: "q=1".to_owned(),
            headers,
            body: Bytes::from_static(b"secret body"),
        };
        let changed = Request { body: Bytes::from_static(b"another secret"), ..request.clone() };
        let invocation = Invocation {
            account_id: AccountId::generate(),
            function_id: FunctionId::generate(),
            revision: 0,
            driver: Driver::Lua,
            source: Arc::from(""),
            config: Arc::new(BTreeMap::from([("KEY".to_owned(), "variable".to_owned())])),
            metadata: BTreeMap::new(),
            checks: Checks {
                verified: Some(true),
                event: Some("push".to_owned()),
                ..Checks::default()
            },
            request,
            response: None,
            trial: None,
        };
        let outcome = ScriptOutcome {
            request: changed,
            response: None,
            response_modified: false,
            stop_forwarding: true,
        };
        let logs = vec!["printed secret".to_owned()];
        (invocation, Completion { result: Ok(outcome), logs, duration: Duration::ZERO })
    }

    #[test]
    fn bodies_are_cut_and_say_so() {
        let (invocation, completion) = run();
        let whole = recorded(&invocation, &completion, Detail::Whole).response();
        assert_eq!(whole["request"]["body"], STANDARD.encode("another secret"));
        assert_eq!(whole["request"]["header"]["X-Token"]["values"], json!(["a", "b"]));
        assert!(whole["request"]["body_truncated"].is_null());
        let kept = recorded(&invocation, &completion, Detail::Cut(7));
        let (given, cut) = (kept.request(), kept.response());
        for (side, body) in [(&given["request"], "secret "), (&cut["request"], "another")] {
            assert_eq!(side["body"], STANDARD.encode(body));
            assert_eq!(side["body_truncated"], true);
        }
        assert_eq!(cut["logs"], json!(["printed secret"]));
    }

    #[test]
    fn what_must_not_be_kept_is_not_there() {
        let (invocation, completion) = run();
        let kept = recorded(&invocation, &completion, Detail::NoContent);
        let kept = [kept.request(), kept.response()];
        for value in &kept {
            let (text, body) = (value.to_string(), STANDARD.encode("another secret"));
            for content in ["q=1", "X-Token", "printed", &body, &STANDARD.encode("secret body")] {
                assert!(!text.contains(content), "{text}");
            }
        }
        let left = &kept[1];
        assert_eq!((&left["request"]["body_modified"], &left["logs"]), (&json!(true), &json!([])));
        assert_eq!(left["stop_forwarding"], true);
    }

    #[test]
    fn what_was_found_out_is_there_where_something_was() {
        let (mut invocation, completion) = run();
        let given = recorded(&invocation, &completion, Detail::Whole).request();
        assert_eq!(
            (&given["request"]["verified"], &given["request"]["event"]),
            (&json!(true), &json!("push"))
        );
        assert!(given["request"].get("duplicate_of").is_none());
        invocation.checks = Checks::default();
        let given = recorded(&invocation, &completion, Detail::Whole).request();
        assert!(given["request"].get("verified").is_none());
    }

    #[test]
    fn what_was_changed_is_said_also_where_it_is_not_kept() {
        let (invocation, mut completion) = run();
        let header =
            |name: &'static str| (name.parse().expect("a name"), HeaderValue::from_static("v"));
        let request = Request {
            method: Method::PUT,
            extra_path: "/q".to_owned(),
            raw_query: String::new(),
            headers: [header("x-new")].into_iter().collect(),
            ..invocation.request.clone()
        };
        let answer = ScriptResponse { status: 418, ..ScriptResponse::default() };
        completion.result = Ok(ScriptOutcome {
            request,
            response: Some(answer),
            response_modified: true,
            stop_forwarding: false,
        });
        for detail in [Detail::Whole, Detail::Cut(3), Detail::NoContent] {
            let left = recorded(&invocation, &completion, detail).response();
            let request = &left["request"];
            for (field, modified) in [
                ("method", true),
                ("path", true),
                ("raw_query", true),
                ("header", true),
                ("body", false),
            ] {
                assert_eq!(request[format!("{field}_modified")], modified, "{field}");
            }
            assert_eq!((&request["method"], &request["path"]), (&json!("PUT"), &json!("/q")));
            let names = request["header"].as_object().expect("headers").keys().collect::<Vec<_>>();
            assert_eq!(names.len(), usize::from(detail != Detail::NoContent), "{names:?}");
            assert_eq!(
                (&left["request_modified"], &left["response"]["status"]),
                (&json!(true), &json!(418))
            );
        }
    }

    #[test]
    fn what_fails_leaves_what_it_was_given() {
        let (invocation, mut completion) = run();
        completion.result = Err(crate::function::FunctionError::Script("broken".to_owned()));
        let kept = recorded(&invocation, &completion, Detail::Whole).execution();
        let (given, left) = (&kept.execute_request["request"], &kept.execute_response["request"]);
        assert_eq!((&given["body"], &given["header"]), (&left["body"], &left["header"]));
        assert_eq!(kept.execute_response["request_modified"], false);
        assert_eq!(kept.execute_response["error"], "broken");
    }

    #[test]
    fn variables_are_not_in_debug_output() {
        let (invocation, _) = run();
        assert!(!format!("{invocation:?}").contains("variable"));
    }
}
