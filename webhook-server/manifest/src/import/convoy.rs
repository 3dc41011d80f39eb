//! Convoy's subscriptions, as `GET /api/v1/projects/{id}/subscriptions` answers them: a source
//! becomes a bucket, a subscription an output of it that leads to the subscription's endpoint.

use serde_json::{Map, Value, json};

use super::{
    Draft,
    filter::{self, Of},
    first, is_set, list, retry, signature, text,
};
use crate::Error;

/// The bucket of subscriptions to events that come from no source.
const NO_SOURCE: &str = "convoy";

pub(super) fn subscriptions(value: &Value, draft: &mut Draft) -> Result<(), Error> {
    let what = "Convoy's list of subscriptions: an object with data.content";
    for subscription in list(value, &["data", "content"], what)? {
        let at = format!("subscription {}", text(subscription, "name"));
        let endpoint = &subscription["endpoint_metadata"];
        if !endpoint.is_object() {
            if subscription["device_metadata"].is_object() || text(subscription, "type") == "cli" {
                draft.leave(&at, "is one of Convoy's command line");
                continue;
            }
            return Err(Error::new("", format!("is not {what}, each with endpoint_metadata")));
        }
        self::subscription(subscription, endpoint, &at, draft);
    }
    Ok(())
}

fn subscription(subscription: &Value, endpoint: &Value, at: &str, draft: &mut Draft) {
    let source = &subscription["source_metadata"];
    let (key, name) = match source.is_object() && is_set(source) {
        true => (text(source, "uid"), text(source, "name")),
        false => ("", NO_SOURCE),
    };
    let (bucket, is_new) = draft.bucket(key, name);
    let mut open = guard(source, bucket, is_new, draft);
    let mut output = self::endpoint(endpoint, at, draft);

    let config = &subscription["filter_config"];
    let types = config["event_types"].as_array().map(Vec::as_slice).unwrap_or_default();
    if !types.is_empty() && !types.iter().any(|kind| kind == "*") {
        open.push("event_types, which webhooks do not have here".to_owned());
    }
    let filter = &config["filter"];
    let parts = [("body", Of::Body), ("headers", Of::Headers), ("query", Of::Query)];
    let (rules, reasons) = filter::rules(filter, &parts);
    open.extend(reasons);
    if is_set(&filter["path"]) {
        open.push("a filter of the path".to_owned());
    }
    let retrying = &subscription["retry_config"];
    if retrying.is_object() && !retrying["retry_count"].is_null() {
        let count = retrying["retry_count"].as_u64().unwrap_or_default();
        let interval = retry::nanoseconds(&retrying["duration"])
            .or_else(|| retry::nanoseconds(&retrying["interval_seconds"]))
            .unwrap_or(10_000_000_000);
        output.extend(retry::policy(count, interval, text(retrying, "type") == "exponential"));
    }
    let limit = &subscription["rate_limit_config"];
    if let Some(count) = limit["count"].as_u64().filter(|count| *count > 0) {
        let seconds = limit["duration"].as_u64().unwrap_or_default();
        output.extend(throttle("rate_limit_config", count, seconds, at, draft));
    }
    let code = text(subscription, "function");
    if !code.is_empty() {
        let name = format!("{} function", text(subscription, "name"));
        output.insert("function".to_owned(), json!(draft.function(&name, code, &Value::Null)));
    }
    draft.leave_fields(at, subscription, &["alert_config"]);
    let name = text(subscription, "name");
    draft.output_with_rules((bucket, name, at), output, &rules, &open);
}

/// A throttle of `count` webhooks, if a throttle can have an interval of `seconds`.
fn throttle(
    field: &str,
    count: u64,
    seconds: u64,
    at: &str,
    draft: &mut Draft,
) -> Option<(String, Value)> {
    let interval = match seconds {
        1 => "second",
        60 => "minute",
        3_600 => "hour",
        _ => {
            draft.leave(at, format!("{field}: only seconds, minutes and hours are there"));
            return None;
        }
    };
    Some(("throttle".to_owned(), retry::rate(count, interval)))
}

/// What a source asks of those who send, the input asks; what it cannot ask comes back.
fn guard(source: &Value, bucket: usize, is_new: bool, draft: &mut Draft) -> Vec<String> {
    let at = format!("source {}", text(source, "name"));
    let verifier = &source["verifier"];
    let mut open = Vec::new();
    let mut ask = |signature: Option<Value>, what: &str| match signature {
        Some(signature) => draft.set_input(bucket, "signature", signature),
        None => open.push(format!("{what} of its source, which the input cannot verify")),
    };
    match text(verifier, "type") {
        "" | "noop" => {}
        "basic_auth" => {
            let auth = &verifier["basic_auth"];
            let (username, password) = (text(auth, "username"), text(auth, "password"));
            let auth = json!({"type": "basic", "username": username, "password": password});
            draft.set_bucket(bucket, "auth", auth);
        }
        "api_key" => {
            let auth = &verifier["api_key"];
            let (name, value) = (text(auth, "header_name"), text(auth, "header_value"));
            ask(signature::api_key(name, value), "the API key");
        }
        "hmac" => {
            let of = |key| text(&verifier["hmac"], key);
            let (hash, encoding) = (of("hash"), of("encoding"));
            ask(signature::hmac(of("header"), hash, encoding, of("secret")), "the HMAC");
        }
        other => ask(None, other),
    }
    if is_new {
        let response = &source["custom_response"];
        if is_set(&response["body"]) {
            draft.set_input(bucket, "body", response["body"].clone());
        }
        if is_set(&response["content_type"]) {
            draft.set_input(bucket, "headers", json!({"Content-Type": [response["content_type"]]}));
        }
        draft.leave_fields(&at, source, &["pub_sub", "idempotency_keys", "forward_headers"]);
        if source["is_disabled"].as_bool() == Some(true) {
            draft.leave(&at, "is disabled; the bucket takes webhooks");
        }
    }
    open
}

fn endpoint(endpoint: &Value, at: &str, draft: &mut Draft) -> Map<String, Value> {
    let mut output = Map::new();
    let mut set = |key: &str, value: Value| output.insert(key.to_owned(), value);
    set("destination", json!(first([text(endpoint, "url"), text(endpoint, "target_url")])));
    if is_set(&endpoint["description"]) {
        set("description", endpoint["description"].clone());
    }
    if !matches!(text(endpoint, "status"), "" | "active") {
        set("disabled", json!(true));
    }
    if let Some(timeout) = retry::nanoseconds(&endpoint["http_timeout"]) {
        // In whole seconds, three minutes at most.
        set("timeout", json!((timeout / 1_000_000_000).clamp(1, 180)));
    }
    let duration = retry::nanoseconds(&endpoint["rate_limit_duration"]).unwrap_or_default();
    if let Some(rate) = endpoint["rate_limit"].as_u64().filter(|rate| *rate > 0)
        && let Some((key, value)) =
            throttle("rate_limit", rate, duration / 1_000_000_000, at, draft)
    {
        set(&key, value);
    }
    let key = &endpoint["authentication"]["api_key"];
    match text(&endpoint["authentication"], "type") {
        "" => {}
        "api_key" if !text(key, "header_name").is_empty() => {
            set("headers", json!({ text(key, "header_name"): [text(key, "header_value")] }));
        }
        other => draft.leave(at, format!("the endpoint's credentials, {other}")),
    }
    for field in ["secrets", "support_email", "slack_webhook_url", "mtls_client_cert"] {
        if is_set(&endpoint[field]) {
            draft.leave(at, format!("{field} of the endpoint"));
        }
    }
    output
}
