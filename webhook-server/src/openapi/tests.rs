mod options;
mod validity;

use std::collections::BTreeSet;

use serde_json::{Value, json};

/// Method, path, schema of the request, success and its schema, other statuses.
type Listed = (&'static str, &'static str, &'static str, u16, &'static str, &'static [u16]);

/// What each operation takes and answers, besides what all have in common.
const OPERATIONS: &[Listed] = &[
    ("get", "/v1/account/api-key", "", 200, "AccountAPIKey", &[401, 500]),
    (
        "put",
        "/v1/account/api-key",
        "UpdateAPIKeyStatusRequest",
        200,
        "UpdateAPIKeyStatusResponse",
        &[400, 401, 500],
    ),
    ("post", "/v1/account/api-key", "", 200, "AccountAPIKey", &[401, 500]),
    ("get", "/v1/buckets", "", 200, "[Bucket]", &[400]),
    ("post", "/v1/buckets", "Bucket", 201, "Bucket", &[400, 412]),
    ("get", "/v1/buckets/{id}", "", 200, "Bucket", &[403, 404]),
    ("put", "/v1/buckets/{id}", "Bucket", 200, "Bucket", &[400, 404, 412]),
    ("delete", "/v1/buckets/{id}", "", 200, "GenericResult", &[400, 403, 404, 412]),
    ("post", "/v1/buckets/{id}/inputs", "Input", 201, "Input", &[400, 412]),
    ("get", "/v1/buckets/{id}/inputs/{detailed}", "", 200, "Input", &[404]),
    ("put", "/v1/buckets/{id}/inputs/{detailed}", "Input", 200, "Input", &[400, 404, 412]),
    ("delete", "/v1/buckets/{id}/inputs/{detailed}", "", 200, "GenericResult", &[400, 404, 412]),
    ("post", "/v1/buckets/{id}/outputs", "Output", 201, "Output", &[400, 402, 404, 412]),
    ("get", "/v1/buckets/{id}/outputs/{detailed}", "", 200, "Output", &[404]),
    ("put", "/v1/buckets/{id}/outputs/{detailed}", "Output", 200, "Output", &[400, 404, 412]),
    ("delete", "/v1/buckets/{id}/outputs/{detailed}", "", 200, "GenericResult", &[400, 404, 412]),
    (
        "put",
        "/v1/buckets/{id}/outputs/{detailed}/pause",
        "PauseRequest",
        200,
        "Output",
        &[400, 404, 412],
    ),
    (
        "put",
        "/v1/buckets/{id}/outputs/{detailed}/resume",
        "ResumeRequest",
        200,
        "Output",
        &[400, 404, 412],
    ),
    ("get", "/v1/buckets/{id}/outputs/{detailed}/state", "", 200, "OutputState", &[404]),
    ("put", "/v1/buckets/{id}/outputs/{detailed}/rules", "Rules", 200, "Output", &[400, 404, 412]),
    ("delete", "/v1/buckets/{id}/outputs/{detailed}/rules", "", 200, "Output", &[400, 404, 412]),
    ("get", "/v1/logs", "", 200, "LogList", &[400, 403, 404, 429]),
    ("get", "/v1/logs/{id}", "", 200, "Log", &[403, 404]),
    ("put", "/v1/logs/{id}", "LogReport", 200, "Log", &[400, 403, 404]),
    ("delete", "/v1/logs/{id}", "", 200, "ErasedLog", &[403, 404, 412]),
    ("post", "/v1/logs/{id}/action", "LogAction", 200, "GenericResult", &[400, 403, 404, 412]),
    ("get", "/v1/logs/{id}/trace", "", 200, "Trace", &[403, 404]),
    (
        "post",
        "/v1/logs/{id}/explain",
        "ExplainRequest",
        200,
        "Explained",
        &[400, 403, 404, 412, 429],
    ),
    ("get", "/v1/buckets/{id}/logs/{log_id}", "", 200, "Log", &[403, 404]),
    ("get", "/v1/logs-stats", "", 200, "[DayStats]", &[400, 403, 404]),
    ("get", "/v1/logs/histogram", "", 200, "Histogram", &[400, 403, 404]),
    ("get", "/v1/events", "", 200, "Events", &[400, 403, 404, 429]),
    ("post", "/v1/events/ack", "Acknowledgement", 200, "Acknowledged", &[400, 403]),
    ("get", "/v1/replays", "", 200, "[Replay]", &[400]),
    ("post", "/v1/replays", "Replay", 201, "Replay", &[200, 400, 403, 404, 412, 429]),
    ("get", "/v1/replays/{id}", "", 200, "Replay", &[403, 404]),
    ("put", "/v1/replays/{id}", "ReplayChange", 200, "Replay", &[400, 403, 404, 412]),
    ("post", "/v1/erasures", "Erasure", 201, "Erasure", &[200, 400, 403, 404, 429]),
    ("get", "/v1/erasures/{id}", "", 200, "Erasure", &[403, 404]),
    ("get", "/v1/tokens", "", 200, "[Token]", &[400, 403]),
    ("post", "/v1/tokens", "Token", 201, "TokenCredential", &[400, 403, 412]),
    ("put", "/v1/tokens/{id}", "Token", 200, "Token", &[400, 403, 404]),
    ("delete", "/v1/tokens/{id}", "", 200, "GenericResult", &[403, 404]),
    ("get", "/v1/functions", "", 200, "[Function]", &[400]),
    ("post", "/v1/functions", "CreateFunctionRequest", 201, "Function", &[400, 412]),
    ("get", "/v1/functions/{id}", "", 200, "Function", &[400]),
    ("put", "/v1/functions/{id}", "UpdateFunctionRequest", 200, "Function", &[400, 412]),
    ("delete", "/v1/functions/{id}", "", 200, "DeleteFunctionResponse", &[400, 412]),
    (
        "post",
        "/v1/functions-generate",
        "GenerateFunctionRequest",
        200,
        "GenerateFunctionResponse",
        &[400, 429],
    ),
    ("get", "/v1/functions/{id}/versions", "", 200, "[FunctionVersion]", &[400]),
    ("get", "/v1/functions/{id}/versions/{version}", "", 200, "FunctionVersion", &[400]),
    ("post", "/v1/functions/{id}/versions/{version}/restore", "", 200, "Function", &[400, 412]),
    (
        "post",
        "/v1/functions/{id}/duplicate",
        "DuplicateFunctionRequest",
        201,
        "Function",
        &[400, 412],
    ),
    ("get", "/v1/functions/{id}/config", "", 200, "[Variable]", &[400]),
    ("put", "/v1/functions/{id}/config", "Variable", 200, "Variable", &[400]),
    ("delete", "/v1/functions/{id}/config/{key}", "", 200, "DeleteFunctionResponse", &[400, 412]),
    ("post", "/v1/functions/{id}/invoke", "InvokeRequest", 200, "object", &[400, 429]),
    ("post", "/v1/functions-invoke", "TryRequest", 200, "object", &[400, 429]),
    ("post", "/v1/functions/{id}/compare", "CompareRequest", 200, "Comparison", &[400, 429]),
    ("get", "/v1/functions/{id}/logs", "", 200, "ExecuteLogList", &[400]),
    ("get", "/v1/functions/{id}/logs/{log_id}", "", 200, "ExecuteLog", &[400]),
    ("get", "/v1/exec-logs/{id}", "", 200, "ExecuteLog", &[400]),
    ("get", "/v1/domains", "", 200, "[Domain]", &[400]),
    ("post", "/v1/domains", "Domain", 201, "Domain", &[400, 412, 451]),
    ("delete", "/v1/domains/{id}", "", 200, "GenericResult", &[400, 404, 412]),
    ("get", "/v1/crons", "", 200, "[Cron]", &[400]),
    ("post", "/v1/crons", "Cron", 201, "Cron", &[400, 412]),
    ("get", "/v1/crons/{id}", "", 200, "Cron", &[404]),
    ("put", "/v1/crons/{id}", "Cron", 200, "Cron", &[400, 404, 412]),
    ("delete", "/v1/crons/{id}", "", 204, "", &[400, 404, 412]),
    ("get", "/v1/notifications", "", 200, "[Notification]", &[400]),
    ("post", "/v1/notifications", "Notification", 201, "Notification", &[400]),
    ("get", "/v1/notifications/{id}", "", 200, "Notification", &[404]),
    ("put", "/v1/notifications/{id}", "Notification", 200, "Notification", &[400, 404, 412]),
    ("delete", "/v1/notifications/{id}", "", 204, "", &[400, 404, 412]),
    ("post", "/v1/notifications/{id}/test", "", 200, "GenericResult", &[404, 412]),
    ("get", "/v1/billing-details", "", 200, "BillingDetails", &[404, 500]),
    ("put", "/v1/billing-details", "BillingDetails", 200, "BillingDetails", &[400, 404, 412, 500]),
    ("post", "/v1/checkout", "planChangeRequest", 200, "planChangeResponse", &[400, 404, 412, 500]),
    ("post", "/v1/checkout-setup", "", 200, "planChangeResponse", &[500]),
    ("post", "/v1/stripe/webhook", "object", 200, "Received", &[400, 404]),
    ("get", "/v1/usage", "", 200, "UsageReport", &[403]),
    ("get", "/v1/connected-clients", "", 200, "ConnectedClient", &[400]),
    ("get", "/v1/config", "", 200, "ServerConfig", &[]),
    (
        "post",
        "/v1/buckets/{id}/inputs/{detailed}/signature/check",
        "SignatureCheckRequest",
        200,
        "SignatureCheck",
        &[400, 404, 412],
    ),
    ("get", "/v1/signature-providers", "", 200, "[SignatureProvider]", &[]),
];

fn document() -> Value {
    document_at(None)
}

fn document_at(public_url: Option<&str>) -> Value {
    serde_json::from_str(&super::document_text(public_url).expect("the document can be written"))
        .expect("the document is JSON")
}

#[test]
fn every_operation_has_one_sentence_and_a_description() {
    let mut document = document();
    super::for_each_operation(&mut document, |method, path, operation| {
        let [summary, description] = ["summary", "description"]
            .map(|field| operation.get(field).and_then(Value::as_str).unwrap_or_default());
        assert!(!summary.contains('\n') && summary.len() > 10, "{method} {path}: {summary}");
        assert!(description.len() > 20, "{method} {path}: {description:?}");
    });
}

#[test]
fn the_document_names_the_public_address() {
    let document = document_at(Some("https://hooks.example.com/relay"));
    let urls: Vec<_> = document["servers"].as_array().expect("a list").iter().collect();
    assert_eq!(urls.len(), 1);
    assert_eq!(urls[0]["url"], "https://hooks.example.com/relay");
    assert_eq!(self::document()["servers"][0]["url"], "/");
}

fn schema_name(content: &Value) -> String {
    let schema = &content["application/json"]["schema"];
    let name = |schema: &Value| {
        let reference = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next());
        reference.or(schema["type"].as_str()).unwrap_or_default().to_owned()
    };
    match schema["items"].is_object() {
        true => format!("[{}]", name(&schema["items"])),
        false => name(schema),
    }
}

