//! What values may be, where their types do not say it. The declarations of configured things
//! state the bounds of their fields; the bounds of other schemas are here. Every number has
//! bounds, and so has every text that a caller writes and that is checked.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use webhook_core::{
    admin::{AdminOptions, DrainQuery},
    model::{
        BucketSpec, CronSpec, Described, DomainSpec, FunctionSpec, InputSpec, METHODS,
        NotificationSpec, OutputSpec,
        described::{Field, Shape},
    },
};

use super::referred;

type Schemas = Map<String, Value>;

/// The last second that has a date of four digits.
const LAST_SECOND: i64 = 253_402_300_799;
/// The statuses of HTTP, and 0 where there is none.
const MAX_STATUS: u16 = 999;

/// Puts bounds into the schemas.
pub(super) fn state(schemas: &mut Schemas) {
    for (name, spec) in configured() {
        state_described(schemas, name, &*spec);
    }
    merge(schemas, &fields());
    for (name, fields) in required() {
        require(schemas, name, fields);
    }
    if let Some(limit) = schemas.get_mut("Limit") {
        limit["minimum"] = json!(-1);
    }
    for schema in schemas.values_mut() {
        bound_numbers("", schema);
    }
}

/// The same for what an operation takes beside its body, and what it requires
/// of a resource that another one lets be absent.
pub(super) fn state_of_operation(operation: &mut Map<String, Value>) {
    if operation.get("operationId") == Some(&json!("create_bucket"))
        && let Some(body) = operation.get_mut("requestBody")
    {
        body["content"]["application/json"]["schema"]["required"] = json!(["name"]);
    }
    let Some(Value::Array(parameters)) = operation.get_mut("parameters") else { return };
    for parameter in parameters {
        let name = parameter["name"].as_str().unwrap_or_default().to_owned();
        if name == "status_code" {
            parameter["schema"]["maximum"] = json!(MAX_STATUS);
        }
        if parameter["in"] == "path" {
            // An empty one is another path.
            let id = parameter["schema"]["format"] == "uuid";
            put(&mut parameter["schema"], &json!({ "minLength": if id { 36 } else { 1 } }));
        }
        bound_numbers(&name, &mut parameter["schema"]);
    }
}

