//! What the published clients of the interface send and decode: the Go library, the Terraform
//! provider on its generated client, and the types of the TypeScript SDK. They are strict: a
//! field of another type makes a whole answer unreadable.

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::{
    basic,
    harness::{PATIENCE, Server, default_input, id},
};

/// Unix seconds, an `int64` or a `number` of the clients.
type Unix = i64;

/// RFC 3339, a `string` or a `time.Time` of the clients.
#[derive(Debug, Default)]
struct Text(Option<jiff::Timestamp>);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map(|moment| Self(Some(moment))).map_err(serde::de::Error::custom)
    }
}

#[derive(Deserialize)]
struct Times {
    created_at: Unix,
    updated_at: Unix,
}

#[derive(Deserialize)]
struct Bucket {
    #[serde(flatten)]
    times: Times,
    auth: Times,
    inputs: Vec<Times>,
    outputs: Vec<Times>,
}

#[derive(Deserialize)]
struct Token {
    #[serde(flatten)]
    times: Times,
    #[serde(default)]
    last_login: Text,
}

#[derive(Deserialize)]
struct Function {
    created: Unix,
    updated: Unix,
}

#[derive(Deserialize)]
struct Runs {
    execute_logs: Vec<Function>,
}

#[derive(Deserialize)]
struct Variable {
    created_at: Text,
    updated_at: Text,
}

#[derive(Deserialize)]
struct Cron {
    created_at: Text,
    updated_at: Text,
    #[serde(default)]
    starts_at: Text,
    #[serde(default)]
    ends_at: Text,
    #[serde(default)]
    next_run: Text,
}

#[derive(Deserialize)]
struct Logs {
    data: Vec<Times>,
}

#[derive(Deserialize)]
struct Usage {
    usage: UsageTimes,
}

#[derive(Deserialize)]
struct UsageTimes {
    created_at: Text,
}

fn is_recent(seconds: Unix) -> bool {
    seconds > 1_700_000_000
}

impl Times {
    fn are_recent(&self) -> bool {
        is_recent(self.created_at) && is_recent(self.updated_at)
    }
}

async fn read<T: DeserializeOwned>(server: &Server, path: &str) -> T {
    let answer = server.get(path).await.expect(200).json();
    serde_json::from_value(answer.clone())
        .unwrap_or_else(|error| panic!("{path}: {error}: {answer}"))
}

async fn post(server: &Server, path: &str, body: Value) -> Value {
    let answer = server.request("POST", path).json(&body).send().await;
    assert!(answer.status.is_success(), "{path}: {} {}", answer.status, answer.text());
    answer.json()
}

#[tokio::test]
async fn every_time_has_the_type_that_the_clients_decode() {
    let server = Server::start().await;
    let bucket = server.bucket("times").await;
    server.output(&bucket, json!({"destination": "http://127.0.0.1:9/", "disabled": true})).await;
    let path = format!("/v1/buckets/{}", id(&bucket));
    let spec = json!({"auth": {"type": "token", "token": "a-token"}});
    server.request("PUT", &path).json(&spec).send().await.expect(200);
    let received = format!("/v1/webhooks/{}", default_input(&bucket));
    let webhook = server.anonymous("POST", &received).header("authorization", "a-token");
    webhook.send().await.expect(200);

    let Bucket { times, auth, inputs, outputs } = read(&server, &path).await;
    let all = [times, auth].into_iter().chain(inputs).chain(outputs);
    assert_eq!(all.filter(Times::are_recent).count(), 4);
    let logs: Logs = read(&server, "/v1/logs").await;
    assert_eq!(logs.data.iter().filter(|log| log.are_recent()).count(), 1);
    let usage: Usage = read(&server, "/v1/usage").await;
    assert!(usage.usage.created_at.0.is_some());

    let source = json!({"name": "f", "driver": "lua", "payload": "r.x = 1"});
    let function = format!("/v1/functions/{}", id(&post(&server, "/v1/functions", source).await));
    let variable = json!({"key": "K", "value": "v"});
    server.request("PUT", &format!("{function}/config")).json(&variable).send().await.expect(200);
    post(&server, &format!("{function}/invoke"), json!({})).await;
    let times: Function = read(&server, &function).await;
    assert!(is_recent(times.created) && is_recent(times.updated));
    let variables: Vec<Variable> = read(&server, &format!("{function}/config")).await;
    assert!(variables.iter().all(|it| it.created_at.0.is_some() && it.updated_at.0.is_some()));
    let runs: Runs = read(&server, &format!("{function}/logs")).await;
    assert!(runs.execute_logs.iter().all(|run| is_recent(run.created) && is_recent(run.updated)));
    assert_eq!((variables.len(), runs.execute_logs.len()), (1, 1));

    post(&server, "/v1/domains", json!({"domain": "times.example.com"})).await;
    let domains: Vec<Times> = read(&server, "/v1/domains").await;
    assert_eq!(domains.iter().filter(|domain| domain.are_recent()).count(), 1);
    let spec = json!({"schedule": "@daily", "destination": "http://127.0.0.1:9/"});
    post(&server, "/v1/crons", spec.clone()).await;
    let [from, to] = ["2026-01-01T00:00:00Z", "2999-01-01T00:00:00Z"];
    let mut bounded = spec;
    (bounded["starts_at"], bounded["ends_at"]) = (json!(from), json!(to));
    post(&server, "/v1/crons", bounded).await;
    let crons: Vec<Cron> = read(&server, "/v1/crons").await;
    assert!(
        crons.iter().all(|it| it.created_at.0.and(it.updated_at.0).and(it.next_run.0).is_some())
    );
    let bounds = crons.iter().map(|it| [&it.starts_at, &it.ends_at].map(|at| at.0.is_some()));
    assert_eq!(bounds.collect::<Vec<_>>(), [[false, false], [true, true]]);
}

