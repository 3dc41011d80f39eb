//! Outputs that lead back: each loop ends at the bound, and saving one is refused at first.

use std::collections::BTreeMap;

use super::*;
use crate::{harness::Client, sink::Reply};

/// The webhooks that one becomes: received with 0 to 8 hops.
const WEBHOOKS: usize = 9;

fn address(server: &Server, bucket: &Value) -> String {
    format!("{}{}", server.base, input_path(bucket))
}

/// An output that is meant to lead back, if it does.
async fn leading(server: &Server, bucket: &Value, mut spec: Value) -> Value {
    if spec["name"].is_null() {
        spec["name"] = json!("on");
    }
    let path = format!("/v1/buckets/{}/outputs?allow_loop=true", id(bucket));
    server.request("POST", &path).json(&spec).send().await.expect(201).json()
}

async fn send(server: &Server, bucket: &Value) {
    server.anonymous("POST", &input_path(bucket)).body("ping").send().await.expect(200);
}

/// Counts the logs by status and reason, once `count` logs exist and none waits.
async fn ended(server: &Server, count: usize) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for log in server.ended_logs(count).await {
        let word = |name: &str| log[name].as_str().unwrap_or_default().to_owned();
        let of = format!("{} {}", word("status"), word("reason"));
        *counts.entry(of.trim().to_owned()).or_default() += 1;
    }
    counts
}

fn counts(of: &[(&str, usize)]) -> BTreeMap<String, usize> {
    of.iter().map(|(word, count)| ((*word).to_owned(), *count)).collect()
}

#[tokio::test]
async fn a_loop_of_one_two_or_three_buckets_ends_at_the_bound() {
    for length in 1..=3 {
        let server = Server::start().await;
        let mut buckets = Vec::new();
        for number in 0..length {
            buckets.push(server.bucket(&format!("b{number}")).await);
        }
        for (number, bucket) in buckets.iter().enumerate() {
            let next = &buckets[(number + 1) % length];
            // Without the count, this header made the loop endless.
            let headers = json!({"X-Forwarded-For": ["1"], "X-Webhook-Relay-Hops": ["0"]});
            let spec = json!({"destination": address(&server, next), "headers": headers});
            leading(&server, bucket, spec).await;
        }
        send(&server, &buckets[0]).await;
        let over = counts(&[("sent", WEBHOOKS - 1), ("failed loop", 1)]);
        assert_eq!(ended(&server, WEBHOOKS).await, over, "{length} buckets");
        // The last webhook fails again when it is replayed.
        let failed = server.get("/v1/logs?status=failed").await.expect(200).json();
        let failed = failed["data"][0].clone();
        assert!(failed["error"].as_str().is_some_and(|error| error.contains("may pass 8")));
        let again = json!({"filter": {"bucket": failed["bucket_id"], "status": "failed"}});
        server.request("POST", "/v1/replays").json(&again).send().await.expect(201);
        let over = counts(&[("sent", WEBHOOKS - 1), ("failed loop", 2)]);
        assert_eq!(ended(&server, WEBHOOKS + 1).await, over, "{length} buckets, replayed");
    }
}

#[tokio::test]
async fn a_loop_that_doubles_ends_at_the_bound() {
    let server = Server::start_with(&[("WEBHOOK_MAX_HOPS", "4")]).await;
    let (one, two) = (server.bucket("one").await, server.bucket("two").await);
    for (from, to) in [(&one, &two), (&two, &one)] {
        for name in ["a", "b"] {
            let spec = json!({"name": name, "destination": address(&server, to)});
            leading(&server, from, spec).await;
        }
    }
    send(&server, &one).await;
    let over = counts(&[("sent", 2 + 4 + 8 + 16), ("failed loop", 32)]);
    assert_eq!(ended(&server, 62).await, over);
}

