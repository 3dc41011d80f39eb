//! Hookdeck's connections, as `GET /connections` of its API answers them: a source becomes a
//! bucket, a connection an output of it.

use serde_json::{Map, Value, json};

use super::{
    Draft,
    filter::{self, Of},
    first, is_set, list, retry, signature, text,
};
use crate::Error;

pub(super) fn connections(value: &Value, draft: &mut Draft) -> Result<(), Error> {
    let what = "Hookdeck's list of connections: an object with models";
    for connection in list(value, &["models"], what)? {
        if !connection["source"].is_object() || !connection["destination"].is_object() {
            return Err(Error::new("", format!("is not {what} that have source and destination")));
        }
        self::connection(connection, draft);
    }
    Ok(())
}

fn connection(connection: &Value, draft: &mut Draft) {
    let (source, destination) = (&connection["source"], &connection["destination"]);
    let at = match text(connection, "full_name") {
        "" => format!("connection {} -> {}", text(source, "name"), text(destination, "name")),
        name => format!("connection {name}"),
    };
    let key = first([text(source, "id"), text(source, "name")]);
    let (bucket, is_new) = draft.bucket(key, text(source, "name"));
    let (mut rules, mut open) = guard(source, bucket, is_new, draft);
    let mut output = self::destination(destination, &at, draft);
    if !text(connection, "description").is_empty() {
        output.insert("description".to_owned(), connection["description"].clone());
    }
    if is_set(&connection["disabled_at"]) {
        output.insert("disabled".to_owned(), json!(true));
    }
    if is_set(&connection["paused_at"]) {
        output.insert("disabled".to_owned(), json!(true));
        draft.leave(&at, "is paused: the output is disabled, and webhooks do not wait for it");
    }
    for rule in connection["rules"].as_array().into_iter().flatten() {
        match text(rule, "type") {
            "filter" => {
                let parts = [
                    ("body", Of::Body),
                    ("headers", Of::Headers),
                    ("query", Of::Query),
                    ("path", Of::Path),
                ];
                let (more, reasons) = filter::rules(rule, &parts);
                rules.extend(more);
                open.extend(reasons);
            }
            "retry" => {
                let count = rule["count"].as_u64().unwrap_or(5);
                let interval = rule["interval"].as_u64().unwrap_or(3_600_000);
                let exponential = text(rule, "strategy") == "exponential";
                output.extend(retry::policy(
                    count,
                    interval.saturating_mul(1_000_000),
                    exponential,
                ));
                if is_set(&rule["response_status_codes"]) {
                    draft.leave(&at, "retry: response_status_codes, which are fixed here");
                }
            }
            "transform" => {
                let code = match &rule["transformation"] {
                    transformation @ Value::Object(_) => transformation,
                    _ => rule,
                };
                let source = text(code, "code");
                if source.is_empty() {
                    let id = text(rule, "transformation_id");
                    open.push(format!("the transformation {id}, whose code is not in the export"));
                    continue;
                }
                let name = code["name"].as_str().unwrap_or("transformation");
                let name = draft.function(name, source, &code["env"]);
                output.insert("function".to_owned(), json!(name));
            }
            other => draft.leave(&at, format!("the rule {other:?}")),
        }
    }
    let name = first([text(connection, "name"), text(destination, "name")]);
    draft.output_with_rules((bucket, name, &at), output, &rules, &open);
}

