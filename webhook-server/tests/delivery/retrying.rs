use std::time::Duration;

use super::*;
use crate::{harness::PATIENCE, sink::Reply};

#[tokio::test]
async fn it_is_tried_until_it_succeeds_with_the_same_id_and_bytes() {
    let sink = Sink::scripted(|number| Reply::Status([503, 429, 200][number.min(2)])).await;
    let server = Server::start().await;
    let bucket = server.bucket("events").await;
    let second = 1_000_000_000_u64;
    let durability = json!({
        "enabled": true, "schedule": "custom", "custom_delays": [second], "deadline": 3600 * second,
    });
    let spec = json!({ "name": "sink", "destination": sink.base, "durability": durability });
    server.output(&bucket, spec).await;
    server.anonymous("POST", &input_path(&bucket)).body("again").send().await.expect(200);
    let arrived = sink.received(3).await;
    assert!(arrived.iter().all(|arrived| arrived.body == "again"));
    let id = |index: usize| arrived[index].head.headers["x-webhook-relay-id"].clone();
    assert!(id(0) == id(1) && id(1) == id(2));
}

#[tokio::test]
async fn a_final_answer_is_not_tried_again() {
    let sink = Sink::scripted(|_| Reply::Status(410)).await;
    let (server, bucket) = relay_to(&sink.base).await;
    server.anonymous("POST", &input_path(&bucket)).body("gone").send().await.expect(200);
    sink.received(1).await;
    // The next one's attempt is behind any other attempt of the first at once.
    server.anonymous("POST", &input_path(&bucket)).body("too").send().await.expect(200);
    let bodies: Vec<_> = sink.received(2).await.into_iter().map(|arrived| arrived.body).collect();
    assert_eq!(bodies, ["gone", "too"]);
    let log = server.log();
    assert!(!log.contains("retry_in_ms"), "{log}");
}

/// An output without a schedule waits a second after its first attempt, and with the default
/// schedule `medium` ten.
#[tokio::test]
async fn the_default_schedule_is_of_the_operator_and_medium_with_dev() {
    let schedule = "WEBHOOK_DEFAULT_SCHEDULE";
    let (dev, medium) = (("WEBHOOK_DEV", "true"), (schedule, "medium"));
    for (options, seconds) in [
        (&[][..], 0.9..6.0),
        (&[medium], 9.0..20.0),
        (&[dev], 9.0..20.0),
        (&[dev, (schedule, "interface")], 0.9..6.0),
    ] {
        let sink = Sink::scripted(|_| Reply::Status(503)).await;
        let server = Server::start_with(options).await;
        let bucket = server.bucket("events").await;
        server.output(&bucket, json!({ "name": "sink", "destination": sink.base })).await;
        server.anonymous("POST", &input_path(&bucket)).body("x").send().await.expect(200);
        sink.received(1).await;
        let attempt = tokio::time::timeout(PATIENCE, async {
            loop {
                let log = server.get("/v1/logs").await.expect(200).json()["data"][0].clone();
                let trace = format!("/v1/logs/{}/trace", id(&log));
                let trace = server.get(&trace).await.expect(200).json();
                if trace["attempts"][0]["next_at"].is_f64() {
                    return trace["attempts"][0].clone();
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        });
        let attempt = attempt.await.expect("the outcome is written");
        let moment = |name: &str| attempt[name].as_f64().expect("a moment");
        // The wait counts from the end of the attempt.
        let took = attempt["total_ms"].as_f64().expect("a duration") / 1e3;
        let wait = moment("next_at") - moment("at") - took;
        assert!(seconds.contains(&wait), "{options:?}: {wait} s, {attempt}");
    }
}
