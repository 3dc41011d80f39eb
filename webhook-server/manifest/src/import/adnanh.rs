//! The hooks of adnanh/webhook: each becomes a bucket with one internal output, which the agent
//! (`webhook-server forward`) reads. Programs are not run here.

use serde_json::{Map, Value, json};

use super::{Draft, is_set, list, text};
use crate::Error;

/// What the agent's output is called unless told otherwise.
const OUTPUT: &str = "agent";

pub(super) fn hooks(value: &Value, draft: &mut Draft) -> Result<(), Error> {
    let what = "a list of hooks, each with an id";
    for hook in list(value, &[], what)? {
        if text(hook, "id").is_empty() {
            return Err(Error::new("", format!("is not {what}")));
        }
        self::hook(hook, draft);
    }
    Ok(())
}

fn hook(hook: &Value, draft: &mut Draft) {
    let id = text(hook, "id");
    let at = format!("hook {id}");
    let (bucket, is_new) = draft.bucket(id, id);
    if !is_new {
        draft.leave(&at, "another one has this id");
        return;
    }
    let unknown = [
        "execute-command",
        "command-working-directory",
        "pass-arguments-to-command",
        "pass-environment-to-command",
        "pass-file-to-command",
        "include-command-output-in-response",
        "include-command-output-in-response-on-error",
        "incoming-payload-content-type",
        "parse-parameters-as-json",
        "trigger-signature-soft-failures",
        "keep-file-environment",
    ];
    draft.leave_fields(&at, hook, &unknown);
    if is_set(&hook["response-message"]) {
        draft.set_input(bucket, "body", hook["response-message"].clone());
    }
    if is_set(&hook["success-http-response-code"]) {
        draft.set_input(bucket, "status_code", hook["success-http-response-code"].clone());
    }
    let mut headers = Map::new();
    for header in hook["response-headers"].as_array().into_iter().flatten() {
        let name = text(header, "name");
        if name.is_empty() || !header["value"].is_string() {
            continue;
        }
        let values = headers.entry(name.to_owned()).or_insert_with(|| json!([]));
        values.as_array_mut().into_iter().for_each(|values| values.push(header["value"].clone()));
    }
    if !headers.is_empty() {
        draft.set_input(bucket, "headers", Value::Object(headers));
    }
    let (mut rules, mut open) = (Vec::new(), Vec::new());
    if let Some(methods) = hook["http-methods"].as_array().filter(|methods| !methods.is_empty()) {
        let parameter = json!({"source": "request", "name": "method"});
        let one = |method: &Value| {
            let method = method.as_str().unwrap_or_default().trim().to_ascii_uppercase();
            json!({"match": {"type": "value", "value": method, "parameter": parameter}})
        };
        rules.push(json!({ "or": methods.iter().map(one).collect::<Vec<_>>() }));
    }
    if is_set(&hook["trigger-rule"]) {
        let mut asked = hook["trigger-rule"].clone();
        spell(&mut asked);
        for parsed in hook["parse-parameters-as-json"].as_array().into_iter().flatten() {
            if looks_into(&asked, parsed) {
                let (source, name) = (text(parsed, "source"), text(parsed, "name"));
                open.push(format!(
                    "the rules look into the JSON text of the {source} parameter {name}, which \
                     no rule reads here: stop such webhooks with a function instead"
                ));
            }
        }
        rules.push(asked);
        if is_set(&hook["trigger-rule-mismatch-http-response-code"]) {
            draft.leave(
                &at,
                "trigger-rule-mismatch-http-response-code: senders get the same answer",
            );
        }
    }
    let mut output = Map::new();
    output.insert("internal".to_owned(), json!(true));
    draft.output_with_rules((bucket, OUTPUT, &at), output, &rules, &open);
}

/// Whether a rule reads a part of a parameter that is parsed as JSON.
fn looks_into(rule: &Value, parsed: &Value) -> bool {
    match rule {
        Value::Array(items) => items.iter().any(|item| looks_into(item, parsed)),
        Value::Object(fields) => {
            let inside = text(rule, "name").to_ascii_lowercase();
            let of = text(parsed, "name").to_ascii_lowercase();
            let is_inside = inside.strip_prefix(&of).is_some_and(|rest| rest.starts_with('.'));
            let source = text(rule, "source");
            is_inside && !source.is_empty() && source == text(parsed, "source")
                || fields.values().any(|field| looks_into(field, parsed))
        }
        _ => false,
    }
}

/// Makes a rule one of this service. The language is the same, with two exceptions: the names of
/// the parameters of requests, and a payload that is a list, which adnanh/webhook has under `root`.
fn spell(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(spell),
        Value::Object(fields) => {
            if fields.get("source").and_then(Value::as_str) == Some("request")
                && let Some(Value::String(name)) = fields.get_mut("name")
            {
                name.make_ascii_lowercase();
            }
            fields.values_mut().for_each(spell);
            if let Some(of_list) = fields.get("match").and_then(of_list) {
                // An object may have a key `root` as well.
                *value = json!({ "or": [{ "match": of_list }, value.take()] });
            }
        }
        _ => {}
    }
}

/// The same of a payload that is a list, where it reads an element under `root`.
fn of_list(matched: &Value) -> Option<Value> {
    let parameter = &matched["parameter"];
    let name = text(parameter, "name").strip_prefix("root.")?;
    let is_index = name.split('.').next()?.bytes().all(|byte| byte.is_ascii_digit());
    if text(parameter, "source") != "payload" || !is_index {
        return None;
    }
    let mut of_list = matched.clone();
    of_list["parameter"]["name"] = json!(name);
    Some(of_list)
}