#[test]
fn every_operation_is_as_the_interface_lists_it() {
    let document = document();
    for (method, path, request, success, answer, others) in OPERATIONS {
        let operation = &document["paths"][path][method];
        assert!(operation.is_object(), "{method} {path}");
        assert_eq!(schema_name(&operation["requestBody"]["content"]), *request, "{method} {path}");
        assert_eq!(operation["requestBody"].is_object(), !request.is_empty());
        assert!(request.is_empty() || operation["requestBody"]["required"] == true);

        let responses = operation["responses"].as_object().expect("responses");
        let found: BTreeSet<u16> =
            responses.keys().map(|status| status.parse().expect("a status")).collect();
        let mut expected: BTreeSet<u16> = others.iter().copied().chain([*success]).collect();
        // Besides them, on any operation (`docs/interface.md`, "Statuses").
        expected.extend([500, 503]);
        if *path != "/v1/stripe/webhook" {
            expected.extend([401, 429]);
        }
        if !matches!(*path, "/v1/stripe/webhook" | "/v1/config") {
            expected.insert(403);
        }
        if !request.is_empty() {
            expected.insert(413);
        }
        assert_eq!(found, expected, "{method} {path}");
        for (status, response) in responses {
            let content = &response["content"];
            if *status == success.to_string() {
                assert_eq!(schema_name(content), *answer, "{method} {path}");
            } else if status == "200" {
                // Another answer of the same operation: what a dry run of a replay says.
                assert!(content["application/json"]["schema"]["$ref"].is_string(), "{response}");
            } else {
                let schema = &content["text/plain"]["schema"];
                assert_eq!(schema["type"], "string", "{method} {path} {status}: {response}");
            }
            assert!(response["description"].as_str().is_some_and(|text| !text.is_empty()));
        }
        for parameter in ["id", "detailed"].iter().filter(|it| path.contains(&format!("{{{it}}}")))
        {
            let declared = operation["parameters"].as_array().expect("parameters");
            assert!(declared.iter().any(|p| p["name"] == **parameter && p["in"] == "path"));
        }
    }
    let count: usize = document["paths"].as_object().expect("paths").values().map(operations).sum();
    assert_eq!(count, OPERATIONS.len(), "no operation beside them");
}

