//! Exports as the services document them.

use http::{HeaderMap, HeaderValue, Method};
use proptest::prelude::*;
use serde_json::{Value, json};
use webhook_core::{Rules, Subject, rule::Request};

use super::*;
use crate::Format;

fn imported(service: Service, export: &Value) -> (Value, Vec<String>) {
    let import = import(service, &export.to_string()).expect("it is an export");
    let text = import.manifest.write(Format::Json).expect("it can be written").text;
    (serde_json::from_str(&text).expect("JSON"), import.left)
}

#[test]
fn hookdeck() {
    let export = json!({
        "pagination": {"order_by": "created_at", "dir": "desc", "limit": 100},
        "count": 2,
        "models": [
            {
                "id": "web_1", "team_id": "tm_1", "name": "orders-to-erp",
                "full_name": "shopify -> orders-to-erp", "description": "Orders",
                "source": {"id": "src_1", "name": "shopify", "type": "WEBHOOK",
                    "url": "https://hkdk.events/x", "config": {
                        "auth_type": "HMAC",
                        "auth": {"algorithm": "sha256", "encoding": "base64",
                            "header_key": "X-Shopify-Hmac-Sha256", "webhook_secret_key": "whs"},
                        "custom_response": {"content_type": "json", "body": "{\"ok\":true}"},
                        "allowed_http_methods": ["POST", "PUT"]},
                    "disabled_at": null},
                "destination": {"id": "des_1", "name": "erp", "type": "HTTP", "config": {
                    "url": "https://erp.example.com/hook", "rate_limit": 5,
                    "rate_limit_period": "second", "path_forwarding_disabled": true,
                    "auth_type": "BEARER_TOKEN", "auth": {"token": "t0k"}}},
                "rules": [
                    {"type": "retry", "strategy": "linear", "interval": 60000, "count": 3},
                    {"type": "filter", "body": {"order": {"status": {"$in": ["paid", "open"]}}},
                        "headers": {"x-shop": {"$startsWith": "north."}},
                        "query": {"total": {"$gte": 5}}},
                    {"type": "transform", "transformation_id": "trs_1", "transformation":
                        {"name": "to erp", "code": "addHandler('transform', r => r)", "env": {"A": "1"}}},
                ],
                "disabled_at": null, "paused_at": null,
            },
            {
                "id": "web_2", "name": null, "source": {"id": "src_1", "name": "shopify"},
                "destination": {"id": "des_2", "name": "laptop", "type": "CLI", "config": {"path": "/"}},
                "rules": [{"type": "filter", "body": {"total": {"$mod": 5}}},
                    {"type": "deduplicate", "window": 1000}],
            },
        ],
    });
    let (manifest, left) = imported(Service::Hookdeck, &export);
    let bucket = &manifest["buckets"][0];
    assert_eq!(manifest["buckets"].as_array().map(Vec::len), Some(1));
    assert_eq!(bucket["name"], "shopify");
    assert_eq!(bucket["inputs"][0]["body"], "{\"ok\":true}");
    let erp = &bucket["outputs"][0];
    assert_eq!(erp["name"], "orders-to-erp");
    assert_eq!(erp["destination"], "https://erp.example.com/hook");
    assert_eq!(erp["lock_path"], true);
    assert_eq!(erp["throttle"], json!({"enabled": true, "rate": 5}));
    assert_eq!(
        erp["headers"]["Authorization"][0],
        "${SHOPIFY_ORDERS_TO_ERP_HEADERS_AUTHORIZATION}"
    );
    assert_eq!(erp["durability"]["custom_delays"], json!(vec![60_000_000_000_u64; 3]));
    assert_eq!(erp["function"], "to erp");
    let rules = erp["rules"]["and"].as_array().expect("a list");
    let signature = &bucket["inputs"][0]["signature"];
    for (field, value) in [
        ("provider", "hmac"),
        ("header", "X-Shopify-Hmac-Sha256"),
        ("algorithm", "hmac-sha256"),
        ("encoding", "base64"),
    ] {
        assert_eq!(signature[field], value, "{field}");
    }
    let secret = &signature["secrets"][0]["secret"];
    assert_eq!(secret, "${SHOPIFY_DEFAULT_SIGNATURE_SECRETS_SECRET}");
    assert_eq!(rules[0]["or"][1]["match"]["value"], "PUT");
    assert_eq!(
        rules[1]["or"][0]["match"]["parameter"],
        json!({"source": "payload", "name": "order.status"})
    );
    assert_eq!(rules[2]["match"]["type"], "starts-with");
    assert_eq!(rules[2]["match"]["value"], "north.");
    assert_eq!(rules[3]["match"]["type"], "at-least");
    assert_eq!(rules[3]["match"]["value"], "5");
    assert_eq!(bucket["outputs"][1]["internal"], true);
    assert_eq!(bucket["outputs"][1]["disabled"], true);
    assert_eq!(manifest["functions"][0]["payload"], "addHandler('transform', r => r)");
    assert_eq!(manifest["functions"][0]["variables"]["A"], "${FUNCTION_TO_ERP_A}");
    let wanted = ["deduplicate", "$mod at total; the output is disabled"];
    for (line, wanted) in left.iter().zip(wanted) {
        assert!(line.contains(wanted), "{line}");
    }
    assert_eq!(left.len(), wanted.len(), "{left:?}");
}