#[tokio::test]
async fn a_token_is_decoded_before_and_after_it_was_used() {
    let server = Server::start().await;
    // The Go library sends all of these, also the empty ones.
    let spec =
        json!({"description": "", "scopes": {"tunnels": null, "buckets": null}, "api_access": ""});
    let made = post(&server, "/v1/tokens", spec).await;
    let tokens: Vec<Token> = read(&server, "/v1/tokens").await;
    assert!(tokens[0].times.are_recent() && tokens[0].last_login.0.is_none());
    let request = server.anonymous("GET", "/v1/buckets").header("authorization", &basic(&made));
    request.send().await.expect(200);
    let used = async {
        while read::<Vec<Token>>(&server, "/v1/tokens").await[0].last_login.0.is_none() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, used).await.expect("the login is noted");
    // An update of a token that was never used and whose times were never read.
    let zero = json!({
        "created_at": -62_135_596_800_i64, "updated_at": -62_135_596_800_i64, "last_login": "",
        "id": made["key"], "description": "CI", "scopes": {"tunnels": null, "buckets": ["b"]},
        "api_access": "", "active": false,
    });
    let path = format!("/v1/tokens/{}", made["key"].as_str().expect("text"));
    let changed = server.request("PUT", &path).json(&zero).send().await.expect(200).json();
    assert_eq!(
        (&changed["api_access"], &changed["description"]),
        (&json!("enabled"), &json!("CI"))
    );
}

#[tokio::test]
async fn what_the_go_library_leaves_empty_counts_as_absent() {
    let server = Server::start().await;
    let never = -62_135_596_800_i64;
    let made = post(&server, "/v1/buckets", json!({"name": "b", "description": ""})).await;
    let path = format!("/v1/buckets/{}", id(&made));
    let bucket = json!({
        "created_at": never, "updated_at": never, "id": id(&made), "name": "b", "description": "",
        "stream": true, "ephemeral": false, "suspended": false, "large_webhooks": false,
        "auth": {"type": ""}, "inputs": null, "outputs": null,
    });
    server.request("PUT", &path).json(&bucket).send().await.expect(200);
    let input = json!({
        "created_at": never, "updated_at": never, "id": "", "name": "", "function_id": "",
        "bucket_id": id(&made), "headers": null, "status_code": 0, "body": "",
        "response_from_output": "", "custom_domain": "", "path_prefix": "", "description": "",
    });
    post(&server, &format!("{path}/inputs"), input).await;
    let output = json!({
        "created_at": never, "updated_at": never, "id": "", "name": "o", "bucket_id": id(&made),
        "function_id": "", "headers": null, "destination": "http://127.0.0.1:9/",
        "internal": false, "timeout": 0, "description": "",
    });
    post(&server, &format!("{path}/outputs"), output).await;
    let function = json!({"id": "", "name": "f", "payload": "ci54ID0gMQ==", "driver": ""});
    let function = post(&server, "/v1/functions", function).await;
    assert_eq!((&function["driver"], &function["payload"]), (&json!("lua"), &json!("r.x = 1")));
    let cron = json!({
        "id": "", "created_at": "0001-01-01T00:00:00Z", "updated_at": "0001-01-01T00:00:00Z",
        "name": "", "enabled": true, "recurring": true, "schedule": "@daily", "timezone": "",
        "account_id": "", "bucket": {"auth": {"type": ""}}, "method": "", "payload": "",
        "headers": null, "destination": "http://127.0.0.1:9/", "function_id": "",
        "starts_at": "0001-01-01T00:00:00Z", "ends_at": "0001-01-01T00:00:00Z",
        "next_run": "0001-01-01T00:00:00Z",
    });
    let cron = post(&server, "/v1/crons", cron).await;
    assert_eq!((&cron["method"], &cron["timezone"]), (&json!("POST"), &json!("UTC")));
}

