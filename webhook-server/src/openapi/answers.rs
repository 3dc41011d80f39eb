//! What any operation may answer besides the statuses of its own (`docs/interface.md`,
//! "Statuses"), and the headers of answers.

use serde_json::{Map, Value, json};

/// Asked by clients without API access, too: it is nobody's.
const OPEN_TO_SUBSCRIBERS: &str = "get_config";

/// Adds the refusals that are common to all operations, and headers.
pub(super) fn complete(operation: &mut Map<String, Value>) {
    let is_open = operation.get("security") == Some(&json!([{}]));
    let mut common = vec![
        ("500", "A defect of the server; the log has the cause"),
        ("503", "Too much to do at the moment; try again after `Retry-After`"),
    ];
    if !is_open {
        common.push(("401", "The credentials are missing, wrong or disabled"));
        common.push((
            "429",
            "Too many wrong credentials came from this address; try again after `Retry-After`",
        ));
        if operation.get("operationId") != Some(&json!(OPEN_TO_SUBSCRIBERS)) {
            common.push((
                "403",
                "The access token may not do this: its `api_access` is `disabled`, or it reaches \
                 other buckets only",
            ));
        }
    }
    if let Some(body) = operation.get_mut("requestBody") {
        body["required"] = json!(true);
        common.push(("413", "The body is over its limit"));
    }
    let Some(Value::Object(responses)) = operation.get_mut("responses") else { return };
    for (status, description) in common {
        responses.entry(status).or_insert_with(|| json!({ "description": description }));
    }
    for (status, response) in responses {
        let own = response.get_mut("headers").and_then(Value::as_object_mut).map(std::mem::take);
        response["headers"] = headers(status);
        for (name, header) in own.into_iter().flatten() {
            response["headers"][name] = header;
        }
        let refusal = !status.starts_with('2');
        if refusal {
            response["content"] = json!({"text/plain": {"schema": {"type": "string"}}});
        }
    }
}

fn headers(status: &str) -> Value {
    let header = |name: &str| json!({ "$ref": format!("#/components/headers/{name}") });
    let mut headers = json!({ "Request-Id": header("RequestId") });
    match status {
        "401" => headers["WWW-Authenticate"] = header("WWWAuthenticate"),
        "429" | "503" => headers["Retry-After"] = header("RetryAfter"),
        _ => {}
    }
    headers
}

/// Adds what the headers mean.
pub(super) fn describe_headers(document: &mut Value) {
    document["components"]["headers"] = json!({
        "RequestId": {
            "description": "Identifies the request; the server's log names it",
            "required": true,
            "schema": {"type": "string", "format": "uuid"},
        },
        "RetryAfter": {
            "description": "Seconds after which another try may succeed",
            "schema": {"type": "integer", "format": "int64", "minimum": 1,
                "maximum": 86_400},
        },
        "WWWAuthenticate": {
            "description": "The scheme of the credentials that are missing",
            "required": true,
            "schema": {"type": "string", "enum": ["Bearer"]},
        },
    });
}
