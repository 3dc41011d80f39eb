//! What values may be, where their types do not say it: the bounds are those
//! that the library checks. Every number has some, and every text that a
//! caller writes and that is checked.

use serde_json::{Map, Value, json};
use webhook_core::{
    admin::{AdminOptions, DrainQuery},
    model::Deduplication,
    retry,
};

type Schemas = Map<String, Value>;

/// The last second that has a date of four digits.
const LAST_SECOND: i64 = 253_402_300_799;
/// The statuses of HTTP, and 0 where there is none.
const MAX_STATUS: u16 = 999;

/// Puts bounds into the schemas.
pub(super) fn state(schemas: &mut Schemas) {
    merge(schemas, &fields());
    for (name, fields) in required() {
        let Some(Value::Object(schema)) = schemas.get_mut(name) else { continue };
        schema.insert("required".to_owned(), json!(fields));
        // What has to be there has no default, and an empty one would not be valid.
        for field in fields {
            if let Some(Value::Object(property)) = schema["properties"].get_mut(field) {
                property.remove("default");
            }
        }
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

/// What has to be there. Of a resource: in each request and each answer.
fn required() -> [(&'static str, &'static [&'static str]); 11] {
    [
        ("BillingDetails", &["email"]),
        ("CreateFunctionRequest", &["payload"]),
        ("Acknowledgement", &["ids"]),
        ("Cron", &["schedule", "destination"]),
        ("Domain", &["domain"]),
        ("GenerateFunctionRequest", &["input_payload", "output_payload"]),
        ("LogAction", &["action"]),
        ("Notification", &["events", "to_bucket"]),
        ("PlanItem", &["price_id"]),
        ("UpdateFunctionRequest", &["payload"]),
        ("Variable", &["key"]),
    ]
}

fn fields() -> Value {
    let options = AdminOptions::default();
    let text = |max: usize| json!({ "maxLength": max });
    let filled = |max: usize| json!({ "minLength": 1, "maxLength": max });
    let whole = |min: i64, max: i64| json!({ "minimum": min, "maximum": max });
    let nanoseconds = |max: std::time::Duration| json!({ "minimum": 0, "maximum": i64::try_from(max.as_nanos()).unwrap_or(i64::MAX) });
    let name = text(options.max_name_bytes);
    let description = text(options.max_description_bytes);
    let credential = text(options.max_credential_bytes);
    let destination = text(options.max_destination_bytes);
    let reference = text(36);
    let headers = json!({ "maxProperties": options.max_headers });
    let metadata = json!({ "maxProperties": options.max_metadata });
    let status = whole(0, MAX_STATUS.into());
    let scope = json!({
        "maxItems": options.max_token_scopes,
        "items": filled(options.max_name_bytes),
    });
    let line = text(255);
    let shortest = i64::try_from(retry::MIN_CUSTOM_DELAY.as_nanos()).unwrap_or(i64::MAX);
    let mut delay = nanoseconds(retry::MAX_DEADLINE);
    delay["minimum"] = json!(shortest);
    let function = json!({
        "name": name, "payload": { "minLength": 1 }, "metadata": metadata,
    });
    let lease = nanoseconds(DrainQuery::MAX_LEASE);
    json!({
        "Bucket": { "name": filled(options.max_name_bytes), "description": description },
        "BucketAuth": { "username": credential, "password": credential, "token": credential },
        "Input": {
            "name": name, "description": description, "function_id": reference,
            "headers": headers, "body": text(options.max_static_body_bytes),
            "response_from_output": reference, "path_prefix": text(1 << 10),
            "custom_domain": text(1 << 10), "tls_version": { "enum": ["", "1.2", "1.3"] },
            // 0, or from 200 on.
            "status_code": whole(0, 599),
        },
        "Output": {
            "name": name, "description": description, "destination": destination,
            "function_id": reference, "response_function_id": reference, "headers": headers,
            "retries": whole(-1, retry::MAX_RETRIES.into()),
            "timeout": { "minimum": 0, "maximum": options.max_timeout.as_secs() },
        },
        "Deduplication": {
            "window": nanoseconds(Deduplication::MAX_WINDOW),
            "key": { "maxItems": Deduplication::MAX_KEY_PARTS },
            "exclude": { "maxItems": Deduplication::MAX_EXCLUDED },
        },
        "KeyPart": { "name": filled(1 << 10) },
        "OutputSigning": { "secrets": { "maxItems": 2 }, "prefix": text(64) },
        "SigningSecret": {
            "secret": filled(1 << 10),
            "expires_at": { "minimum": 0 },
        },
        "OutputAuth": {
            "username": text(4 << 10), "password": text(4 << 10), "token": text(4 << 10),
            "name": text(4 << 10), "value": text(4 << 10), "token_url": text(2 << 10),
            "client_id": text(4 << 10), "client_secret": text(4 << 10), "scope": text(4 << 10),
            "audience": text(4 << 10), "access_key_id": text(4 << 10),
            "secret_access_key": text(4 << 10), "session_token": text(4 << 10),
            "region": text(4 << 10), "service": text(4 << 10),
            "service_account": text(16 << 10), "target_audience": text(4 << 10),
        },
        "Throttle": {
            "max_concurrent": whole(0, options.max_concurrent.into()),
            "deadline": nanoseconds(options.max_deadline),
        },
        "Durability": {
            "custom_delays": { "maxItems": retry::MAX_CUSTOM_DELAYS, "items": delay },
            "deadline": nanoseconds(retry::MAX_DEADLINE),
            "handoff_after": nanoseconds(options.max_deadline),
        },
        "Cron": {
            "name": name, "schedule": { "minLength": 1 }, "headers": headers,
            "destination": filled(options.max_destination_bytes), "function_id": reference,
            "method": {
                "enum": ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"],
            },
        },
        "Notification": {
            "events": { "minItems": 1 }, "to_bucket": filled(options.max_name_bytes),
            "buckets": { "maxItems": options.max_notified_buckets },
            "min_interval": whole(1_000_000_000, 86_400_000_000_000),
        },
        "Domain": { "domain": filled(1 << 10) },
        "Function": function, "CreateFunctionRequest": function, "UpdateFunctionRequest": function,
        "GenerateFunctionRequest": {
            "input_payload": { "minLength": 1 }, "output_payload": { "minLength": 1 },
            "examples": { "maxItems": 3 },
        },
        "Variable": {
            "key": filled(options.max_name_bytes), "value": text(options.max_variable_bytes),
        },
        "Token": { "description": description },
        "TokenScopes": { "buckets": scope, "tunnels": scope },
        "InvokedRequest": { "metadata": metadata },
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
        "SignatureCheckRequest": { "log_id": reference },
        "CheckedRequest": { "body_encoding": { "enum": ["", "base64"] } },
        "LogAction": {
            "action": { "enum": ["resend"] }, "output": reference,
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
