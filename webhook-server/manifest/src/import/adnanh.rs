//! The hooks of adnanh/webhook: each becomes a bucket with one internal output, which the agent
//! (`webhook-server forward`) reads. Programs are not run here.

use serde_json::{Map, Value, json};

use super::{Draft, is_set, list, signature, text};
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
        let mut asked = hook["trigger-rule"].clone();
        spell(&mut asked);
        if let Some(signature) = signed(&mut asked) {
            draft.set_input(bucket, "signature", signature);
        }
        if is_set(&asked) {
            rules.push(asked);
        }
        if is_set(&hook["trigger-rule-mismatch-http-response-code"]) {
            draft.leave(
                &at,
                "trigger-rule-mismatch-http-response-code: senders get the same answer",
            );
        }
    }
    let mut output = Map::new();
    output.insert("internal".to_owned(), json!(true));
    draft.output_with_rules((bucket, OUTPUT, &at), output, &rules, &[]);
}

/// Takes a signature of GitHub's out of a rule that cannot hold without it: the input asks for
/// it. Of others, the header may or may not name the algorithm, which rules take either way.
fn signed(rule: &mut Value) -> Option<Value> {
    if let Some(rules) = rule.get_mut("and").and_then(Value::as_array_mut) {
        let found = rules.iter().enumerate();
        let (place, signature) =
            found.filter_map(|(place, it)| Some((place, github(it)?))).next()?;
        rules.remove(place);
        return Some(signature);
    }
    let signature = github(rule)?;
    *rule = Value::Null;
    Some(signature)
}

fn github(rule: &Value) -> Option<Value> {
    let asked = &rule["match"];
    let parameter = &asked["parameter"];
    let header = text(parameter, "name").to_ascii_lowercase();
    let provider = match (text(asked, "type"), header.as_str()) {
        ("payload-hmac-sha256" | "payload-hash-sha256", "x-hub-signature-256") => "github",
        ("payload-hmac-sha1" | "payload-hash-sha1", "x-hub-signature") => "github_sha1",
        _ => return None,
    };
    let is_plain = rule.as_object()?.len() == 1 && text(parameter, "source") == "header";
    if is_plain { signature::preset(provider, text(asked, "secret")) } else { None }
}

/// Makes a rule one of this service: the language is the same, but for the names of the parameters
/// of requests.
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
