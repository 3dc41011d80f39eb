//! Crons through the real server: at a real destination, over `kill -9`, and
//! by two servers on one database.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    harness::postgres::{Schema, skipped},
    *,
};
use crate::sink::Arrived;

async fn every_second(server: &Server, sink: &Sink, spec: Value) -> Value {
    let mut cron = json!({
        "name": "tick",
        "schedule": "@every 1s",
        "destination": format!("{}/tick", sink.base),
        "payload": "{\"tick\":true}",
        "headers": {"x-own": "yes"},
    });
    for (field, value) in spec.as_object().expect("an object") {
        cron[field] = value.clone();
    }
    server.request("POST", "/v1/crons").json(&cron).send().await.expect(201).json()
}

fn header<'a>(arrived: &'a Arrived, name: &str) -> &'a str {
    arrived.head.headers[name].to_str().expect("text")
}

/// How many webhooks came for each run.
fn ledger(arrived: &[Arrived]) -> BTreeMap<String, BTreeSet<String>> {
    let mut ledger = BTreeMap::<_, BTreeSet<_>>::new();
    for arrived in arrived {
        let run = header(arrived, "x-webhook-cron-time").to_owned();
        ledger.entry(run).or_default().insert(header(arrived, "x-webhook-relay-id").to_owned());
    }
    ledger
}

/// What is answered at `path` as soon as it is what the test waits for.
async fn eventually(server: &Server, path: &str, is: impl Fn(&Value) -> bool) -> Value {
    let answer = async {
        loop {
            let answer = server.get(path).await.expect(200).json();
            if is(&answer) {
                return answer;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(harness::PATIENCE, answer).await.expect("it comes")
}

#[tokio::test]
async fn a_cron_delivers_and_logs_with_the_rules_of_its_bucket() {
    let server = Server::start().await;
    let sink =
        Sink::scripted(|number| sink::Reply::Status(if number == 0 { 503 } else { 200 })).await;
    let cron = every_second(&server, &sink, json!({ "recurring": false })).await;
    let arrived = sink.received(2).await;
    for arrived in &arrived {
        assert_eq!(
            (arrived.head.method.as_str(), &arrived.body[..]),
            ("POST", &b"{\"tick\":true}"[..])
        );
        assert_eq!(arrived.head.uri.path(), "/tick");
        assert_eq!(header(arrived, "content-type"), "application/json");
        assert_eq!(header(arrived, "x-own"), "yes");
        assert_eq!(header(arrived, "x-webhook-cron-id"), harness::id(&cron));
        assert_eq!(
            header(arrived, "x-webhook-cron-time"),
            cron["next_run"].as_str().expect("text")
        );
    }
    assert_eq!(ledger(&arrived).len(), 1, "one run, tried twice");

    let path = format!("/v1/logs/{}", header(&arrived[0], "x-webhook-relay-id"));
    let log = eventually(&server, &path, |log| log["status"] == "sent").await;
    assert_eq!((&log["bucket_id"], &log["retries"]), (&cron["bucket"]["id"], &json!(1)));
    let path = format!("/v1/crons/{}", harness::id(&cron));
    let over = server.get(&path).await.expect(200).json();
    assert_eq!((&over["enabled"], over.get("next_run")), (&json!(false), None));

    let rules = format!(
        "/v1/buckets/{}/outputs/{}/rules",
        harness::id(&cron["bucket"]),
        harness::id(&cron["bucket"]["outputs"][0])
    );
    let none = json!({"match": {"type": "value", "value": "no",
        "parameter": {"source": "header", "name": "x-own"}}});
    server.request("PUT", &rules).json(&none).send().await.expect(200);
    let again = json!({ "schedule": "@every 1s", "recurring": false, "destination": sink.base });
    server.request("PUT", &path).json(&again).send().await.expect(200);
    let rejected = format!("/v1/logs?bucket={}&status=rejected", harness::id(&cron["bucket"]));
    eventually(&server, &rejected, |logs| logs["total"] == 1).await;
    assert_eq!(sink.so_far().len(), 2, "the rules stopped it");
}

#[tokio::test]
async fn a_run_happens_once_over_kill_9() {
    let sink = Sink::start().await;
    let mut server = Server::start().await;
    for round in 0..4 {
        every_second(&server, &sink, json!({ "name": round.to_string() })).await;
        sink.received(sink.so_far().len() + 2 * (round + 1)).await;
        server.kill().await;
        server = server.restart().await;
    }
    sink.received(sink.so_far().len() + 8).await;
    assert!(server.terminate().await.success());

    let arrived = sink.so_far();
    let mut runs = BTreeMap::<_, Vec<_>>::new();
    for arrived in &arrived {
        runs.entry(header(arrived, "x-webhook-cron-id")).or_default().push(arrived.clone());
    }
    assert_eq!(runs.len(), 4);
    for arrived in runs.values() {
        // What was in flight is sent again, under the same identifier.
        for (run, deliveries) in ledger(arrived) {
            assert_eq!(deliveries.len(), 1, "{run} was made once: {deliveries:?}");
        }
    }
}

#[tokio::test]
async fn two_servers_on_one_database_run_each_run_once() {
    let Some(schema) = Schema::create("crons").await else { return skipped() };
    let sink = Sink::start().await;
    let key = ("WEBHOOK_SECRET_KEY", "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=");
    let options = [("WEBHOOK_DATABASE_URL", schema.url.as_str()), key, API_KEY];
    let mut first = Server::start_with(&options).await;
    let mut second = Server::start_with(&options).await;
    let cron = every_second(&first, &sink, json!({})).await;
    every_second(&second, &sink, json!({ "name": "tock" })).await;
    sink.received(8).await;
    assert_eq!(second.get("/v1/crons").await.expect(200).json()[0]["id"], cron["id"]);
    // The other one goes on with what the first has begun and not ended.
    first.kill().await;
    let so_far = sink.so_far().len();
    sink.received(so_far + 6).await;
    assert!(second.terminate().await.success());
    let mut runs = BTreeMap::<_, Vec<_>>::new();
    for arrived in sink.so_far() {
        runs.entry(header(&arrived, "x-webhook-cron-id").to_owned()).or_default().push(arrived);
    }
    assert_eq!(runs.len(), 2);
    for arrived in runs.values() {
        for (run, deliveries) in ledger(arrived) {
            assert_eq!(deliveries.len(), 1, "{run} was made once: {deliveries:?}");
        }
    }
    schema.remove().await;
}

const API_KEY: (&str, &str) = ("WEBHOOK_API_KEY", "sk-both-servers-know-this-key");
