//! Several servers change the same configuration at the same moment: each change that was
//! answered with success is there afterwards, and no limit is exceeded.

use futures_util::future::join_all;

use super::*;
use crate::harness::{
    Answer,
    postgres::{Schema, node, node_with, skipped},
};

/// Rounds of each pair of changes; `CLUSTER_ROUNDS` makes it 300 by hand.
fn rounds() -> u64 {
    chosen("CLUSTER_ROUNDS", 40)
}

/// Sends a resource that was changed, and answers what came of it. A caller whose version is
/// stale reads again, as a client with `If-Match` does.
async fn change(
    server: &Server,
    path: &str,
    read: impl AsyncFn() -> (Value, String),
    change: impl Fn(&mut Value),
) {
    for _ in 0..100 {
        let (mut resource, tag) = read().await;
        change(&mut resource);
        let put = server.request("PUT", path).header("If-Match", &tag).json(&resource);
        match put.send().await {
            answer if answer.status == 412 => {}
            answer => {
                answer.expect(200);
                return;
            }
        }
    }
    panic!("{path}: a hundred times another change was first");
}

/// A resource with its tag.
fn tagged(answer: &Answer) -> (Value, String) {
    (answer.json(), answer.header("ETag").to_owned())
}

/// An output is updated at one server while another server pauses it: 127 of 300 pauses and 172
/// of 300 updates were lost before outputs had versions.
#[tokio::test]
async fn an_update_and_a_pause_at_two_servers_are_both_kept() {
    let Some(schema) = Schema::create("administrators").await else { return skipped() };
    let nodes = [node(&schema).await, node(&schema).await];
    let bucket = nodes[0].bucket("events").await;
    let output =
        nodes[0].output(&bucket, json!({"name": "o", "destination": "http://127.0.0.1:9"}));
    let output = output.await;
    let path = format!("/v1/buckets/{}/outputs/{}", id(&bucket), id(&output));
    for round in 0..rounds() {
        let update = json!({
            "name": "o", "destination": "http://127.0.0.1:9", "description": format!("d{round}"),
        });
        let pause = json!({ "reason": format!("r{round}") });
        let update = nodes[0].request("PUT", &path).json(&update);
        let pause_path = format!("{path}/pause");
        let pause = nodes[1].request("PUT", &pause_path).json(&pause);
        let (updated, paused) = tokio::join!(update.send(), pause.send());
        updated.expect(200);
        paused.expect(200);
        for node in &nodes {
            let found = node.get(&path).await.expect(200).json();
            assert_eq!(found["description"], format!("d{round}"));
            assert_eq!(found["pause_reason"], format!("r{round}"));
        }
    }
    drop(nodes);
    schema.remove().await;
}

/// Two servers update two different fields of an output, an input, a bucket, a cron and a
/// function, each with `If-Match`, and of extension fields without it.
#[tokio::test]
async fn updates_of_different_fields_at_two_servers_are_both_kept() {
    let Some(schema) = Schema::create("fields").await else { return skipped() };
    let nodes = [node(&schema).await, node(&schema).await];
    let bucket = nodes[0].bucket("events").await;
    let output = json!({"name": "o", "destination": "http://127.0.0.1:9"});
    let output = nodes[0].output(&bucket, output).await;
    let function = nodes[0].function("-- 0").await;
    let cron = json!({"schedule": "@daily", "destination": "http://127.0.0.1:9"});
    let cron = nodes[0].request("POST", "/v1/crons").json(&cron).send().await.expect(201).json();
    let bucket_path = format!("/v1/buckets/{}", id(&bucket));
    let cases = [
        (format!("{bucket_path}/outputs/{}", id(&output)), ["description", "destination"]),
        (format!("{bucket_path}/inputs/{}", default_input(&bucket)), ["description", "body"]),
        (bucket_path.clone(), ["description", "name"]),
        (format!("/v1/crons/{}", id(&cron)), ["name", "payload"]),
        (format!("/v1/functions/{}", id(&function)), ["name", "payload"]),
    ];
    for round in 0..rounds() {
        for (path, fields) in &cases {
            let values = fields.map(|field| match field {
                "destination" => format!("http://127.0.0.1:9/{round}"),
                "payload" => format!("-- {round}"),
                _ => format!("{field}-{round}"),
            });
            let both = [0, 1].map(|side| {
                let (node, field, value) = (&nodes[side], fields[side], &values[side]);
                let read = async move || tagged(&node.get(path).await.expect(200));
                change(node, path, read, move |it| it[field] = json!(value))
            });
            let [one, other] = both;
            tokio::join!(one, other);
            let found = nodes[0].get(path).await.expect(200).json();
            assert_eq!([&found[fields[0]], &found[fields[1]]], [&values[0], &values[1]], "{path}");
        }
    }
    // Without `If-Match` an extension field that is absent is kept.
    let path = &cases[0].0;
    for round in 1..=rounds() {
        let health = json!({ "notify_after": 60_000_000_000_u64 + round });
        let auth = json!({ "type": "bearer", "token": format!("token-{round}") });
        let update = |field: &str, value: &Value| json!({ "name": "o", "destination": "http://127.0.0.1:9", field: value });
        let (health_update, auth_update) = (update("health", &health), update("auth", &auth));
        let one = nodes[0].request("PUT", path).json(&health_update).send();
        let other = nodes[1].request("PUT", path).json(&auth_update).send();
        let (one, other) = tokio::join!(one, other);
        one.expect(200);
        other.expect(200);
        let found = nodes[1].get(path).await.expect(200).json();
        assert_eq!(found["health"]["notify_after"], health["notify_after"], "{found}");
        assert_eq!(found["auth"]["type"], "bearer", "{found}");
    }
    drop(nodes);
    schema.remove().await;
}