/// What a source verifies in one of the ways of Hookdeck's, the input verifies, or the output is
/// disabled.
#[test]
fn hookdeck_signatures() {
    let connection = |source: Value| {
        let export = json!({"models": [{"id": "web_1", "source": source,
            "destination": {"name": "erp", "config": {"url": "https://erp.example.com"}}}]});
        let (manifest, left) = imported(Service::Hookdeck, &export);
        let bucket = &manifest["buckets"][0];
        let signature = bucket["inputs"][0]["signature"].clone();
        (signature, bucket["outputs"][0]["disabled"] == true, left.join("; "))
    };
    for (source, provider) in [
        (json!({"type": "GITHUB", "config": {"auth": {"webhook_secret_key": "s"}}}), "github"),
        (
            json!({"config": {"auth_type": "STRIPE", "auth": {"webhook_secret_key": "whsec_s"}}}),
            "stripe",
        ),
        (
            json!({"verification": {"type": "shopify", "configs": {"webhook_secret_key": "s"}}}),
            "shopify",
        ),
        (
            json!({"config": {"auth_type": "API_KEY", "auth": {"header_key": "X-Key", "api_key": "k"}}}),
            "custom",
        ),
        (
            json!({"verification": {"type": "hmac", "configs": {"algorithm": "sha512", "encoding": "hex",
            "header_key": "X-Sig", "webhook_secret_key": "s"}}}),
            "hmac",
        ),
    ] {
        let (signature, disabled, left) = connection(source);
        assert_eq!(signature["provider"], provider, "{left}");
        assert!(!disabled && left.is_empty(), "{left}");
    }
    for source in [
        json!({"config": {"auth_type": "HMAC", "auth": {"algorithm": "md5", "encoding": "hex",
            "header_key": "X-Sig", "webhook_secret_key": "s"}}}),
        json!({"config": {"auth_type": "STRIPE", "auth": {"webhook_secret_key": ""}}}),
        json!({"config": {"auth_type": "UNHEARD_OF", "auth": {"webhook_secret_key": "s"}}}),
    ] {
        let (signature, disabled, left) = connection(source);
        assert_eq!(signature, Value::Null);
        assert!(
            disabled && left.contains("which the input cannot verify; the output is disabled"),
            "{left}"
        );
    }
}

#[test]
fn svix() {
    let export = json!({"data": [
        {"id": "ep_1", "uid": "billing", "url": "https://billing.example.com/in", "version": 1,
            "description": "Billing", "filterTypes": ["invoice.paid"], "channels": null,
            "disabled": false, "rateLimit": 10, "metadata": {}, "createdAt": "2024-01-01T00:00:00Z",
            "updatedAt": "2024-01-01T00:00:00Z",
            "headers": {"headers": {"X-Team": "a"}, "sensitive": ["Authorization"]},
            "transformation": {"code": "function handler(webhook) { return webhook }", "enabled": true}},
        {"id": "ep_2", "url": "https://b.example.com", "channels": ["eu"], "disabled": true, "version": 1,
            "description": "", "metadata": {"a": "b"}},
    ], "iterator": null, "prevIterator": null, "done": true});
    let (manifest, left) = imported(Service::Svix, &export);
    let outputs = &manifest["buckets"][0]["outputs"];
    assert_eq!(outputs[0]["name"], "billing");
    assert_eq!(outputs[0]["throttle"]["rate"], 10);
    assert_eq!(outputs[0]["headers"], json!({"X-Team": ["a"]}));
    assert_eq!(outputs[0]["function"], "billing transformation");
    assert_eq!(outputs[0]["rules"]["or"][0]["match"]["value"], "invoice.paid");
    assert_eq!(outputs[0].get("disabled"), None);
    assert_eq!(outputs[1]["disabled"], true);
    for wanted in
        ["filterTypes", "the header Authorization", "signing secret", "channels", "metadata"]
    {
        assert!(left.iter().any(|line| line.contains(wanted)), "{wanted}: {left:?}");
    }
}

