//! A run as the interface shows it (`ExecuteRequest`, `ExecuteResponse`).

use base64::{Engine, engine::general_purpose::STANDARD};
use http::HeaderMap;
use serde_json::{Map, Value, json};

use super::{Completion, Invocation, ScriptResponse};
use crate::{
    id::ExecutionId,
    model::{Headers, Request},
};

/// What a function was given.
#[must_use]
pub fn request(invocation: &Invocation) -> Value {
    let request = &invocation.request;
    let mut given = side(request, request);
    given["metadata"] = json!(invocation.metadata);
    let mut whole = json!({ "function_id": invocation.function_id, "request": given });
    if let Some(response) = &invocation.response {
        whole["response"] = answer(response);
    }
    whole
}

/// What a function left.
#[must_use]
pub fn response(id: ExecutionId, invocation: &Invocation, completion: &Completion) -> Value {
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
    let mut left = side(before, after);
    left["metadata"] = json!(invocation.metadata);
    json!({
        "request_id": id,
        "function_id": invocation.function_id,
        "request": left,
        "response": answer(response.unwrap_or(&ScriptResponse::default())),
        "request_modified": before != after,
        "response_modified": response_modified,
        "stop_forwarding": stop,
        "error": error,
        "logs": completion.logs,
    })
}

fn side(before: &Request, after: &Request) -> Value {
    json!({
        "body": STANDARD.encode(&after.body),
        "body_modified": before.body != after.body,
        "header": header(&after.headers),
        "header_modified": before.headers != after.headers,
        "path": after.extra_path,
        "path_modified": before.extra_path != after.extra_path,
        "raw_query": after.raw_query,
        "raw_query_modified": before.raw_query != after.raw_query,
        "method": after.method.as_str(),
        "method_modified": before.method != after.method,
    })
}

fn answer(response: &ScriptResponse) -> Value {
    json!({
        "status": response.status,
        "body": STANDARD.encode(&response.body),
        "header": header(&response.headers),
    })
}

fn header(headers: &HeaderMap) -> Value {
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