/// Three servers make outputs of a bucket that may have five: 7 of 8 buckets had more before the
/// store counted.
#[tokio::test]
async fn a_limit_holds_over_three_servers() {
    let Some(schema) = Schema::create("limits").await else { return skipped() };
    let limit = [("WEBHOOK_MAX_OUTPUTS", "5")];
    let nodes = [
        node_with(&schema, &limit).await,
        node_with(&schema, &limit).await,
        node_with(&schema, &limit).await,
    ];
    for round in 0..rounds() / 5 {
        let bucket = nodes[0].bucket(&format!("events-{round}")).await;
        let path = format!("/v1/buckets/{}/outputs", id(&bucket));
        let output = json!({ "destination": "http://127.0.0.1:9" });
        let creates = (0..12)
            .map(|number| nodes[number % nodes.len()].request("POST", &path).json(&output).send());
        let answers = join_all(creates).await;
        let made = answers.iter().filter(|answer| answer.status == 201).count();
        let refused = answers.iter().filter(|answer| answer.status == 412).count();
        assert_eq!(
            (made, refused),
            (5, 7),
            "{:?}",
            answers.iter().map(Answer::text).collect::<Vec<_>>()
        );
        let bucket = nodes[1].get(&format!("/v1/buckets/{}", id(&bucket))).await.expect(200);
        assert_eq!(bucket.json()["outputs"].as_array().map(Vec::len), Some(5));
    }
    drop(nodes);
    schema.remove().await;
}

/// Two accounts reserve the same domain at two servers: one of them gets it.
#[tokio::test]
async fn a_domain_that_two_accounts_reserve_at_two_servers_goes_to_one() {
    let Some(schema) = Schema::create("reserving").await else { return skipped() };
    let named = [("WEBHOOK_PUBLIC_URL", "https://relay.example.net")];
    let nodes = [node_with(&schema, &named).await, node_with(&schema, &named).await];
    let second = format!("Bearer {}", nodes[0].account("second").await);
    for round in 0..rounds() / 5 {
        let spec = json!({ "domain": format!("hooks-{round}.example.com") });
        let one = nodes[0].request("POST", "/v1/domains").json(&spec);
        let other = nodes[1].anonymous("POST", "/v1/domains").header("authorization", &second);
        let (one, other) = tokio::join!(one.send(), other.json(&spec).send());
        let mut statuses = [one.status.as_u16(), other.status.as_u16()];
        statuses.sort_unstable();
        assert_eq!(statuses, [201, 412], "{} {}", one.text(), other.text());
        let winner = if one.status == 201 { one } else { other };
        assert_eq!(winner.json()["domain"], spec["domain"]);
    }
    drop(nodes);
    schema.remove().await;
}