/// The schemas of configured things, with the specification of each.
pub(super) fn configured() -> [(&'static str, Box<dyn Described>); 9] {
    [
        ("Bucket", Box::new(BucketSpec::default())),
        ("Input", Box::new(InputSpec::default())),
        ("Output", Box::new(OutputSpec::default())),
        ("Cron", Box::new(CronSpec::default())),
        ("Notification", Box::new(NotificationSpec::default())),
        ("Domain", Box::new(DomainSpec::default())),
        ("Function", Box::new(FunctionSpec::default())),
        ("CreateFunctionRequest", Box::new(FunctionSpec::default())),
        ("UpdateFunctionRequest", Box::new(FunctionSpec::default())),
    ]
}

/// Puts what declarations of fields say into a schema, and into the schemas of its objects.
pub(super) fn state_described(schemas: &mut Schemas, name: &str, object: &dyn Described) {
    let mut required = Vec::new();
    for (field, value) in object.fields() {
        let property = schemas.get_mut(name).and_then(|it| it["properties"].get_mut(field.name));
        let Some(property) = property else { continue };
        put(property, &keywords(field, value.shape()));
        if field.required && name != "Function" {
            required.push(field.name);
        }
        let parts = referred_in(property);
        let Some(mut part) = value.blank() else { continue };
        let kinds = part.kinds();
        if kinds.is_empty() {
            parts.iter().for_each(|name| state_described(schemas, name, &*part));
        }
        let Some(all) = parts.first().filter(|_| !kinds.is_empty()) else { continue };
        let names = schemas.get(all).map(referred_in).unwrap_or_default();
        for ((kind, _), name) in kinds.iter().zip(&names) {
            part.set_kind(kind);
            state_described(schemas, name, &*part);
            state_kind(schemas, name, kind);
        }
        let place = |name: &String| format!("#/components/schemas/{name}");
        let mapping = kinds.iter().zip(&names).map(|((kind, _), it)| (*kind, place(it)));
        let mapping: BTreeMap<_, _> = mapping.collect();
        schemas[all]["oneOf"] = names.iter().map(|it| json!({ "$ref": place(it) })).collect();
        schemas[all]["discriminator"] = json!({ "propertyName": "type", "mapping": mapping });
    }
    if !required.is_empty() {
        require(schemas, name, &required);
    }
}

/// Puts the name of a kind into its schema, which allows no other properties.
fn state_kind(schemas: &mut Schemas, name: &str, kind: &str) {
    let Some(schema) = schemas.get_mut(name) else { return };
    schema["properties"]["type"] = json!({ "type": "string", "enum": [kind] });
    match schema["required"].as_array_mut() {
        Some(required) => required.push(json!("type")),
        None => schema["required"] = json!(["type"]),
    }
}

/// The schemas of a property: its own, those of its parts, and those of its entries.
fn referred_in(property: &Value) -> Vec<String> {
    let mut found: Vec<_> = referred(property).map(str::to_owned).into_iter().collect();
    for keyword in ["oneOf", "allOf", "anyOf"] {
        let parts = property[keyword].as_array().into_iter().flatten();
        found.extend(parts.flat_map(referred_in));
    }
    if property["items"].is_object() {
        found.extend(referred_in(&property["items"]));
    }
    found
}

pub(super) fn keywords(field: &Field, shape: Shape) -> Value {
    let mut keywords = Map::new();
    let mut state = |keyword: &str, value: Value| keywords.insert(keyword.to_owned(), value);
    let max = (field.max > 0).then_some(field.max);
    let range = field.range.map(|(least, most)| (if field.or_zero { 0 } else { least }, most));
    match shape {
        Shape::Text | Shape::Secret => {
            max.map(|max| state("maxLength", json!(max)));
            field.required.then(|| state("minLength", json!(1)));
        }
        Shape::Reference => {
            state("maxLength", json!(36));
        }
        Shape::Whole | Shape::Duration => {
            if let Some((least, most)) = range {
                state("minimum", json!(least));
                state("maximum", json!(most));
            }
        }
        Shape::Headers | Shape::Pairs => {
            max.map(|max| state("maxProperties", json!(max)));
        }
        Shape::Texts | Shape::Rows | Shape::Durations => {
            max.map(|max| state("maxItems", json!(max)));
            field.required.then(|| state("minItems", json!(1)));
            if let Some((least, most)) = range {
                state("items", json!({ "minimum": least, "maximum": most }));
            }
        }
        _ => {}
    }
    match shape {
        Shape::Duration | Shape::Durations => {
            state("description", json!(format!("{} In nanoseconds.", field.help)));
        }
        Shape::Moment if field.name != "starts_at" && field.name != "ends_at" => {
            state("description", json!(format!("{} In unix seconds.", field.help)));
        }
        _ => {}
    }
    Value::Object(keywords)
}

/// States the required fields of a schema, which have no default.
fn require(schemas: &mut Schemas, name: &str, fields: &[&str]) {
    let Some(Value::Object(schema)) = schemas.get_mut(name) else { return };
    schema.insert("required".to_owned(), json!(fields));
    for field in fields {
        if let Some(Value::Object(property)) = schema["properties"].get_mut(*field) {
            property.remove("default");
        }
    }
}

/// The required fields of other schemas: in each request and each answer.
fn required() -> [(&'static str, &'static [&'static str]); 7] {
    [
        ("BillingDetails", &["email"]),
        ("Acknowledgement", &["ids"]),
        ("GenerateFunctionRequest", &["input_payload", "output_payload"]),
        ("LogAction", &["action"]),
        ("PlanItem", &["price_id"]),
        ("TryRequest", &["payload"]),
        ("Variable", &["key"]),
    ]
}

fn fields() -> Value {
    let options = AdminOptions::default();
    let text = |max: usize| json!({ "maxLength": max });
    let filled = |max: usize| json!({ "minLength": 1, "maxLength": max });
    let whole = |min: i64, max: i64| json!({ "minimum": min, "maximum": max });
    let status = whole(0, MAX_STATUS.into());
    let scope = json!({ "maxItems": options.max_token_scopes, "items": filled(255) });
    let line = text(255);
    let lease = whole(0, i64::try_from(DrainQuery::MAX_LEASE.as_nanos()).unwrap_or(i64::MAX));
    let methods = METHODS.map(|method| method.to_string());
    json!({
        // Only the operation that makes one requires it.
        "Bucket": { "name": { "minLength": 1 } },
        "Input": { "tls_version": { "enum": ["", "1.2", "1.3"] } },
        "KeyPart": { "name": filled(1 << 10) },
        "Cron": { "method": { "enum": methods } },
        "GenerateFunctionRequest": {
            "input_payload": { "minLength": 1 }, "output_payload": { "minLength": 1 },
            "examples": { "maxItems": 3 },
        },
        "TryRequest": { "payload": { "minLength": 1 } },
        "Variable": { "key": filled(255), "value": text(options.max_variable_bytes) },
        "Token": { "description": text(4 << 10) },
        "TokenScopes": { "buckets": scope, "tunnels": scope },
        "InvokedRequest": { "metadata": { "maxProperties": 100 } },
        "InvokedResponse": { "status": status },
        "BillingDetails": {
            "name": line, "line1": line, "line2": line, "city": line, "state": line,
            "postal_code": line, "email": filled(254), "tax_id": text(64),
            "country": { "maxLength": 2, "pattern": "^([A-Z]{2})?$" },
        },
        "planChangeRequest": { "plan_id": filled(255), "optional_items": { "maxItems": 19 } },
        "PlanItem": {
            "price_id": filled(255), "quantity": whole(0, 10_000), "description": text(500),
        },
        "LogReport": {
            "status_code": status, "duration_ms": { "minimum": 0, "maximum": u64::MAX },
            "lease": lease,
        },
        "Acknowledgement": {
            "ids": { "minItems": 1, "maxItems": DrainQuery::MAX_LIMIT }, "lease": lease,
        },
        "Log": { "status_code": status },
        "SignatureCheckRequest": { "log_id": text(36) },
        "CheckedRequest": { "body_encoding": { "enum": ["", "base64"] } },
        "LogAction": {
            "action": { "enum": ["resend"] }, "output": text(36),
            "process_policy": { "enum": ["", "skip", "force"] },
        },
    })
}

/// Puts keywords into the properties of schemas.
fn merge(schemas: &mut Schemas, stated: &Value) {
    for (name, fields) in stated.as_object().into_iter().flatten() {
        for (field, keywords) in fields.as_object().into_iter().flatten() {
            let properties = schemas.get_mut(name).and_then(|schema| schema.get_mut("properties"));
            if let Some(property) = properties.and_then(|properties| properties.get_mut(field)) {
                put(property, keywords);
            }
        }
    }
}

fn put(schema: &mut Value, keywords: &Value) {
    for (keyword, value) in keywords.as_object().into_iter().flatten() {
        match keyword.as_str() {
            "items" => put(&mut schema["items"], value),
            _ => schema[keyword] = value.clone(),
        }
    }
    // What must not be empty derives with the default of its type, which is.
    if schema["minLength"] == 1
        && let Value::Object(schema) = schema
    {
        schema.remove("default");
    }
}

/// What no table says follows from the type of the number and the name of its field.
fn bound_numbers(name: &str, schema: &mut Value) {
    if is_a(schema, "integer") {
        let (least, most) = match schema["format"].as_str() {
            _ if is_moment(name) => (json!(0), json!(LAST_SECOND)),
            // Derives from unsigned numbers as well, which have one bit more.
            Some("int32") if schema["minimum"] == 0 => (json!(0), json!(u32::MAX)),
            Some("int32") => (json!(i32::MIN), json!(i32::MAX)),
            _ => (json!(i64::MIN), json!(i64::MAX)),
        };
        state_range(schema, least, most);
        let fits = schema["maximum"].as_i64().is_some_and(|most| most <= i32::MAX.into());
        schema["format"] = json!(if fits { "int32" } else { "int64" });
    } else if is_a(schema, "number") {
        state_range(schema, json!(0), json!(i64::MAX));
    }
    for part in ["items", "additionalProperties"] {
        if schema[part].is_object() {
            bound_numbers(name, &mut schema[part]);
        }
    }
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.iter_mut().for_each(|(name, property)| bound_numbers(name, property));
    }
}

fn is_a(schema: &Value, kind: &str) -> bool {
    let stated = &schema["type"];
    stated == kind || stated.as_array().is_some_and(|kinds| kinds.iter().any(|k| k == kind))
}

/// Unix seconds, by the names that the interface gives them.
fn is_moment(name: &str) -> bool {
    name.ends_with("_at")
        || name.ends_with("_until")
        || matches!(name, "created" | "updated" | "minute")
}

fn state_range(schema: &mut Value, least: Value, most: Value) {
    for (keyword, bound) in [("minimum", least), ("maximum", most)] {
        if schema[keyword].is_null() {
            schema[keyword] = bound;
        }
    }
}
