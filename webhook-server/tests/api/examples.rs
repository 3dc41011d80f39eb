//! The examples and the bounds of `/openapi.json`, tried out on a fresh server.

mod schema;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{
    harness::{Answer, Server, default_input, id},
    send,
};
use schema::Schema;

/// What makes the resources that the other operations need, in this order.
const FIRST: [&str; 11] = [
    "create_bucket",
    "create_function",
    "create_input",
    "create_output",
    "create_domain",
    "create_cron",
    "create_notification",
    "create_token",
    "put_variable",
    "put_billing_details",
    "invoke_function",
];
/// What a fresh server cannot do, which has no payment processor and nothing to replay or erase.
const REFUSED: [(&str, u16); 8] = [
    ("start_checkout", 412),
    ("start_checkout_setup", 500),
    ("take_stripe_event", 404),
    ("create_replay", 400),
    ("create_erasure", 400),
    ("get_erasure", 404),
    ("get_replay", 404),
    ("update_replay", 404),
];

struct Operation<'a> {
    name: &'a str,
    method: &'a str,
    path: &'a str,
    described: &'a Value,
}

impl Operation<'_> {
    /// The example of its body, with its schema.
    fn body(&self) -> Option<(Schema<'_>, &Value)> {
        let content = self.described.pointer("/requestBody/content/application~1json")?;
        Some((Schema(&content["schema"]), &content["example"]))
    }

    /// The status of its success.
    fn success(&self) -> u16 {
        let responses = self.described["responses"].as_object().expect("responses");
        // A dry run answers 200 where what is made answers 201.
        let success = responses.keys().filter(|status| status.starts_with('2')).max();
        success.and_then(|status| status.parse().ok()).expect("a success")
    }
}

/// All of them, in an order in which each finds what it needs.
fn operations(document: &Value) -> Vec<Operation<'_>> {
    let mut all = Vec::new();
    for (path, item) in document["paths"].as_object().expect("paths") {
        for (method, described) in item.as_object().expect("operations") {
            let name = described["operationId"].as_str().expect("a name");
            all.push(Operation { name, method, path, described });
        }
    }
    all.sort_by_key(|operation| match FIRST.iter().position(|first| *first == operation.name) {
        Some(place) => (0, place),
        // A new API key ends the old one.
        None if operation.name == "regenerate_api_key" => (4, 0),
        // What lies inside goes before what it lies in.
        None if operation.method == "delete" => (3, usize::MAX - operation.path.len()),
        None if operation.method == "get" => (1, 0),
        None => (2, 0),
    });
    all
}

/// A server with what the paths of operations name.
struct Tour {
    server: Server,
    document: Value,
    /// By the beginning of the path.
    ids: BTreeMap<&'static str, String>,
}

impl Tour {
    async fn start() -> Self {
        let server = Server::start().await;
        let document = server.anonymous("GET", "/openapi.json").send().await.expect(200).json();
        let mut tour = Self { server, document, ids: BTreeMap::new() };
        // Webhooks for nobody: the examples' outputs lead to the internet.
        let bucket = tour.server.bucket("received").await;
        tour.server.output(&bucket, json!({"internal": true})).await;
        send(&tour.server, &bucket, "{}").await;
        let log = tour.server.get("/v1/logs").await.expect(200).json()["data"][0].clone();
        tour.ids.insert("/v1/logs/", id(&log).to_owned());
        tour.ids.insert("/v1/functions/{id}/versions/", "1".to_owned());
        for path in ["/v1/replays/", "/v1/erasures/"] {
            tour.ids.insert(path, "00000000-0000-4000-8000-000000000000".to_owned());
        }
        tour.ids.insert("/v1/buckets/{id}/logs/", id(&bucket).to_owned());
        tour.ids.insert("/v1/buckets/{id}/logs/{}/", id(&log).to_owned());
        tour
    }

    /// The path with the IDs of what was made.
    fn path(&self, path: &str) -> String {
        let id = |of: &str| self.ids.get(of).unwrap_or_else(|| panic!("no {of} for {path}"));
        let mut parts = Vec::new();
        let mut before = String::new();
        for part in path.split('/') {
            let filled = match part {
                "{id}" if path.starts_with("/v1/buckets/{id}/logs/") => {
                    id("/v1/buckets/{id}/logs/")
                }
                "{log_id}" if path.starts_with("/v1/buckets/") => id("/v1/buckets/{id}/logs/{}/"),
                "{key}" => "WAREHOUSE_TOKEN",
                part if part.starts_with('{') => id(&before),
                part => part,
            };
            parts.push(filled.to_owned());
            before = format!("{before}{part}/");
        }
        parts.join("/")
    }

    async fn send(&self, operation: &Operation<'_>, body: Option<&Value>) -> Answer {
        let method = operation.method.to_uppercase();
        let request = self.server.request(&method, &self.path(operation.path));
        match body {
            Some(body) => request.json(body).send().await,
            None => request.send().await,
        }
    }

