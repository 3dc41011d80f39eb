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
    for field in [
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
    ] {
        if is_set(&hook[field]) {
            draft.leave(&at, field);
        }
    }
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
    let mut rules = Vec::new();
    if let Some(methods) = hook["http-methods"].as_array().filter(|methods| !methods.is_empty()) {
        let parameter = json!({"source": "request", "name": "method"});
        let one = |method: &Value| {
            let method = method.as_str().unwrap_or_default().trim().to_ascii_uppercase();
            json!({"match": {"type": "value", "value": method, "parameter": parameter}})
        };
        rules.push(json!({ "or": methods.iter().map(one).collect::<Vec<_>>() }));
    }
    if is_set(&hook["trigger-rule"]) {
        rules.push(rule(&hook["trigger-rule"]));
        if is_set(&hook["trigger-rule-mismatch-http-response-code"]) {
            draft.leave(
                &at,
                "trigger-rule-mismatch-http-response-code: senders get the same answer",
            );
        }
    }
    let mut output = Map::new();
    output.insert("internal".to_owned(), json!(true));
    if !rules.is_empty() {
        output.insert("rules".to_owned(), json!({ "and": rules }));
    }
    draft.output(bucket, OUTPUT, output);
}

/// The same rule: the language is the same, but for the names of the parameters of requests.
fn rule(rule: &Value) -> Value {
    let mut rule = rule.clone();
    spell(&mut rule);
    rule
}

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
        }
        _ => {}
    }
}
