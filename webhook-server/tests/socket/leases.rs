//! Clients that share the webhooks of an output, each for the time of a lease.

use std::{collections::HashSet, time::Duration};

use tokio::time::timeout;

use super::{client::Client, *};
use crate::harness::id;

const SECOND: i64 = 1_000_000_000;

/// A client that leases from the output of the bucket.
async fn leasing(server: &Server, lease: i64, limit: i64) -> Client {
    let mut client = Client::authenticated(server).await;
    client.send(wish(lease, limit)).await;
    client.expect_status("subscribed").await;
    client
}

fn wish(lease: i64, limit: i64) -> Value {
    json!({"action": "subscribe", "buckets": ["events"], "outputs": ["agent"], "lease": lease,
        "limit": limit})
}

/// Fails when anything comes soon.
async fn gets_nothing(client: &mut Client) {
    let frame = timeout(Duration::from_millis(500), client.frame()).await;
    assert!(frame.is_err(), "{frame:?}");
}

#[tokio::test]
async fn each_webhook_goes_to_one_client_that_has_room() {
    let (server, bucket) = relay_to_clients().await;
    post(&server, &bucket, "0").await;
    let mut one = leasing(&server, 3_600 * SECOND, 2).await;
    let mut mine = one.bodies(1).await;
    let mut other = leasing(&server, 3_600 * SECOND, 3).await;
    // One that leases nothing gets what comes, as ever, and what nobody has.
    let mut listener = Client::subscribed(&server, json!(["events"])).await;
    for body in ["1", "2", "3", "4", "5"] {
        post(&server, &bucket, body).await;
    }
    mine.extend(one.bodies(1).await);
    let theirs = other.bodies(3).await;
    let all: HashSet<_> = mine.iter().chain(&theirs).cloned().collect();
    assert_eq!((all.len(), mine[0].as_str()), (5, "0"), "{mine:?} {theirs:?}");
    gets_nothing(&mut one).await;
    gets_nothing(&mut other).await;
    let mut heard = listener.bodies(5).await;
    heard.sort_unstable();
    assert_eq!(heard, ["1", "2", "3", "4", "5"]);
    gets_nothing(&mut listener).await;

    // The sixth waits until somebody has room again, and its lease is in the log.
    one.send(json!({"action": "more", "count": 1})).await;
    let frame = one.webhook().await;
    assert!(!all.contains(frame["body"].as_str().expect("text")), "{frame}");
    let log = format!("/v1/logs/{}", frame["meta"]["id"].as_str().expect("an ID"));
    let kept = server.get(&log).await.expect(200).json();
    assert_eq!(kept["leased_until"], frame["meta"]["leased_until"]);
    assert_eq!(kept["status"], "received");
    let pulled = server.get("/v1/events").await.expect(200).json();
    assert_eq!(pulled["logs"], json!([]), "what is leased is not handed out");
    let report = json!({"status": "sent", "status_code": 200});
    server.request("PUT", &log).json(&report).send().await.expect(200);
    assert_eq!(server.get(&log).await.expect(200).json().get("leased_until"), None);
}

#[tokio::test]
async fn what_a_silent_client_had_comes_again_when_its_lease_is_over_unless_it_is_kept() {
    let (server, bucket) = relay_to_clients().await;
    let mut silent = leasing(&server, 2 * SECOND, 2).await;
    let mut other = leasing(&server, 60 * SECOND, 0).await;
    post(&server, &bucket, "lost").await;
    post(&server, &bucket, "kept").await;
    let frames = [silent.webhook().await, silent.webhook().await];
    other.send(wish(4 * SECOND, 9)).await;
    other.expect_status("subscribed").await;
    let kept = frames.iter().find(|frame| frame["body"] == "kept").expect("it came");
    let keep = json!({"ids": [kept["meta"]["id"]], "status": "preparing", "lease": 3_600 * SECOND});
    server.request("POST", "/v1/events/ack").json(&keep).send().await.expect(200);
    // The connection's end is not the lease's: the client may be working on it still.
    drop(silent);
    let again = other.webhook().await;
    assert_eq!(again["body"], "lost");
    let lost = frames.iter().find(|frame| frame["body"] == "lost").expect("it came");
    let until = |frame: &Value| frame["meta"]["leased_until"].as_i64().expect("one");
    assert!(until(&again) >= until(lost) + 3, "too early: {again} after {lost}");
    assert_eq!(again["headers"]["X-Webhook-Relay-Id"], json!([again["meta"]["id"]]));
    let report = json!({"ids": [again["meta"]["id"]]});
    server.request("POST", "/v1/events/ack").json(&report).send().await.expect(200);
    gets_nothing(&mut other).await;
}

#[tokio::test]
async fn what_was_missed_is_limited_as_the_output_says() {
    let (server, bucket) = relay_to_clients().await;
    let bucket = server.get(&format!("/v1/buckets/{}", id(&bucket))).await.expect(200).json();
    let mut output = bucket["outputs"][0].clone();
    output["replay_missing"] = json!({"enabled": true, "limit": 2});
    let path = format!("/v1/buckets/{}/outputs/{}", id(&bucket), id(&output));
    server.request("PUT", &path).json(&output).send().await.expect(200);
    for body in ["1", "2", "3", "4"] {
        post(&server, &bucket, body).await;
    }
    let mut client = leasing(&server, 60 * SECOND, 100).await;
    assert_eq!(client.bodies(2).await, ["1", "2"]);
    gets_nothing(&mut client).await;
    // What comes while it is there is not limited.
    post(&server, &bucket, "5").await;
    assert_eq!(client.bodies(1).await, ["5"]);
    let mut next = leasing(&server, 60 * SECOND, 100).await;
    assert_eq!(next.bodies(2).await, ["3", "4"]);
}

#[tokio::test]
async fn wrong_wishes_are_refused_by_name_and_change_nothing() {
    let (server, bucket) = relay_to_clients().await;
    let mut client = leasing(&server, 60 * SECOND, 1).await;
    let named = |lease: Value, limit: Value| json!({"action": "subscribe", "outputs": ["agent"], "lease": lease, "limit": limit});
    for (frame, said) in [
        (named(json!(SECOND - 1), Value::Null), "lease: "),
        (named(json!(43_201 * SECOND), Value::Null), "lease: "),
        (named(json!(-1), Value::Null), "lease: "),
        (named(json!(60 * SECOND), json!(-1)), "limit: "),
        (named(json!(60 * SECOND), json!(1_001)), "limit: "),
        (named(Value::Null, json!(5)), "limit: "),
        (json!({"action": "subscribe", "lease": 60 * SECOND}), "lease: "),
        (json!({"action": "more", "count": -1}), "count: "),
        (json!({"action": "more", "count": 1_001}), "count: "),
    ] {
        client.send(frame.clone()).await;
        let message = client.expect_status("error").await;
        assert!(message.starts_with(said), "{frame}: {message}");
    }
    post(&server, &bucket, "1").await;
    post(&server, &bucket, "2").await;
    assert_eq!(client.bodies(1).await, ["1"]);
    gets_nothing(&mut client).await;
    client.send(json!({"action": "subscribe", "buckets": ["events"]})).await;
    client.expect_status("subscribed").await;
    assert_eq!(client.bodies(1).await, ["2"]);
    client.send(json!({"action": "more"})).await;
    assert!(client.expect_status("error").await.starts_with("more: "));
}