#[tokio::test]
async fn a_loop_through_a_domain_a_cron_or_a_resent_webhook_ends_at_the_bound() {
    let server = Server::start().await;
    let reserve = json!({"domain": "loops.example.com"});
    server.request("POST", "/v1/domains").json(&reserve).send().await.expect(201);
    let bucket = server.bucket("domain").await;
    let input = json!({"name": "in", "custom_domain": "loops.example.com"});
    let path = format!("/v1/buckets/{}/inputs", id(&bucket));
    server.request("POST", &path).json(&input).send().await.expect(201);
    // The name leads nowhere on this machine.
    let headers = json!({"Host": ["loops.example.com"]});
    leading(&server, &bucket, json!({"destination": server.base, "headers": headers})).await;
    send(&server, &bucket).await;
    let mut over = counts(&[("sent", WEBHOOKS - 1), ("failed loop", 1)]);
    assert_eq!(ended(&server, WEBHOOKS).await, over);

    // The first webhook of it, sent again: it goes the same way.
    let logs = server.get("/v1/logs?limit=100").await.expect(200).json();
    let first = logs["data"].as_array().and_then(|logs| logs.last()).expect("a log");
    server.resend(first, "force").await.expect(200);
    over = counts(&[("sent", 2 * (WEBHOOKS - 1)), ("failed loop", 2)]);
    assert_eq!(ended(&server, 2 * WEBHOOKS).await, over);

    let mut cron = json!({"schedule": "@every 1s", "recurring": false, "enabled": false,
        "destination": "http://127.0.0.1:9/", "headers": {"X-Webhook-Relay-Hops": ["0"]}});
    let made = server.request("POST", "/v1/crons").json(&cron).send().await.expect(201).json();
    cron["destination"] = json!(address(&server, &made["bucket"]));
    cron["enabled"] = json!(true);
    let path = format!("/v1/crons/{}", id(&made));
    let refused = server.request("PUT", &path).json(&cron).send().await;
    refused.expect_error(412, "destination: ");
    let path = format!("{path}?allow_loop=true");
    server.request("PUT", &path).json(&cron).send().await.expect(200);
    over = counts(&[("sent", 3 * (WEBHOOKS - 1)), ("failed loop", 3)]);
    assert_eq!(ended(&server, 3 * WEBHOOKS).await, over);
}

#[tokio::test]
async fn no_function_ends_the_count() {
    let server = Server::start().await;
    let forget = "r:DeleteRequestHeader(\"X-Webhook-Relay-Hops\")\n\
        r:SetRequestHeader(\"x-webhook-relay-hops\", \"0\")";
    let forget = server.function(forget).await;
    let bucket = server.bucket("changed").await;
    server.set_default_input(&bucket, json!({"function_id": id(&forget)})).await;
    let spec = json!({"destination": address(&server, &bucket), "function_id": id(&forget)});
    leading(&server, &bucket, spec).await;
    send(&server, &bucket).await;
    let over = counts(&[("sent", WEBHOOKS - 1), ("failed loop", 1)]);
    assert_eq!(ended(&server, WEBHOOKS).await, over);

    // Functions that send to the input which they are attached to.
    for (name, source) in [
        (
            "lua",
            "require(\"http\").post(\"ADDRESS\", {headers = {[\"X-Webhook-Relay-Hops\"] = \"0\"}})",
        ),
        ("js", "http.post(\"ADDRESS\", {headers: {\"X-Webhook-Relay-Hops\": \"0\"}})"),
    ] {
        // Eight functions that wait for each other: on a busy machine that takes more than a second.
        let server = Server::start_with(&[("WEBHOOK_FUNCTION_COMPUTE_TIME", "10s")]).await;
        let bucket = server.bucket(name).await;
        let source = source.replace("ADDRESS", &address(&server, &bucket));
        let spec = json!({"name": name, "driver": name, "payload": source});
        let function = server.function_of(spec).await;
        server.set_default_input(&bucket, json!({"function_id": id(&function)})).await;
        send(&server, &bucket).await;
        // Without an output they wait for clients.
        let logs = server.get("/v1/logs?limit=100").await.expect(200).json();
        assert_eq!(logs["total"], WEBHOOKS, "{name}");
    }
}

#[tokio::test]
async fn a_sender_brings_its_count_and_508_is_final() {
    let sink = Sink::scripted(|_| Reply::Status(508)).await;
    let (mut server, bucket) = relay_to(&sink.base).await;
    for (said, status) in [("9", 508), ("999", 508), ("1000", 200), ("no", 200), ("7", 200)] {
        let request = server.anonymous("POST", &input_path(&bucket));
        let request = request.header("x-webhook-relay-hops", said).body(said.to_owned());
        let answer = request.send().await.expect(status);
        if status == 508 {
            assert!(answer.text().contains("may pass 8"), "{}", answer.text());
        }
    }
    let arrived = sink.received(3).await;
    let hops = |body: &str| {
        let found = arrived.iter().find(|arrived| arrived.body == body).expect(body);
        found.head.headers["x-webhook-relay-hops"].to_str().expect("text").to_owned()
    };
    assert_eq!([hops("1000"), hops("no"), hops("7")], ["1", "1", "8"]);
    let refused = counts(&[("failed destination_refused", 3)]);
    assert_eq!(ended(&server, 3).await, refused);
    // A webhook that this relay would be one too many for.
    let request = server.anonymous("POST", &input_path(&bucket));
    request.header("x-webhook-relay-hops", "8").send().await.expect(200);
    let over = counts(&[("failed destination_refused", 3), ("failed loop", 1)]);
    assert_eq!(ended(&server, 4).await, over);
    assert_eq!(sink.so_far().len(), 3, "none was tried again");
    server.terminate().await;
    let server = server.restart_with(&[("WEBHOOK_MAX_HOPS", "0")]).await;
    let request = server.anonymous("POST", &input_path(&bucket));
    request.header("x-webhook-relay-hops", "999").send().await.expect(200);
    assert_eq!(sink.received(4).await[3].head.headers["x-webhook-relay-hops"], "999");
}

