//! What any operation may answer besides the statuses of its own (`docs/interface.md`,
//! "Statuses"), and the headers of answers.

use serde_json::{Map, Value, json};

/// Asked by clients without API access, too: it is nobody's.
const OPEN_TO_SUBSCRIBERS: &str = "get_config";

/// The schemas of documents with versions.
const VERSIONED: [&str; 7] =
    ["Bucket", "Input", "Output", "Function", "Domain", "Notification", "Cron"];
/// The tags of the operations on them.
const TAGS: [&str; 7] =
    ["Buckets", "Inputs", "Outputs", "Functions", "Domains", "Notifications", "Cron jobs"];

/// Adds the version of a document: the `ETag` of an answer that is one, and `If-Match` of an
/// operation that changes one (`docs/interface.md`, "Versions").
pub(super) fn state_versions(method: &str, path: &str, operation: &mut Map<String, Value>) {
    let tag = operation.get("tags").and_then(|tags| tags[0].as_str()).unwrap_or_default();
    let changes_one = match method {
        "put" | "delete" => path.ends_with('}') || path.ends_with("/rules"),
        _ => false,
    } || path.ends_with("/pause")
        || path.ends_with("/resume")
        || path.ends_with("/restore");
    if changes_one && TAGS.contains(&tag) && !path.contains("/variables/") {
        let parameter = json!({
            "name": "If-Match",
            "in": "header",
            "required": false,
            "description": "The `ETag` of the version that is to be changed; in another version \
                nothing is changed",
            "schema": {"type": "string"},
        });
        if let Some(parameters) =
            operation.entry("parameters").or_insert_with(|| json!([])).as_array_mut()
        {
            parameters.push(parameter);
        }
        if let Some(responses) = operation.get_mut("responses").and_then(Value::as_object_mut) {
            refuse(responses, "400", "`If-Match` is neither `*` nor a list of tags");
            refuse(responses, "412", "The version is another one than `If-Match` says");
        }
    }
    let Some(responses) = operation.get_mut("responses").and_then(Value::as_object_mut) else {
        return;
    };
    for status in ["200", "201"] {
        let Some(response) = responses.get_mut(status) else { continue };
        let schema = response.pointer("/content/application~1json/schema");
        if schema.and_then(super::referred).is_some_and(|name| VERSIONED.contains(&name)) {
            response["headers"]["ETag"] = json!({ "$ref": "#/components/headers/ETag" });
        }
    }
}

/// Adds a refusal, unless the operation itself has one with this status.
fn refuse(responses: &mut Map<String, Value>, status: &str, why: &str) {
    responses.entry(status).or_insert_with(|| json!({ "description": why }));
}

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
    for (status, why) in common {
        refuse(responses, status, why);
    }
    for (status, response) in responses {
        let own = response.get_mut("headers").and_then(Value::as_object_mut).map(std::mem::take);
        response["headers"] = headers(status);
        for (name, header) in own.into_iter().flatten() {
            response["headers"][name] = header;
        }
    }
    state_texts(operation);
}

/// Says that what refuses a request is a text.
pub(super) fn state_texts(operation: &mut Map<String, Value>) {
    let responses = operation.get_mut("responses").and_then(Value::as_object_mut);
    for (status, response) in responses.into_iter().flatten() {
        if !status.starts_with('2') {
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
        "ETag": {
            "description": "The version of the document, for `If-Match`. It is the version of its \
                own fields: not of what is in a bucket, and not of a pause or another state",
            "required": true,
            "schema": {"type": "string"},
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