#[test]
fn convoy() {
    let export = json!({"status": true, "message": "Subscriptions fetched successfully", "data": {"content": [
        {"uid": "s1", "name": "orders", "type": "api", "status": "active",
            "source_metadata": {"uid": "src", "name": "shop", "type": "http", "verifier":
                {"type": "api_key", "api_key": {"header_name": "X-Key", "header_value": "k"}},
                "custom_response": {"body": "ok", "content_type": "text/plain"}},
            "endpoint_metadata": {"uid": "e1", "name": "erp", "url": "https://erp.example.com",
                "status": "active", "http_timeout": 20, "rate_limit": 100, "rate_limit_duration": 60,
                "authentication": {"type": "api_key", "api_key": {"header_name": "X-Api-Key", "header_value": "v"}},
                "secrets": [{"uid": "x", "value": "y"}]},
            "filter_config": {"event_types": ["*"], "filter": {"headers": {}, "body":
                {"$or": [{"event": "paid"}, {"event": {"$exist": false}}]}}},
            "retry_config": {"type": "exponential", "duration": "10s", "retry_count": 2},
            "rate_limit_config": {"count": 0, "duration": 0},
            "function": "function transform(payload) { return payload }"},
        {"uid": "s2", "name": "orders", "type": "api", "endpoint_metadata": {"url": "https://x.example.com"},
            "filter_config": {"event_types": ["order.made"], "filter": {"body": {"items.$.sku": "a"}}}},
        {"uid": "s3", "name": "laptop", "type": "cli", "device_metadata": {}},
    ], "pagination": {"per_page": 20}}});
    let (manifest, left) = imported(Service::Convoy, &export);
    let erp = &manifest["buckets"][0]["outputs"][0];
    assert_eq!(
        manifest["buckets"][0]["inputs"][0]["headers"],
        json!({"Content-Type": ["text/plain"]})
    );
    assert_eq!(erp["timeout"], 20);
    assert_eq!(erp["throttle"]["interval"], "minute");
    assert_eq!(erp["durability"]["custom_delays"], json!([10_000_000_000_u64, 20_000_000_000_u64]));
    assert_eq!(erp["function"], "orders function");
    let rules = erp["rules"]["and"].as_array().expect("a list");
    let signature = &manifest["buckets"][0]["inputs"][0]["signature"];
    assert_eq!(signature["scheme"]["signature"]["name"], "X-Key");
    assert_eq!(signature["scheme"]["algorithm"], "token");
    assert_eq!(rules[0]["or"][1]["not"]["match"]["type"], "exists");
    let other = &manifest["buckets"][1]["outputs"][0];
    assert_eq!(other["disabled"], true);
    let rules = other["rules"].to_string();
    assert!(rules.contains("items.*.sku"), "{rules}");
    for wanted in ["secrets of the endpoint", "event_types", "command line"] {
        assert!(left.iter().any(|line| line.contains(wanted)), "{wanted}: {left:?}");
    }
}

#[test]
fn adnanh() {
    let export = r#"
- id: redeploy
  execute-command: /var/scripts/redeploy.sh
  command-working-directory: /var/webhook
  response-message: Deploying
  success-http-response-code: 202
  http-methods: [post]
  response-headers:
    - {name: Access-Control-Allow-Origin, value: "*"}
  trigger-rule:
    and:
      - match: {type: payload-hmac-sha1, secret: mysecret, parameter: {source: header, name: X-Hub-Signature}}
      - match: {type: value, value: refs/heads/master, parameter: {source: payload, name: ref}}
- id: unknown
  trigger-rule:
    match: {type: scalr-signature, secret: x}
"#;
    let import = import(Service::Adnanh, export).expect("a file of hooks");
    let text = import.manifest.write(Format::Json).expect("it can be written").text;
    let manifest: Value = serde_json::from_str(&text).expect("JSON");
    let bucket = &manifest["buckets"][0];
    assert_eq!(bucket["inputs"][0]["status_code"], 202);
    assert_eq!(bucket["inputs"][0]["body"], "Deploying");
    let output = &bucket["outputs"][0];
    assert_eq!((&output["name"], &output["internal"]), (&json!("agent"), &json!(true)));
    let rules = &output["rules"]["and"][1]["and"];
    assert_eq!(rules[0]["match"]["type"], "payload-hmac-sha1");
    assert_eq!(rules[1]["match"]["value"], "refs/heads/master");
    assert_eq!(bucket["inputs"][0].get("signature"), None);
    assert_eq!(output.get("disabled"), None);
    let unknown = &manifest["buckets"][1]["outputs"][0];
    assert_eq!((unknown.get("rules"), &unknown["disabled"]), (None, &json!(true)));
    for wanted in ["hook redeploy: execute-command", "output unknown/agent: rules: "] {
        assert!(import.left.iter().any(|line| line.starts_with(wanted)), "{:?}", import.left);
    }
}

