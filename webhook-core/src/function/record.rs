//! A run as the interface shows it (`ExecuteRequest`, `ExecuteResponse`).

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use serde_json::{Map, Value, json};

use super::{Completion, Invocation, ScriptResponse};
use crate::{
    id::ExecutionId,
    model::{Checks, Headers, Request},
};

/// How much of what goes through a function is shown.
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

/// What a function was given.
#[must_use]
pub fn request(invocation: &Invocation, detail: Detail) -> Value {
    let request = &invocation.request;
    let mut given = side(request, request, detail);
    given.insert("metadata".to_owned(), json!(invocation.metadata));
    let Checks { verified, event, duplicate_of, duplicates: _ } = &invocation.checks;
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
        object([("function_id", json!(invocation.function_id)), ("request", given.into())]);
    if let Some(response) = &invocation.response {
        whole.insert("response".to_owned(), answer(response, detail).into());
    }
    whole.into()
}

/// What a function left.
#[must_use]
pub fn response(
    id: ExecutionId,
    invocation: &Invocation,
    completion: &Completion,
    detail: Detail,
) -> Value {
    let before = &invocation.request;
    let (after, response, response_modified, stop, error) = match &completion.result {
        Ok(outcome) => (
            &outcome.request,
            outcome.response.as_ref(),
            outcome.response_modified,
            outcome.stop_forwarding,
            String::new(),
        ),
        Err(error) => (before, None, false, false, error.to_string()),
    };
    let mut left = side(before, after, detail);
    left.insert("metadata".to_owned(), json!(invocation.metadata));
    let logs: &[String] = match detail {
        Detail::NoContent => &[],
        Detail::Whole | Detail::Cut(_) => &completion.logs,
    };
    let whole = object([
        ("request_id", json!(id)),
        ("function_id", json!(invocation.function_id)),
        ("request", left.into()),
        ("response", answer(response.unwrap_or(&ScriptResponse::default()), detail).into()),
        ("request_modified", (before != after).into()),
        ("response_modified", response_modified.into()),
        ("stop_forwarding", stop.into()),
        ("error", error.into()),
        ("logs", logs.into()),
    ]);
    whole.into()
}

/// An object of values that are made; `json!` would copy each of them.
fn object<const FIELDS: usize>(fields: [(&str, Value); FIELDS]) -> Map<String, Value> {
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn side(before: &Request, after: &Request, detail: Detail) -> Map<String, Value> {
    let raw_query = match detail {
        Detail::NoContent => "",
        Detail::Whole | Detail::Cut(_) => &after.raw_query,
    };
    let mut side = object([
        ("body", "".into()),
        ("body_modified", (before.body != after.body).into()),
        ("header", header(&after.headers, detail)),
        ("header_modified", (before.headers != after.headers).into()),
        ("path", after.extra_path.as_str().into()),
        ("path_modified", (before.extra_path != after.extra_path).into()),
        ("raw_query", raw_query.into()),
        ("raw_query_modified", (before.raw_query != after.raw_query).into()),
        ("method", after.method.as_str().into()),
        ("method_modified", (before.method != after.method).into()),
    ]);
    put_body(&mut side, &after.body, detail);
    side
}

fn answer(response: &ScriptResponse, detail: Detail) -> Map<String, Value> {
    let mut answer = object([
        ("status", response.status.into()),
        ("body", "".into()),
        ("header", header(&response.headers, detail)),
    ]);
    put_body(&mut answer, &response.body, detail);
    answer
}

fn put_body(whole: &mut Map<String, Value>, body: &Bytes, detail: Detail) {
    let kept = match detail {
        Detail::Whole => body.len(),
        Detail::Cut(max) => body.len().min(max),
        Detail::NoContent => return,
    };
    whole["body"] = Value::String(STANDARD.encode(&body[..kept]));
    if kept < body.len() {
        whole.insert("body_truncated".to_owned(), Value::Bool(true));
    }
}

fn header(headers: &HeaderMap, detail: Detail) -> Value {
    if detail == Detail::NoContent {
        return Value::Object(Map::new());
    }
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
        let id = ExecutionId::generate();
        let whole = response(id, &invocation, &completion, Detail::Whole);
        assert_eq!(whole["request"]["body"], STANDARD.encode("another secret"));
        assert_eq!(whole["request"]["header"]["X-Token"]["values"], json!(["a", "b"]));
        assert!(whole["request"]["body_truncated"].is_null());
        let cut = response(id, &invocation, &completion, Detail::Cut(7));
        assert_eq!(cut["request"]["body"], STANDARD.encode("another"));
        assert_eq!(cut["request"]["body_truncated"], true);
        assert_eq!(cut["logs"], json!(["printed secret"]));
    }

    #[test]
    fn what_must_not_be_kept_is_not_there() {
        let (invocation, completion) = run();
        let id = ExecutionId::generate();
        let kept = [
            request(&invocation, Detail::NoContent),
            response(id, &invocation, &completion, Detail::NoContent),
        ];
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
        let (mut invocation, _) = run();
        let given = request(&invocation, Detail::Whole);
        assert_eq!(
            (&given["request"]["verified"], &given["request"]["event"]),
            (&json!(true), &json!("push"))
        );
        assert!(given["request"].get("duplicate_of").is_none());
        invocation.checks = Checks::default();
        assert!(request(&invocation, Detail::Whole)["request"].get("verified").is_none());
    }

    #[test]
    fn variables_are_not_in_debug_output() {
        let (invocation, _) = run();
        assert!(!format!("{invocation:?}").contains("variable"));
    }
}