fn operations(item: &Value) -> usize {
    let methods = ["get", "put", "post", "delete", "patch", "head", "options"];
    methods.iter().filter(|method| item[**method].is_object()).count()
}

#[test]
fn force_is_an_optional_boolean() {
    let parameters = &document()["paths"]["/v1/buckets/{id}"]["delete"]["parameters"];
    let force = parameters.as_array().expect("parameters").iter().find(|p| p["name"] == "force");
    let force = force.expect("it is there");
    assert_eq!((&force["in"], &force["required"]), (&json!("query"), &json!(false)));
    assert!(force["schema"]["type"] == "boolean" || force["schema"]["type"][0] == "boolean");
}

#[test]
fn every_reference_leads_somewhere_and_every_operation_has_its_name() {
    let document = document();
    let mut references = Vec::new();
    collect_references(&document, &mut references);
    assert!(!references.is_empty());
    for reference in references {
        let pointer = reference.strip_prefix('#').expect("a local reference");
        assert!(document.pointer(pointer).is_some(), "{reference}");
    }
    let mut names = BTreeSet::new();
    for item in document["paths"].as_object().expect("paths").values() {
        for operation in item.as_object().expect("operations").values() {
            let name = operation["operationId"].as_str().expect("a name");
            assert!(names.insert(name.to_owned()), "{name} is there twice");
        }
    }
}