/// What a strict infrastructure tool compares: each field that it sent, and each field that it knows
/// and left out, which stands for the zero of its type.
fn expect_no_difference(sent: &Value, omitted: &[&str], read: &Value) {
    for (field, value) in sent.as_object().expect("an object") {
        assert_eq!(&read[field], value, "{field} of {read}");
    }
    for field in omitted {
        let value = &read[field];
        let is_zero = value.is_null()
            || *value == json!("")
            || *value == json!(false)
            || *value == json!(0)
            || *value == json!({});
        assert!(is_zero, "{field} of {read}");
    }
}

async fn put(server: &Server, path: &str, body: &Value) {
    server.request("PUT", path).json(body).send().await.expect(200);
}

/// The life of a resource that is read at its own path.
async fn lives_without_difference(
    server: &Server,
    (list, minimal, omitted, whole): (&str, Value, &[&str], Value),
) {
    let path = format!("{list}/{}", id(&post(server, list, minimal.clone()).await));
    expect_no_difference(&minimal, omitted, &read(server, &path).await);
    put(server, &path, &whole).await;
    expect_no_difference(&whole, &[], &read(server, &path).await);
    put(server, &path, &minimal).await;
    expect_no_difference(&minimal, omitted, &read(server, &path).await);
    server.request("DELETE", &path).send().await.expect(200);
    server.get(&path).await.expect(404);
    // It was removed by hand: a plan makes it again.
    server.request("DELETE", &path).send().await.expect(404);
}

#[tokio::test]
async fn infrastructure_tools_see_no_difference_with_the_hosted_products_decisions() {
    let server = Server::start_with(&[("WEBHOOK_COMPATIBILITY", "hosted")]).await;
    let bucket = post(&server, "/v1/buckets", json!({"name": "of the parts"})).await;
    let parts = format!("/v1/buckets/{}", id(&bucket));
    let (inputs, outputs) = (format!("{parts}/inputs"), format!("{parts}/outputs"));
    let whole_bucket = json!({"name": "b", "description": "d", "stream": true, "ephemeral": true});
    let whole_output = json!({
        "name": "o", "description": "d", "destination": "http://127.0.0.1:9/x",
        "internal": true, "tls_verification": true, "disabled": true, "lock_path": true,
        "rules": {"match": {"type": "value", "value": "push",
            "parameter": {"source": "header", "name": "X-Event"}}},
    });
    let resources: [(&str, Value, &[&str], Value); 4] = [
        (
            "/v1/buckets",
            json!({"name": "b"}),
            &["description", "stream", "ephemeral", "large_webhooks", "static_ip"],
            whole_bucket,
        ),
        (
            &inputs,
            json!({"name": "i"}),
            &["description", "status_code", "body", "headers", "function_id"],
            json!({"name": "i", "description": "d", "status_code": 202, "body": "ok",
                "headers": {"X-A": ["b"]}}),
        ),
        (
            &outputs,
            json!({"name": "o", "destination": "http://127.0.0.1:9/x"}),
            &["description", "internal", "tls_verification", "disabled", "lock_path", "timeout"],
            whole_output,
        ),
        (
            "/v1/functions",
            json!({"name": "f", "driver": "lua", "payload": "return"}),
            &[],
            // The base64 of a source, as the provider sends each.
            json!({"name": "f", "driver": "lua", "payload": "cjpTdG9wRm9yd2FyZGluZygp"}),
        ),
    ];
    for resource in resources {
        lives_without_difference(&server, resource).await;
    }

    // Tokens have no path of their own.
    let sent = json!({"description": "t", "api_access": "enabled"});
    let token = post(&server, "/v1/tokens", sent.clone()).await;
    let key = token["key"].as_str().expect("a key").to_owned();
    let listed = async || {
        let tokens = server.get("/v1/tokens").await.expect(200).json();
        tokens.as_array().expect("a list").iter().find(|token| token["id"] == key).cloned()
    };
    expect_no_difference(&sent, &[], &listed().await.expect("it is there"));
    let scoped = json!({"description": "t2", "api_access": "disabled",
        "scopes": {"buckets": ["of the parts"], "tunnels": []}});
    put(&server, &format!("/v1/tokens/{key}"), &scoped).await;
    expect_no_difference(&scoped, &[], &listed().await.expect("it is there"));
    server.request("DELETE", &format!("/v1/tokens/{key}")).send().await.expect(200);
    assert_eq!(listed().await, None);

    let missing = "/v1/functions/0190a1b2-0000-7000-8000-000000000000";
    for path in [missing, "/v1/functions/none", &format!("{missing}/config")] {
        server.get(path).await.expect(404);
    }
}

#[tokio::test]
async fn without_it_the_document_counts() {
    let server = Server::start().await;
    let bucket = post(&server, "/v1/buckets", json!({"name": "b"})).await;
    assert_eq!(bucket["stream"], true);
    let output = server.output(&bucket, json!({"destination": "http://127.0.0.1:9/"})).await;
    assert_eq!(output["tls_verification"], true);
    for path in ["/v1/functions/0190a1b2-0000-7000-8000-000000000000", "/v1/functions/none"] {
        server.get(path).await.expect(400);
    }
}
