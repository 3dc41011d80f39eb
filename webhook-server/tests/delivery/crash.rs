//! `kill -9` with a ledger: every acknowledged webhook arrives.

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use tokio::sync::watch;

use super::*;
use crate::sink::Reply;

/// How many webhooks are acknowledged before the server is killed.
const BEFORE_KILL: usize = 800;

/// Waits until the server has acknowledged `enough` webhooks.
async fn acknowledged(count: &watch::Sender<usize>, enough: usize) {
    let mut count = count.subscribe();
    let waited = tokio::time::timeout(harness::PATIENCE, count.wait_for(|it| *it >= enough)).await;
    assert!(waited.is_ok(), "fewer than {enough} were acknowledged");
}

/// Sends webhooks from `senders` tasks, kills the server while they send, and returns the bodies
/// that were acknowledged.
async fn send_until_killed(server: &mut Server, path: &str, senders: usize) -> Vec<String> {
    let mut sending = tokio::task::JoinSet::new();
    let count = watch::Sender::new(0);
    for sender in 0..senders {
        let (client, url) = (harness::Client::default(), format!("{}{path}", server.base));
        let count = count.clone();
        sending.spawn(async move {
            let mut acknowledged = Vec::new();
            for number in 0..100_000 {
                let body = format!("{sender}-{number}");
                let request = client.request("POST", &url).body(body.clone());
                match request.try_send().await {
                    Ok(answer) if answer.status == 200 => {
                        acknowledged.push(body);
                        count.send_modify(|count| *count += 1);
                    }
                    Ok(answer) => assert_eq!(answer.status, 503, "{}", answer.text()),
                    Err(_) => return acknowledged,
                }
            }
            acknowledged
        });
    }
    acknowledged(&count, BEFORE_KILL).await;
    server.kill().await;
    sending.join_all().await.into_iter().flatten().collect()
}

#[tokio::test]
async fn every_acknowledged_webhook_arrives_after_kill_9() {
    // Some fail at first, so that retries are under way as well.
    let sink =
        Sink::scripted(|number| Reply::Status(if number % 5 == 0 { 503 } else { 200 })).await;
    let (mut server, bucket) = relay_to(&sink.base).await;
    let mut ledger = HashSet::new();
    for _ in 0..3 {
        ledger.extend(send_until_killed(&mut server, &input_path(&bucket), 16).await);
        server = server.restart().await;
        // Whatever the next round sends must not be mistaken for this one's.
        let missing = wait_for(&sink, &ledger).await;
        assert!(missing.is_empty(), "{} acknowledged and lost: {missing:?}", missing.len());
        sink.forget();
        ledger.clear();
    }
}

/// Waits until all of the ledger has arrived; returns what has not.
async fn wait_for(sink: &Sink, ledger: &HashSet<String>) -> Vec<String> {
    assert!(ledger.len() > 20, "{} acknowledged before the kill", ledger.len());
    let mut missing = Vec::new();
    for _ in 0..600 {
        let arrived: HashMap<_, usize> =
            sink.so_far().into_iter().fold(HashMap::new(), |mut counts, arrived| {
                *counts.entry(String::from_utf8_lossy(&arrived.body).into_owned()).or_default() +=
                    1;
                counts
            });
        missing = ledger.iter().filter(|body| !arrived.contains_key(*body)).cloned().collect();
        if missing.is_empty() {
            // Only what was in flight or failed at first came more than once.
            let repeated = arrived.values().filter(|count| **count > 1).count();
            assert!(repeated < arrived.len() / 2, "{repeated} of {} repeated", arrived.len());
            return missing;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    missing
}

#[tokio::test]
async fn a_retry_that_waits_survives_kill_9() {
    let sink = Sink::scripted(|number| Reply::Status(if number == 0 { 503 } else { 200 })).await;
    let (mut server, bucket) = relay_to(&sink.base).await;
    server.anonymous("POST", &input_path(&bucket)).body("patient").send().await.expect(200);
    let first = sink.received(1).await.remove(0);
    server.kill().await;
    let _server = server.restart().await;
    let second = sink.received(2).await.remove(1);
    assert_eq!(second.body, "patient");
    let id = "x-webhook-relay-id";
    assert_eq!(first.head.headers[id], second.head.headers[id]);
}

#[tokio::test]
async fn an_orderly_stop_finishes_what_is_in_flight() {
    let sink = Sink::scripted(|_| Reply::Hang(Duration::from_secs(1))).await;
    let (mut server, bucket) = relay_to(&sink.base).await;
    server.anonymous("POST", &input_path(&bucket)).body("slow").send().await.expect(200);
    sink.received(1).await;
    assert!(server.terminate().await.success());
    let log = server.log();
    assert!(log.contains("outcome=\"sent\""), "{log}");
    let _server = server.restart().await;
    assert_eq!(sink.so_far().len(), 1, "it is not sent again");
}

/// Each webhook is sent until it is acknowledged and then once more, while the server is
/// killed: it arrives, and with the same log each time it does.
#[tokio::test]
async fn twins_are_delivered_once_through_kill_9() {
    let sink = Sink::scripted(|_| Reply::Status(200)).await;
    let (mut server, bucket) = relay_to(&sink.base).await;
    let input = harness::default_input(&bucket);
    let path = format!("/v1/buckets/{}/inputs/{input}", harness::id(&bucket));
    let key = serde_json::json!([{"source": "header", "name": "X-Id"}]);
    let spec = serde_json::json!({"deduplication": {"key": key}});
    server.request("PUT", &path).json(&spec).send().await.expect(200);
    let mut acknowledged = 0;
    for round in 0..3 {
        let mut sending = tokio::task::JoinSet::new();
        let count = watch::Sender::new(0);
        for number in 0..200 {
            let url = format!("{}{}", server.base, input_path(&bucket));
            let count = count.clone();
            sending.spawn(async move {
                let client = harness::Client::default();
                let id = format!("{round}-{number}");
                let request = client.request("POST", &url).header("x-id", &id).body(id.clone());
                let answered = request.try_send().await;
                if answered.is_ok_and(|answer| answer.status == 200) {
                    count.send_modify(|count| *count += 1);
                }
            });
        }
        self::acknowledged(&count, 20).await;
        server.kill().await;
        sending.join_all().await;
        server = server.restart().await;
        // Nobody knows which were stored: all are sent again, twice.
        for _ in 0..2 {
            for number in 0..200 {
                let id = format!("{round}-{number}");
                let request = server.anonymous("POST", &input_path(&bucket)).header("x-id", &id);
                request.body(id).send().await.expect(200);
                acknowledged += 1;
            }
        }
    }
    assert_eq!(acknowledged, 1_200);
    let wanted: HashSet<_> =
        (0..3).flat_map(|round| (0..200).map(move |n| format!("{round}-{n}"))).collect();
    let missing = wait_for(&sink, &wanted).await;
    assert!(missing.is_empty(), "{} lost: {missing:?}", missing.len());
    let mut logs = HashMap::<String, HashSet<String>>::new();
    for arrived in sink.so_far() {
        let log = arrived.head.headers["x-webhook-relay-id"].to_str().expect("text").to_owned();
        let body = String::from_utf8_lossy(&arrived.body).into_owned();
        logs.entry(body).or_default().insert(log);
    }
    let twice: Vec<_> = logs.iter().filter(|(_, logs)| logs.len() > 1).collect();
    assert!(twice.is_empty(), "delivered under two logs: {twice:?}");
}
