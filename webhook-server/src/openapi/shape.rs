//! From the schemas that derive from types to those that clients expect.

use serde_json::{Map, Value, json};

type Schemas = Map<String, Value>;

/// Types whose fields are flattened into another one's, beside every `…Spec`.
const FLATTENED: [(&str, &str); 3] =
    [("PlanLimits", "PlanMeta"), ("Pause", "Output"), ("ReplayTotals", "Replay")];

/// Makes every schema flat, and says nothing in it that does not hold.
pub(super) fn tidy(schemas: &mut Schemas) {
    merge_flattened(schemas);
    for schema in schemas.values_mut() {
        unrequire_read_only(schema);
        if let Some(Value::Object(properties)) = schema.get_mut("properties") {
            properties.values_mut().for_each(drop_unset_default);
        }
    }
    for name in ["Output", "ExplainRequest"] {
        let schema = schemas.get_mut(name);
        if let Some(rules) = schema.and_then(|schema| schema.pointer_mut("/properties/rules"))
            && let Value::Object(rules) = rules
        {
            rules.remove("type");
            rules.insert("$ref".to_owned(), json!("#/components/schemas/Rules"));
        }
    }
}

/// A resource is its read-only part with its spec flattened into it, which
/// derives as `allOf`; clients know one flat schema with read-only fields.
fn merge_flattened(schemas: &mut Schemas) {
    let specs = schemas.keys().filter(|name| name.ends_with("Spec"));
    let mut pairs: Vec<(String, String)> =
        specs.map(|name| (name.clone(), name.trim_end_matches("Spec").to_owned())).collect();
    pairs.extend(FLATTENED.map(|(part, whole)| (part.to_owned(), whole.to_owned())));
    for (part, whole) in pairs {
        let is_spec = part.ends_with("Spec");
        let Some(Value::Object(mut part)) = schemas.remove(&part) else { continue };
        let Some(Value::Object(resource)) = schemas.get_mut(&whole) else { continue };
        let pieces = resource.remove("allOf");
        for piece in pieces.as_ref().and_then(Value::as_array).cloned().unwrap_or_default() {
            let Value::Object(piece) = piece else { continue };
            for (key, value) in piece.into_iter().filter(|(key, _)| key != "$ref") {
                // The resource's own description comes first.
                resource.entry(key).or_insert(value);
            }
        }
        let Some(Value::Object(properties)) = resource.get_mut("properties") else { continue };
        if let Some(Value::Object(written)) = part.remove("properties") {
            if is_spec {
                properties.values_mut().for_each(mark_read_only);
            }
            properties.extend(written);
        }
    }
}

/// Lists derive as lists of read-only things, if at all.
fn mark_read_only(property: &mut Value) {
    if let Some(Value::Object(items)) = property.get_mut("items") {
        items.remove("readOnly");
    }
    if let Value::Object(property) = property {
        property.insert("readOnly".to_owned(), Value::Bool(true));
    }
}

/// One schema is what is sent and what is answered: a field that is only
/// answered cannot be required in it.
fn unrequire_read_only(schema: &mut Value) {
    let Some(properties) = schema.get("properties").cloned() else { return };
    let Value::Object(schema) = schema else { return };
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        required.retain(|name| {
            let property = name.as_str().and_then(|name| properties.get(name));
            property.is_none_or(|property| property["readOnly"] != true)
        });
        if required.is_empty() {
            schema.remove("required");
        }
    }
}

/// What is absent unless it is set has no default; it derives as `null`.
fn drop_unset_default(property: &mut Value) {
    if let Value::Object(property) = property
        && property.get("default").is_some_and(Value::is_null)
    {
        property.remove("default");
    }
}

/// Descriptions come from rustdoc, whose links mean nothing outside of it.
pub(super) fn unlink(value: &mut Value) {
    match value {
        Value::Object(object) => {
            for field in ["description", "summary"] {
                if let Some(Value::String(text)) = object.get_mut(field) {
                    *text = text.replace("[`", "`").replace("`]", "`");
                    // It is no Markdown: a reader would see the backticks.
                    if field == "summary" {
                        *text = text.replace('`', "");
                    }
                }
            }
            object.values_mut().for_each(unlink);
        }
        Value::Array(array) => array.iter_mut().for_each(unlink),
        _ => {}
    }
}