/// The rules of the only output of each hook, which is disabled or not.
fn outputs_of_hooks(export: &str) -> (Vec<(Rules, bool)>, Vec<String>) {
    let import = import(Service::Adnanh, export).expect("a file of hooks");
    let buckets = import.manifest.buckets.expect("buckets");
    let outputs = buckets.into_iter().map(|bucket| {
        let output = bucket.outputs.expect("outputs").remove(0).settings;
        let rules = output.get("rules").cloned().unwrap_or_default();
        (serde_json::from_value(rules).expect("rules"), output.contains_key("disabled"))
    });
    (outputs.collect(), import.left)
}

#[test]
fn the_rules_of_adnanh_pass_the_same_requests() {
    let (outputs, left) = outputs_of_hooks(
        r#"
- id: lists
  trigger-rule:
    and:
      - match: {type: value, value: push, parameter: {source: payload, name: root.0.event}}
      - not:
          match: {type: value, value: "yes", parameter: {source: payload, name: root.1.test}}
- id: signed
  trigger-rule:
    match: {type: payload-hmac-sha1, secret: mysecret, parameter: {source: header, name: X-Hub-Signature}}
- id: signed-256
  trigger-rule:
    and:
      - match: {type: payload-hmac-sha256, secret: mysecret, parameter: {source: header, name: X-Hub-Signature-256}}
- id: plain-root
  trigger-rule:
    match: {type: value, value: a, parameter: {source: payload, name: root.name}}
"#,
    );
    assert!(outputs.iter().all(|(_, disabled)| !disabled), "{left:?}");
    let passes = |hook: usize, headers: &[(&'static str, &str)], body: &str| {
        let mut with_type = HeaderMap::new();
        with_type.insert("content-type", HeaderValue::from_static("application/json"));
        for (name, value) in headers {
            with_type.insert(*name, HeaderValue::from_str(value).expect("a value"));
        }
        let request = Request {
            method: Method::POST,
            extra_path: String::new(),
            raw_query: String::new(),
            headers: with_type,
            body: body.to_owned().into(),
        };
        outputs[hook].0.matches(&Subject::new(&request))
    };
    assert!(passes(0, &[], r#"[{"event": "push"}]"#));
    assert!(passes(0, &[], r#"{"root": [{"event": "push"}]}"#));
    assert!(!passes(0, &[], r#"[{"event": "push"}, {"test": "yes"}]"#));
    assert!(!passes(0, &[], r#"{"root": [{"event": "push"}, {"test": "yes"}]}"#));
    assert!(!passes(0, &[], r#"[{"event": "pull"}]"#) && !passes(0, &[], r#"{"event": "push"}"#));
    assert!(passes(3, &[], r#"{"root": {"name": "a"}}"#) && !passes(3, &[], r#"{"name": "a"}"#));
    // printf %s hello | openssl dgst -sha1 -hmac mysecret
    let sha1 = "f222de61ca790444303ad759c651221785558c8d";
    let sha256 = "f09399f0c446d84b31a080e57ec483392d41e6f512f3e7ada5027abbcd358c2a";
    for (hook, header, name, right) in
        [(1, "x-hub-signature", "sha1", sha1), (2, "x-hub-signature-256", "sha256", sha256)]
    {
        for (shown, passed) in [
            (right.to_owned(), true),
            (format!("{name}={right}"), true),
            (format!("{name}={}", right.replace('a', "b")), false),
        ] {
            assert_eq!(passes(hook, &[(header, &shown)], "hello"), passed, "{shown}");
        }
    }
}

#[test]
fn rules_that_look_into_json_texts_leave_the_output_disabled() {
    let (outputs, left) = outputs_of_hooks(
        r#"
- id: inside
  parse-parameters-as-json: [{source: payload, name: payload}]
  trigger-rule:
    and:
      - or: [{match: {type: value, value: main, parameter: {source: payload, name: payload.ref}}}]
- id: headers
  parse-parameters-as-json: [{source: header, name: X-Data}]
  trigger-rule: {match: {type: value, value: a, parameter: {source: header, name: x-data.kind}}}
- id: elsewhere
  parse-parameters-as-json: [{source: payload, name: payload}]
  trigger-rule: {match: {type: value, value: a, parameter: {source: payload, name: payloads.a}}}
"#,
    );
    let disabled: Vec<_> = outputs.iter().map(|(_, disabled)| *disabled).collect();
    assert_eq!(disabled, [true, true, false]);
    let said = "hook inside: the rules look into the JSON text of the payload parameter payload";
    let said: Vec<_> = left.iter().filter(|line| line.starts_with(said)).collect();
    assert!(said.len() == 1 && said[0].ends_with("the output is disabled"), "{left:?}");
}

#[test]
fn what_is_no_export_is_said() {
    for service in [Service::Hookdeck, Service::Svix, Service::Convoy, Service::Adnanh] {
        for text in ["", "7", "{}", "[1]", "{\"id\": 1}", "[{\"id\": \"\"}]", "\"a", "a: [", "<a/>"]
        {
            if let Ok(import) = import(service, text) {
                panic!("{service:?} takes {text:?} for {import:?}");
            }
        }
    }
}

/// JSON that has the fields of exports in it, in all the wrong places.
fn confused() -> impl Strategy<Value = Value> {
    let key = prop::sample::select(vec![
        "id",
        "uid",
        "name",
        "models",
        "data",
        "content",
        "source",
        "destination",
        "config",
        "auth",
        "url",
        "auth_type",
        "rules",
        "type",
        "filter",
        "body",
        "headers",
        "$or",
        "$in",
        "$not",
        "a.b",
        "count",
        "interval",
        "transformation",
        "code",
        "env",
        "endpoint_metadata",
        "source_metadata",
        "verifier",
        "hmac",
        "filter_config",
        "event_types",
        "retry_config",
        "retry_count",
        "duration",
        "function",
        "trigger-rule",
        "match",
        "and",
        "response-headers",
        "value",
        "rate_limit",
        "rate_limit_period",
        "filterTypes",
        "applications",
        "endpoints",
        "custom_response",
        "http_timeout",
        "description",
        "allowed_http_methods",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        prop::sample::select(vec![
            "",
            "filter",
            "retry",
            "transform",
            "HMAC",
            "basic_auth",
            "a\u{0}b",
            "anyOutput",
            "payload-hmac-sha1",
            "value",
            "https://example.com/${A}",
            "10s",
            "sha256"
        ])
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(8, 96, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::Array),
            prop::collection::vec((key.clone(), inner), 0..6).prop_map(|fields| fields
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value))
                .collect()),
        ]
    })
}

/// The same where an export has it.
fn placed() -> impl Strategy<Value = Value> {
    (0..4, prop::collection::vec(confused(), 4)).prop_map(|(shape, parts)| match shape {
        0 => json!({"models": [{"id": "a", "source": {"name": "s", "config": parts[0]}, "rules": [parts[1],
            {"type": "filter", "body": parts[2]}], "destination": {"config": parts[3]}}]}),
        1 => json!({"data": [{"id": "a", "url": "https://example.com", "headers": parts[0], "filterTypes": parts[1],
            "transformation": parts[2], "description": parts[3]}]}),
        2 => json!({"data": {"content": [{"uid": "a", "endpoint_metadata": {"url": parts[0], "http_timeout": parts[1]},
            "source_metadata": {"verifier": parts[2]}, "filter_config": {"filter": {"body": parts[3]}}}]}}),
        _ => json!([{"id": "a", "trigger-rule": parts[0], "http-methods": [parts[1]], "response-headers": [parts[2]],
            "success-http-response-code": parts[3]}]),
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Whatever is read is an error or a manifest that can be written and read again.
    #[test]
    fn nothing_panics(value in prop_oneof![confused(), placed()]) {
        for service in [Service::Hookdeck, Service::Svix, Service::Convoy, Service::Adnanh] {
            if let Ok(import) = import(service, &value.to_string()) {
                let sealed = import.manifest.write(Format::Yaml).expect("it can be written");
                let variable = |name: &str| {
                    sealed.variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
                };
                let sources = crate::Sources { variable: &variable, file: &|_| Err(String::new()) };
                let again = Manifest::read(&sealed.text, &sources).map_err(|error| TestCaseError::fail(
                    format!("{error}\n{}", sealed.text)))?;
                prop_assert_eq!(Manifest { used: Vec::new(), ..again }, import.manifest);
            }
        }
    }

    #[test]
    fn no_text_panics(text in "\\PC{0,200}") {
        for service in [Service::Hookdeck, Service::Svix, Service::Convoy, Service::Adnanh] {
            let _ = import(service, &text);
        }
    }
}
