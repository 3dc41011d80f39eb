//! What holds for every operation and every schema, whichever there are.

use serde_json::{Map, Value, json};
use webhook_core::Rules;

use super::document;

fn object(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

/// Every operation with its name.
fn operations(document: &Value) -> Vec<(String, &Map<String, Value>)> {
    let items = object(&document["paths"]).flat_map(|(_, item)| object(item));
    let named = items.filter_map(|(_, operation)| operation.as_object());
    named.map(|operation| (operation["operationId"].to_string(), operation)).collect()
}

/// Calls `check` with every schema of the document, also those inside of
/// others, and the place where it is.
fn for_each_schema(document: &Value, check: &mut dyn FnMut(&str, &Value)) {
    for (name, schema) in object(&document["components"]["schemas"]) {
        inside(name, schema, check);
    }
    for (_, header) in object(&document["components"]["headers"]) {
        inside("header", &header["schema"], check);
    }
    for (name, operation) in operations(document) {
        for parameter in operation.get("parameters").and_then(Value::as_array).into_iter().flatten()
        {
            let place = format!("{name} {}", parameter["name"]);
            inside(&place, &parameter["schema"], check);
        }
    }
}

fn inside(place: &str, schema: &Value, check: &mut dyn FnMut(&str, &Value)) {
    check(place, schema);
    for (name, property) in object(&schema["properties"]) {
        inside(&format!("{place}.{name}"), property, check);
    }
    for part in ["items", "additionalProperties"] {
        if schema[part].is_object() {
            inside(&format!("{place}[]"), &schema[part], check);
        }
    }
    for part in ["allOf", "anyOf", "oneOf"] {
        for schema in schema[part].as_array().into_iter().flatten() {
            inside(&format!("{place}|"), schema, check);
        }
    }
}

fn is_a(schema: &Value, kind: &str) -> bool {
    let stated = &schema["type"];
    stated == kind || stated.as_array().is_some_and(|kinds| kinds.contains(&json!(kind)))
}

/// Whether `value` is of a type that `schema` names itself.
fn fits(schema: &Value, value: &Value) -> bool {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    schema["type"].is_null() || is_a(schema, kind)
}

#[test]
fn every_default_is_of_its_type() {
    for_each_schema(&document(), &mut |place, schema| {
        if let Some(default) = schema.get("default") {
            assert!(fits(schema, default), "{place}: {default}");
            let unreferred = schema["$ref"].is_null() || !default.is_null();
            assert!(unreferred, "{place}: null is no value of what is referred to");
            let listed = schema["enum"].as_array();
            assert!(listed.is_none_or(|values| values.contains(default)), "{place}: {default}");
            let filled = schema["minLength"].as_u64() != Some(1) || default != "";
            assert!(filled, "{place}: an empty text is too short");
        }
    });
}

#[test]
fn every_number_has_bounds() {
    let mut numbers = 0;
    for_each_schema(&document(), &mut |place, schema| {
        if is_a(schema, "integer") || is_a(schema, "number") {
            numbers += 1;
            let (least, most) = (schema["minimum"].as_f64(), schema["maximum"].as_f64());
            assert!(least.is_some() && least < most, "{place}: {schema}");
        }
    });
    assert!(numbers > 50);
}

#[test]
fn what_must_not_be_empty_says_so() {
    let schemas = &document()["components"]["schemas"];
    for (name, field) in [
        ("Bucket", "name"),
        ("Cron", "schedule"),
        ("Cron", "destination"),
        ("Domain", "domain"),
        ("CreateFunctionRequest", "payload"),
        ("UpdateFunctionRequest", "payload"),
        ("GenerateFunctionRequest", "input_payload"),
        ("GenerateFunctionRequest", "output_payload"),
        ("Variable", "key"),
        ("BillingDetails", "email"),
        ("planChangeRequest", "plan_id"),
        ("PlanItem", "price_id"),
    ] {
        assert_eq!(schemas[name]["properties"][field]["minLength"], 1, "{name}.{field}");
        let required = schemas[name]["required"].as_array();
        let is_required = required.is_some_and(|fields| fields.contains(&json!(field)));
        // An update of a bucket may leave its name as it is.
        assert_eq!(is_required, name != "Bucket", "{name}.{field}");
    }
}

#[test]
fn no_part_of_a_path_is_empty() {
    for (name, operation) in operations(&document()) {
        for parameter in operation.get("parameters").and_then(Value::as_array).into_iter().flatten()
        {
            let least = parameter["schema"]["minLength"].as_u64();
            assert!(parameter["in"] != "path" || least.is_some(), "{name}: {parameter}");
        }
    }
}

#[test]
fn nothing_read_only_is_required_and_what_is_required_exists() {
    for_each_schema(&document(), &mut |place, schema| {
        for field in schema["required"].as_array().into_iter().flatten() {
            let property = &schema["properties"][field.as_str().expect("a name")];
            assert!(property.is_object(), "{place}.{field}");
            assert_ne!(property["readOnly"], true, "{place}.{field}");
        }
    });
}

#[test]
fn no_schema_has_the_name_of_a_type_of_generated_clients() {
    let document = document();
    for name in ["Response", "Request", "Error", "Date", "Object", "Client"] {
        assert!(document["components"]["schemas"][name].is_null(), "{name}");
    }
    // A generator for Python keeps the list and the whole in one variable.
    for (name, schema) in object(&document["components"]["schemas"]) {
        for (field, _) in object(&schema["properties"]).filter(|(_, list)| is_a(list, "array")) {
            let is_same = field.replace('_', "").eq_ignore_ascii_case(name);
            assert!(!is_same, "{name} has a list of its own name");
        }
    }
}

#[test]
fn the_plan_is_one_schema_that_its_answer_fits() {
    let plan = &document()["components"]["schemas"]["PlanMeta"];
    assert!(plan["allOf"].is_null());
    for field in ["name", "outputs", "webhooks", "logs_retention"] {
        assert!(plan["properties"][field].is_object(), "{field}");
    }
}

#[test]
fn every_answer_has_its_headers_and_refusals_are_text() {
    let document = document();
    for (name, operation) in operations(&document) {
        for (status, response) in object(&operation["responses"]) {
            let headers = &response["headers"];
            assert!(headers["Request-Id"].is_object(), "{name} {status}");
            let retried = matches!(&**status, "429" | "503");
            assert_eq!(headers["Retry-After"].is_object(), retried, "{name} {status}");
            assert_eq!(headers["WWW-Authenticate"].is_object(), status == "401");
            if !status.starts_with('2') {
                assert!(
                    response["content"]["text/plain"]["example"].is_string(),
                    "{name} {status}"
                );
            }
        }
        let is_open = operation.get("security") == Some(&json!([{}]));
        assert_eq!(operation["responses"]["401"].is_null(), is_open, "{name}");
    }
}

#[test]
fn every_body_has_an_example() {
    let document = document();
    let mut bodies = 0;
    for (name, operation) in operations(&document) {
        if let Some(body) = operation.get("requestBody") {
            bodies += 1;
            let example = &body["content"]["application/json"]["example"];
            assert!(example.is_object(), "{name} has no example of its request");
        }
        for (status, response) in object(&operation["responses"]) {
            let content = &response["content"]["application/json"];
            assert_eq!(content.is_null(), content["example"].is_null(), "{name} {status}");
        }
    }
    assert!(bodies > 20);
}

/// Every name in `enum` of the schemas with a field `field`.
fn names(document: &Value, field: &str) -> Vec<String> {
    let schemas = object(&document["components"]["schemas"]);
    let lists = schemas.map(|(_, schema)| &schema["properties"][field]["enum"]);
    let names = lists.filter_map(Value::as_array).flatten();
    names.map(|name| name.as_str().expect("a name").to_owned()).collect()
}

#[test]
fn rules_are_described_as_they_are_read() {
    let document = document();
    let schemas = &document["components"]["schemas"];
    assert_eq!(schemas["Output"]["properties"]["rules"]["$ref"], "#/components/schemas/Rules");
    for operator in ["and", "or", "not", "match"] {
        assert!(schemas["Rules"]["properties"][operator].is_object(), "{operator}");
    }

    let read = |rules: Value| serde_json::from_value::<Rules>(rules);
    let parameter = json!({"source": "string", "name": "a"});
    let matches = |kind: &str, parameter: &Value| {
        json!({"match": {"type": kind, "value": "1", "substring": "a", "regex": "a", "secret": "a",
            "ip-range": "192.0.2.7", "parameter": parameter}})
    };
    let kinds: Vec<String> = schemas["Match"]["oneOf"]
        .as_array()
        .expect("variants")
        .iter()
        .filter_map(super::super::referred)
        .flat_map(|name| {
            schemas[name]["properties"]["type"]["enum"].as_array().into_iter().flatten()
        })
        .map(|kind| kind.as_str().expect("a name").to_owned())
        .collect();
    for kind in &kinds {
        read(matches(kind, &parameter)).expect(kind);
    }
    let sources = names(&document, "source");
    for source in &sources {
        let name = if source == "webhook" { "event" } else { "path" };
        let parameter = json!({"source": source, "name": name});
        read(matches("value", &parameter)).expect(source);
    }

    // The other way round: what the refusal of an unknown one lists is described.
    for (refused, known) in [
        (matches("unknown", &parameter), &kinds),
        (matches("value", &json!({"source": "unknown", "name": "a"})), &sources),
    ] {
        let refusal = read(refused).expect_err("there is no such name").to_string();
        let (_, listed) = refusal.split_once("expected one of ").expect("the list");
        for name in listed.split(", ") {
            assert!(known.iter().any(|known| known == name), "{name:?} of {refusal}");
        }
    }
}