    /// Remembers what was made.
    async fn keep(&mut self, operation: &str, made: &Value) {
        let place = match operation {
            "create_bucket" => "/v1/buckets/",
            "create_input" => "/v1/buckets/{id}/inputs/",
            "create_output" => "/v1/buckets/{id}/outputs/",
            "create_function" => "/v1/functions/",
            "create_domain" => "/v1/domains/",
            "create_cron" => "/v1/crons/",
            "create_notification" => "/v1/notifications/",
            "create_token" => "/v1/tokens/",
            "invoke_function" => {
                let runs = format!("{}/logs", self.path("/v1/functions/{id}"));
                let runs = self.server.get(&runs).await.expect(200).json();
                let run = id(&runs["execute_logs"][0]).to_owned();
                self.ids.insert("/v1/functions/{id}/logs/", run.clone());
                self.ids.insert("/v1/exec-logs/", run);
                return;
            }
            _ => return,
        };
        let id = made["id"].as_str().or(made["key"].as_str()).expect("an ID").to_owned();
        self.ids.insert(place, id);
    }
}

#[tokio::test]
async fn every_example_is_taken_and_every_answer_fits_its_schema() {
    let mut tour = Tour::start().await;
    let document = tour.document.clone();
    for operation in operations(&document) {
        let name = operation.name;
        let example = operation.body().map(|(schema, example)| {
            schema.check(&document, example).unwrap_or_else(|wrong| panic!("{name}: {wrong}"));
            example
        });
        let answer = tour.send(&operation, example).await;
        if let Some((_, refusal)) = REFUSED.iter().find(|(paid, _)| *paid == name) {
            answer.expect(*refusal);
            continue;
        }
        let success = operation.success();
        assert_eq!(answer.status.as_u16(), success, "{name}: {}", answer.text());
        let described = &operation.described["responses"][success.to_string()];
        let headers = described["headers"].as_object().expect("headers");
        // It says that another server did not answer, and this one is alone.
        for header in headers.keys().filter(|header| *header != "X-Partial") {
            assert!(!answer.header(header).is_empty(), "{name}: {header}");
        }
        let content = &described["content"]["application/json"];
        if content.is_null() {
            assert!(answer.body.is_empty(), "{name}");
            continue;
        }
        let answered = answer.json();
        for value in [&answered, &content["example"]] {
            let fits = Schema(&content["schema"]).check(&document, value);
            fits.unwrap_or_else(|wrong| panic!("{name}: {wrong} in {value}"));
        }
        tour.keep(name, &answered).await;
    }
}

#[tokio::test]
async fn every_bound_is_kept() {
    let mut tour = Tour::start().await;
    let document = tour.document.clone();
    let mut tried = 0;
    for operation in operations(&document) {
        let Some((schema, example)) = operation.body() else { continue };
        // Who can do nothing here is told so first; an empty name in an update is none.
        let mut beyond = Vec::new();
        let skipped = REFUSED.iter().any(|(paid, _)| *paid == operation.name);
        if !skipped && operation.name != "update_api_key_status" {
            schema.beyond(&document, example, &mut Vec::new(), &mut beyond);
        }
        for (place, wrong) in beyond {
            if operation.name == "update_bucket" && wrong["name"] == "" {
                continue;
            }
            let answer = tour.send(&operation, Some(&wrong)).await;
            assert_eq!(answer.status.as_u16(), 400, "{}: {place}", operation.name);
            tried += 1;
        }
        if FIRST.contains(&operation.name) {
            let made = tour.send(&operation, Some(example)).await.expect(operation.success());
            tour.keep(operation.name, &made.json()).await;
        }
    }
    assert!(tried > 100, "{tried}");
}

/// What a page of logs answers while there is none, which no example shows.
#[tokio::test]
async fn answers_of_an_empty_account_fit_too() {
    let server = Server::start().await;
    let document = server.anonymous("GET", "/openapi.json").send().await.expect(200).json();
    for operation in operations(&document) {
        if operation.method != "get" || operation.path.contains('{') {
            continue;
        }
        let answer = server.get(operation.path).await;
        let status = answer.status.as_u16().to_string();
        let described = &operation.described["responses"][&status];
        assert!(described.is_object(), "{}: {status}", operation.name);
        let content = &described["content"]["application/json"];
        if content.is_object() {
            let fits = Schema(&content["schema"]).check(&document, &answer.json());
            fits.unwrap_or_else(|wrong| panic!("{}: {wrong}", operation.name));
        }
    }
}

/// A bucket that was written as it was read stays as it is, which clients rely on.
#[tokio::test]
async fn read_only_fields_are_answered_and_ignored() {
    let server = Server::start().await;
    let bucket = server.bucket("orders").await;
    assert_eq!(bucket["auth"]["id"], bucket["id"]);
    let mut written: Map<String, Value> = bucket.as_object().expect("an object").clone();
    written.insert("id".to_owned(), json!(default_input(&bucket)));
    written["auth"]["id"] = json!({"neither": ["text"]});
    written["auth"]["created_at"] = json!("neither a number");
    let path = format!("/v1/buckets/{}", id(&bucket));
    let answer = server.request("PUT", &path).json(&Value::Object(written)).send().await;
    let answered = answer.expect(200).json();
    assert_eq!((&answered["id"], &answered["auth"]["id"]), (&bucket["id"], &bucket["id"]));
}
