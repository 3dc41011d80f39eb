//! A run as the interface shows it (`ExecuteRequest`, `ExecuteResponse`).

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use http::HeaderMap;
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
    given["metadata"] = json!(invocation.metadata);
    let Checks { verified, event, duplicate_of, duplicates: _ } = &invocation.checks;
    if let Some(verified) = verified {
        given["verified"] = json!(verified);
    }
    if let Some(event) = event {
        given["event"] = json!(event);
    }
    if let Some(log) = duplicate_of {
        given["duplicate_of"] = json!(log);
    }
    let mut whole = json!({ "function_id": invocation.function_id, "request": given });
    if let Some(response) = &invocation.response {
        whole["response"] = answer(response, detail);
    }
    whole
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
    left["metadata"] = json!(invocation.metadata);
    let logs: &[String] = match detail {
        Detail::NoContent => &[],
        Detail::Whole | Detail::Cut(_) => &completion.logs,
    };
    json!({
        "request_id": id,
        "function_id": invocation.function_id,
        "request": left,
        "response": answer(response.unwrap_or(&ScriptResponse::default()), detail),
        "request_modified": before != after,
        "response_modified": response_modified,
        "stop_forwarding": stop,
        "error": error,
        "logs": logs,
    })
}

fn side(before: &Request, after: &Request, detail: Detail) -> Value {
    let raw_query = match detail {
        Detail::NoContent => "",
        Detail::Whole | Detail::Cut(_) => &after.raw_query,
    };
    let mut side = json!({
        "body": "",
        "body_modified": before.body != after.body,
        "header": header(&after.headers, detail),
        "header_modified": before.headers != after.headers,
        "path": after.extra_path,
        "path_modified": before.extra_path != after.extra_path,
        "raw_query": raw_query,
        "raw_query_modified": before.raw_query != after.raw_query,
        "method": after.method.as_str(),
        "method_modified": before.method != after.method,
    });
    put_body(&mut side, &after.body, detail);
    side
}

fn answer(response: &ScriptResponse, detail: Detail) -> Value {
    let mut answer = json!({
        "status": response.status,
        "body": "",
        "header": header(&response.headers, detail),
    });
    put_body(&mut answer, &response.body, detail);
    answer
}

fn put_body(whole: &mut Value, body: &Bytes, detail: Detail) {
    let kept = match detail {
        Detail::Whole => body.len(),
        Detail::Cut(max) => body.len().min(max),
        Detail::NoContent => return,
    };
    whole["body"] = Value::String(STANDARD.encode(&body[..kept]));
    if kept < body.len() {
        whole["body_truncated"] = Value::Bool(true);
    }
}

fn header(headers: &HeaderMap, detail: Detail) -> Value {
    if detail == Detail::NoContent {
        return Value::Object(Map::new());
    }
    let names = headers.keys().map(|name| {
        let values: Vec<_> = headers
            .get_all(name)
            .iter()
            .map(|value| String::from_utf8_lossy(value.as_bytes()))
            .collect();
        (Headers::canonical_name(name), json!({ "values": values }))
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
