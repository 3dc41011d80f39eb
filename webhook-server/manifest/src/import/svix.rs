//! Svix's endpoints, as `GET /api/v1/app/{app_id}/endpoint` answers them: an application becomes
//! a bucket, an endpoint an output of it.

use serde_json::{Map, Value, json};

use super::{Draft, first, is_set, list, retry, text};
use crate::Error;

pub(super) fn endpoints(value: &Value, draft: &mut Draft) -> Result<(), Error> {
    let what = "Svix's list of endpoints: an object with data";
    let applications = value["applications"].as_array();
    let mut all = Vec::new();
    for application in applications.into_iter().flatten() {
        let name = first([text(application, "name"), text(application, "uid")]);
        all.push((name, list(&application["endpoints"], &["data"], what)?));
    }
    if applications.is_none() {
        all.push(("svix", list(value, &["data"], what)?));
    }
    for (index, (name, endpoints)) in all.into_iter().enumerate() {
        let (bucket, _) = draft.bucket(&index.to_string(), name);
        for endpoint in endpoints {
            if !endpoint["url"].is_string() {
                return Err(Error::new("", format!("is not {what}, each with a url")));
            }
            self::endpoint(endpoint, bucket, draft);
        }
    }
    Ok(())
}

fn endpoint(endpoint: &Value, bucket: usize, draft: &mut Draft) {
    let id = first([text(endpoint, "uid"), text(endpoint, "id")]);
    let at = format!("endpoint {id}");
    let mut output = Map::new();
    let mut set = |key: &str, value: Value| output.insert(key.to_owned(), value);
    set("destination", endpoint["url"].clone());
    if is_set(&endpoint["description"]) {
        set("description", endpoint["description"].clone());
    }
    if endpoint["disabled"].as_bool() == Some(true) {
        set("disabled", json!(true));
    }
    if let Some(rate) = endpoint["rateLimit"].as_u64().or(endpoint["throttleRate"].as_u64())
        && rate > 0
    {
        set("throttle", retry::rate(rate, "second"));
    }
    let types = endpoint["filterTypes"].as_array().filter(|types| !types.is_empty());
    if let Some(types) = types {
        let parameter = json!({"source": "payload", "name": "type"});
        let one = |kind: &Value| json!({"match": {"type": "value", "value": kind, "parameter": parameter}});
        set("rules", json!({ "or": types.iter().map(one).collect::<Vec<_>>() }));
        draft.leave(
            &at,
            "filterTypes: the rules look for the event's type in the field type of the body",
        );
    }
    if is_set(&endpoint["channels"]) {
        set("disabled", json!(true));
        draft.leave(&at, "channels; the output is disabled");
    }
    let headers = endpoint["headers"]["headers"].as_object();
    let texts: Map<_, _> = headers
        .or(endpoint["headers"].as_object())
        .into_iter()
        .flatten()
        .filter(|(_, value)| value.is_string())
        .map(|(name, value)| (name.clone(), json!([value])))
        .collect();
    if !texts.is_empty() {
        set("headers", Value::Object(texts));
    }
    for name in endpoint["headers"]["sensitive"].as_array().into_iter().flatten() {
        let name = name.as_str().unwrap_or_default();
        draft.leave(&at, format!("the header {name}, whose value Svix does not export"));
    }
    let code = text(&endpoint["transformation"], "code");
    if !code.is_empty() && endpoint["transformation"]["enabled"].as_bool() != Some(false) {
        let name = draft.function(&format!("{id} transformation"), code, &Value::Null);
        set("function", json!(name));
    }
    draft.leave(&at, "the signing secret: webhooks are forwarded as they come");
    draft.leave_fields(&at, endpoint, &["metadata"]);
    draft.output(bucket, id, output);
}