/// What a source asks of those who send, the input asks. What outputs have to ask here comes
/// back as rules, and what nobody can ask in words.
fn guard(
    source: &Value,
    bucket: usize,
    is_new: bool,
    draft: &mut Draft,
) -> (Vec<Value>, Vec<String>) {
    let at = format!("source {}", text(source, "name"));
    let config = &source["config"];
    // The older versions of the API have the credentials in the source itself.
    let auth = match &config["auth"] {
        Value::Null => &source["verification"]["configs"],
        auth => auth,
    };
    let (mut rules, mut open) = (Vec::new(), Vec::new());
    let mut ask = |signature: Option<Value>, what: &str| match signature {
        Some(signature) => draft.set_input(bucket, "signature", signature),
        None => open.push(format!("{what} of its source, which the input cannot verify")),
    };
    let mut kind = first([text(config, "auth_type"), text(&source["verification"], "type")]);
    // A source of a provider's type has the provider's secret.
    if kind.is_empty() && is_set(&auth["webhook_secret_key"]) {
        kind = text(source, "type");
    }
    let secret = text(auth, "webhook_secret_key");
    match kind.to_ascii_uppercase().as_str() {
        "" => {}
        "BASIC_AUTH" => {
            let (username, password) = (text(auth, "username"), text(auth, "password"));
            let auth = json!({"type": "basic", "username": username, "password": password});
            draft.set_bucket(bucket, "auth", auth);
        }
        "API_KEY" => {
            let (name, value) = (text(auth, "header_key"), text(auth, "api_key"));
            ask(signature::api_key(name, value), "the API key");
        }
        "HMAC" => {
            let of = |key| text(auth, key);
            let (hash, encoding) = (of("algorithm"), of("encoding"));
            ask(signature::hmac(of("header_key"), hash, encoding, secret), "the HMAC");
        }
        provider => ask(signature::preset(provider, secret), &format!("the signature {provider}")),
    }
    let methods = config["allowed_http_methods"].as_array();
    let methods = methods.or(source["allowed_http_methods"].as_array());
    if let Some(methods) = methods.filter(|methods| methods.len() < 5) {
        let parameter = json!({"source": "request", "name": "method"});
        let one =
            |method| json!({"match": {"type": "value", "value": method, "parameter": parameter}});
        rules.push(json!({ "or": methods.iter().map(one).collect::<Vec<_>>() }));
    }
    let response = match &config["custom_response"] {
        Value::Null => &source["custom_response"],
        response => response,
    };
    if is_new && is_set(response) {
        let content_type = match text(response, "content_type") {
            "xml" => "application/xml",
            "text" => "text/plain; charset=utf-8",
            _ => "application/json",
        };
        draft.set_input(bucket, "headers", json!({"Content-Type": [content_type]}));
        draft.set_input(bucket, "body", response["body"].clone());
    }
    if is_new && !text(source, "description").is_empty() {
        draft.set_bucket(bucket, "description", source["description"].clone());
    }
    if is_new && is_set(&source["disabled_at"]) {
        draft.leave(&at, "is disabled; the bucket takes webhooks");
    }
    (rules, open)
}

fn destination(destination: &Value, at: &str, draft: &mut Draft) -> Map<String, Value> {
    let config = &destination["config"];
    // The older versions of the API have these fields in the destination itself.
    let field = |key: &str| match &config[key] {
        Value::Null => &destination[key],
        value => value,
    };
    let mut output = Map::new();
    let mut set = |key: &str, value: Value| output.insert(key.to_owned(), value);
    match field("url") {
        Value::String(url) if !url.is_empty() => set("destination", json!(url)),
        _ => set("internal", json!(true)),
    };
    if field("path_forwarding_disabled").as_bool() == Some(true) {
        set("lock_path", json!(true));
    }
    if let Some(limit) = field("rate_limit").as_u64().filter(|limit| *limit > 0) {
        match field("rate_limit_period").as_str() {
            Some("concurrent") => {
                let throttle = json!({"enabled": true, "mode": "concurrency", "max_concurrent": limit.min(1_000)});
                set("throttle", throttle)
            }
            Some(period @ ("minute" | "hour")) => set("throttle", retry::rate(limit, period)),
            _ => set("throttle", retry::rate(limit, "second")),
        };
    }
    let auth = match config["auth_method"].is_object() {
        true => &config["auth_method"]["config"],
        false => &config["auth"],
    };
    let kind = first([text(config, "auth_type"), text(&destination["auth_method"], "type")]);
    let auth = if auth.is_null() { &destination["auth_method"]["config"] } else { auth };
    let header = |name: &str, value: String| json!({ name: [value] });
    match kind.to_ascii_uppercase().as_str() {
        "" => {}
        "BEARER_TOKEN" => {
            let value = format!("Bearer {}", text(auth, "token"));
            set("headers", header("Authorization", value));
        }
        "API_KEY" if text(auth, "to") != "query" && !text(auth, "key").is_empty() => {
            set("headers", header(text(auth, "key"), text(auth, "api_key").to_owned()));
        }
        "HOOKDECK_SIGNATURE" => {
            draft.leave(at, "Hookdeck's signature; destinations get no x-hookdeck-signature")
        }
        other => draft.leave(at, format!("the destination's credentials, {other}")),
    }
    if is_set(field("http_method")) {
        draft.leave(at, "http_method: webhooks leave with the method that they came with");
    }
    output
}