#[tokio::test]
async fn an_output_that_closes_a_loop_is_saved_only_when_it_is_meant() {
    let server = Server::start().await;
    let domain = json!({"domain": "closed.example.com"});
    server.request("POST", "/v1/domains").json(&domain).send().await.expect(201);
    let mut buckets = Vec::new();
    for name in ["one", "two", "three"] {
        buckets.push(server.bucket(name).await);
    }
    let [one, two, three] = &buckets[..] else { unreachable!() };
    let input = json!({"custom_domain": "closed.example.com", "path_prefix": "/hooks"});
    server.set_default_input(three, input).await;
    server.output(one, json!({"name": "on", "destination": address(&server, two)})).await;
    let by_domain = "https://closed.example.com/hooks/x";
    let on = server.output(two, json!({"name": "on", "destination": by_domain})).await;
    let path = |bucket: &Value| format!("/v1/buckets/{}/outputs", id(bucket));
    // Another name of the same server, and a proxy that puts a path before the prefix.
    let elsewhere = format!("https://relay.example.com/hooks{}/x?y=1", input_path(one));
    for destination in [address(&server, one), elsewhere, address(&server, three)] {
        let spec = json!({"name": "back", "destination": destination});
        let refused = server.request("POST", &path(three)).json(&spec).send().await;
        refused.expect_error(412, "?allow_loop=true");
    }
    // Nothing leads back from these.
    for spec in [
        json!({"name": "disabled", "destination": address(&server, one), "disabled": true}),
        json!({"name": "internal", "destination": address(&server, one), "internal": true}),
        json!({"name": "elsewhere", "destination": "https://closed.example.com/other"}),
    ] {
        server.request("POST", &path(three)).json(&spec).send().await.expect(201);
    }
    let back = leading(&server, three, json!({"destination": address(&server, one)})).await;
    // A stored destination is not refused when another field changes.
    let one_of = format!("{}/{}", path(three), id(&back));
    let mut spec = json!({"destination": address(&server, one), "description": "meant"});
    server.request("PUT", &one_of).json(&spec).send().await.expect(200);
    spec["destination"] = json!(address(&server, two));
    let refused = server.request("PUT", &one_of).json(&spec).send().await;
    refused.expect_error(412, "destination: ");
    // A loop that is interrupted is none.
    let spec = json!({"destination": by_domain, "disabled": true});
    let on = format!("{}/{}", path(two), id(&on));
    server.request("PUT", &on).json(&spec).send().await.expect(200);
    let spec = json!({"name": "again", "destination": address(&server, one)});
    server.request("POST", &path(three)).json(&spec).send().await.expect(201);

    // Inputs of another account are elsewhere.
    let key = server.account("other").await;
    let client = Client::default();
    let request = |method, path: &str| {
        let request = client.request(method, &format!("{}{path}", server.base));
        request.header("authorization", &format!("Bearer {key}"))
    };
    let theirs = request("POST", "/v1/buckets").json(&json!({"name": "theirs"})).send().await;
    let theirs = theirs.expect(201).json();
    let spec = json!({"name": "on", "destination": address(&server, one)});
    request("POST", &path(&theirs)).json(&spec).send().await.expect(201);
    let spec = json!({"name": "theirs", "destination": address(&server, &theirs)});
    server.request("POST", &path(one)).json(&spec).send().await.expect(201);
}

#[tokio::test]
async fn a_notification_goes_on_with_the_count_of_the_webhook_it_is_about() {
    let server = Server::start().await;
    let (watched, told) = (server.bucket("watched").await, server.bucket("told").await);
    let nowhere = json!({"name": "on", "destination": "http://127.0.0.1:9/", "retries": -1});
    server.output(&watched, nowhere).await;
    server.output(&told, json!({"name": "on", "destination": address(&server, &watched)})).await;
    let spec = json!({"events": ["delivery.failed"], "buckets": [id(&watched)],
        "to_bucket": id(&told)});
    server.request("POST", "/v1/notifications").json(&spec).send().await.expect(201);
    let request = server.anonymous("POST", &input_path(&watched));
    request.header("x-webhook-relay-hops", "5").send().await.expect(200);
    // The webhook that failed, the notification, and what the notification became.
    let over = counts(&[("failed attempts_exhausted", 2), ("sent", 1)]);
    assert_eq!(ended(&server, 3).await, over);
    let logs = server.get("/v1/logs?bucket=watched").await.expect(200).json();
    assert_eq!(logs["data"][0]["headers"]["X-Webhook-Relay-Hops"], json!(["7"]), "{logs}");
}
