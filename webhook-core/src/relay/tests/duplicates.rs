//! Webhooks that came before.

use serde_json::json;

use super::*;
use crate::model::{ProcessPolicy, Reason, Resend};

fn input(deduplication: serde_json::Value) -> InputSpec {
    serde_json::from_value(json!({
        "status_code": 202, "body": "thanks", "deduplication": deduplication,
    }))
    .expect("a spec")
}

async fn world(deduplication: serde_json::Value) -> World {
    let options = RelayOptions::default();
    let mut world = World::with(BucketSpec::default(), input(deduplication), options).await;
    world.output_to(HOOK).await;
    world.deliver().await;
    world
}

impl World {
    async fn post_as(&self, id: &str) -> Response<Bytes> {
        let request = http::Request::post(self.address()).header("x-id", id);
        self.send(request, "body").await
    }

    async fn logs_of_answer(&self, answer: &Response<Bytes>) -> Vec<Log> {
        let id = answer.headers()["request-id"].to_str().expect("text").parse().expect("an id");
        let logs = self.stores.deliveries.logs_of(self.bucket.account_id, id).await;
        logs.expect("readable")
    }
}

fn by_header() -> serde_json::Value {
    json!({"window": 10_000_000_000_i64, "key": [{"source": "header", "name": "X-Id"}]})
}

#[tokio::test(start_paused = true)]
async fn a_duplicate_is_answered_as_the_first_and_not_forwarded() {
    let mut world = world(by_header()).await;
    let first = world.post_as("1").await;
    let again = world.post_as("1").await;
    for answer in [&first, &again] {
        assert_eq!((answer.status().as_u16(), &answer.body()[..]), (202, &b"thanks"[..]));
    }
    let other = world.post_as("2").await;
    assert_eq!(other.status(), 202);
    // Who sends no identifier is nobody's duplicate.
    for _ in 0..2 {
        assert_eq!(world.post("body").await.status(), 202);
    }
    world.forwarder.finished(4).await;

    let stored = world.logs_of_answer(&first).await;
    let [stored] = &stored[..] else { panic!("one log") };
    assert_eq!(stored.webhook.checks.duplicates, 1);
    let duplicate = world.logs_of_answer(&again).await;
    let [duplicate] = &duplicate[..] else { panic!("one log") };
    assert_eq!(duplicate.delivery.reason, Some(Reason::Duplicate));
    assert_eq!(duplicate.webhook.checks.duplicate_of, Some(stored.delivery.id));
    let shown = serde_json::to_value(duplicate).expect("JSON");
    assert_eq!(shown["reason"], "duplicate");
    assert_eq!(shown["status"], "rejected");
    assert_eq!(shown["duplicate_of"], stored.delivery.id.to_string());
    world.stop().await;
    assert_eq!(world.forwarder.requests().len(), 4);
}

#[tokio::test(start_paused = true)]
async fn the_window_ends_at_its_moment() {
    let mut world = world(by_header()).await;
    world.post_as("1").await;
    world.forwarder.finished(1).await;
    tokio::time::sleep(Duration::from_millis(9_999)).await;
    world.post_as("1").await;
    tokio::time::sleep(Duration::from_millis(1)).await;
    world.post_as("1").await;
    world.forwarder.finished(2).await;
    world.stop().await;
    assert_eq!(world.forwarder.requests().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_status_is_answered_alone() {
    let mut spec = by_header();
    spec["answer"] = json!(409);
    let mut world = world(spec).await;
    assert_eq!(world.post_as("1").await.status(), 202);
    let again = world.post_as("1").await;
    assert_eq!((again.status().as_u16(), again.body().len()), (409, 0));
    world.forwarder.finished(1).await;
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn content_is_what_counts_without_a_key() {
    let mut world = world(json!({"exclude": ["payload.sent_at"]})).await;
    for body in [r#"{"a":1,"sent_at":1}"#, r#"{"a":1,"sent_at":2}"#, r#"{"a":2,"sent_at":2}"#] {
        assert_eq!(world.post(body).await.status(), 202);
    }
    world.forwarder.finished(2).await;
    world.stop().await;
    assert_eq!(world.forwarder.requests().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn what_is_sent_again_on_purpose_is_no_duplicate() {
    let mut world = world(by_header()).await;
    world.post_as("1").await;
    world.forwarder.finished(1).await;
    let log = world.outcome_of_request(0).await;
    for policy in [ProcessPolicy::Skip, ProcessPolicy::Force] {
        let resend = Resend { policy, log: log.delivery.id, output: None };
        world.relay.resend(world.bucket.account_id, resend).await.expect("sent again");
    }
    world.forwarder.finished(3).await;
    world.stop().await;
    assert_eq!(world.forwarder.requests().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_disabled_one_asks_nothing() {
    let mut spec = by_header();
    spec["enabled"] = json!(false);
    let mut world = world(spec).await;
    for _ in 0..2 {
        world.post_as("1").await;
    }
    world.forwarder.finished(2).await;
    world.stop().await;
}