fn collect_references(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            if let Some(Value::String(reference)) = object.get("$ref") {
                found.push(reference.clone());
            }
            object.values().for_each(|value| collect_references(value, found));
        }
        Value::Array(array) => array.iter().for_each(|value| collect_references(value, found)),
        _ => {}
    }
}

#[test]
fn resources_are_flat_schemas_with_read_only_fields() {
    let document = document();
    let schemas = &document["components"]["schemas"];
    for (name, read_only, written) in [
        ("Bucket", &["id", "account_id", "inputs", "outputs", "suspended"][..], "auth"),
        ("Input", &["id", "bucket_id", "created_at"][..], "response_from_output"),
        ("Output", &["id", "bucket_id", "cron_id"][..], "destination"),
        ("BillingDetails", &["customer_id"], "email"),
        ("Token", &["id", "key", "created_at"][..], "scopes"),
        ("Function", &["id", "payload_size", "created"][..], "driver"),
        ("Domain", &["id", "created_at", "updated_at"][..], "domain"),
        ("Cron", &["id", "next_run", "bucket"][..], "schedule"),
        ("Notification", &["id", "created_at", "last_sent_at"][..], "events"),
    ] {
        let schema = &schemas[name];
        assert_eq!(schema["type"], "object", "{name}");
        for field in read_only {
            assert_eq!(schema["properties"][field]["readOnly"], true, "{name}.{field}");
        }
        assert!(schema["properties"][written].is_object(), "{name}.{written}");
        assert!(schema["properties"][written]["readOnly"].is_null());
    }
    let named = schemas.as_object().expect("schemas").keys().any(|name| name.ends_with("Spec"));
    assert!(!named, "specs are an inside matter");
}

#[test]
fn the_schemes_the_server_and_the_version() {
    let document = document();
    assert_eq!(document["info"]["version"], "0.1");
    assert_eq!(document["security"], json!([{"BasicAuth": []}, {"BearerAuth": []}]));
    for (name, scheme) in [("BearerAuth", "bearer"), ("BasicAuth", "basic")] {
        let described = &document["components"]["securitySchemes"][name];
        assert_eq!((&described["type"], &described["scheme"]), (&json!("http"), &json!(scheme)));
    }
    assert_eq!(document["servers"][0]["url"], "/", "what Try it out asks is where it came from");
}
