//! `/v1/events`

use std::{collections::HashMap, sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::{sync::watch, task::JoinSet};

use super::{
    NOBODY,
    harness::{Client, Server, default_input, id},
    send, token,
};

async fn take(server: &Server, query: &str) -> Value {
    server.get(&format!("/v1/events?{query}")).await.expect(200).json()
}

fn bodies(events: &Value) -> Vec<&str> {
    let logs = events["logs"].as_array().expect("logs");
    logs.iter().map(|log| log["body"].as_str().expect("text")).collect()
}

#[tokio::test]
async fn webhooks_are_handed_out_once_oldest_first() {
    let server = Server::start().await;
    let bucket = server.bucket("b").await;
    for body in ["1", "2", "3"] {
        send(&server, &bucket, body).await;
    }
    let first = take(&server, "bucket=b&limit=2").await;
    let mut fields: Vec<_> = first.as_object().expect("an object").keys().cloned().collect();
    fields.sort();
    assert_eq!(fields, ["has_more", "logs", "next_cursor"]);
    assert_eq!((bodies(&first), &first["has_more"]), (vec!["1", "2"], &json!(true)));
    assert_eq!(first["logs"][0]["status"], "sent");
    let cursor = first["next_cursor"].as_str().expect("text");
    let path = format!("bucket={}&limit=100&max_age=1h&cursor={cursor}", id(&bucket));
    let second = take(&server, &path).await;
    assert_eq!((bodies(&second), &second["has_more"]), (vec!["3"], &json!(false)));
    assert_eq!(bodies(&take(&server, "").await), [] as [&str; 0]);
    let logs = server.get("/v1/logs?status=sent").await.expect(200).json();
    assert_eq!(logs["total"], 3);
}

#[tokio::test]
async fn internal_outputs_are_drained_and_public_ones_are_not() {
    let server = Server::start().await;
    let bucket = server.bucket("b").await;
    let one = server.output(&bucket, json!({"name": "one", "internal": true})).await;
    let two = server.output(&bucket, json!({"name": "two", "internal": true})).await;
    let public = json!({"name": "public", "destination": "http://127.0.0.1:9"});
    let public = server.output(&bucket, public).await;
    send(&server, &bucket, "x").await;
    for (output, expected) in [(&one, &["x"][..]), (&one, &[]), (&two, &["x"]), (&public, &[])] {
        let events = take(&server, &format!("bucket=b&output={}", id(output))).await;
        assert_eq!(bodies(&events), expected);
    }
    assert_eq!(bodies(&take(&server, "").await), [] as [&str; 0]);
}

#[tokio::test]
async fn ephemeral_content_is_handed_out_and_gone() {
    let server = Server::start().await;
    let spec = json!({"name": "b", "ephemeral": true});
    let bucket = server.request("POST", "/v1/buckets").json(&spec).send().await.expect(201).json();
    send(&server, &bucket, "secret").await;
    let events = take(&server, "").await;
    assert_eq!(bodies(&events), ["secret"]);
    let log = server.get(&format!("/v1/logs/{}", id(&events["logs"][0]))).await.expect(200).json();
    assert_eq!((&log["body"], &log["status"]), (&json!(""), &json!("sent")));
}

#[tokio::test]
async fn the_first_report_on_what_was_pulled_counts() {
    let server = Server::start().await;
    let bucket = server.bucket("b").await;
    for (first, second, status, code) in [
        (json!({"status_code": 500}), json!({"status_code": 200}), "failed", 500),
        (json!({"status_code": 201}), json!({"status_code": 500}), "sent", 201),
    ] {
        send(&server, &bucket, "x").await;
        let events = take(&server, "").await;
        let path = format!("/v1/logs/{}", id(&events["logs"][0]));
        for report in [json!({"status": "preparing"}), first, second] {
            server.request("PUT", &path).json(&report).send().await.expect(200);
        }
        let log = server.get(&path).await.expect(200).json();
        assert_eq!((&log["status"], &log["status_code"]), (&json!(status), &json!(code)));
        assert_eq!(bodies(&take(&server, "").await), [] as [&str; 0]);
    }
    let histogram = server.get("/v1/logs/histogram").await.expect(200).json();
    let minutes = histogram["buckets"].as_array().expect("minutes");
    let count = |status: &str| -> u64 {
        minutes.iter().filter_map(|minute| minute["counts"][status].as_u64()).sum()
    };
    assert_eq!((count("failed"), count("sent"), count("received")), (1, 1, 0), "{histogram}");
}

#[tokio::test]
async fn bad_queries_are_refused_by_name() {
    let server = Server::start().await;
    let bucket = server.bucket("b").await;
    send(&server, &bucket, "x").await;
    for (query, said) in [
        ("limit=0", "limit: "),
        ("limit=101", "limit: "),
        ("max_age=24", "max_age: "),
        ("max_age=-1h", "max_age: "),
        ("cursor=x", "cursor: "),
        ("output=x", "output: "),
    ] {
        server.get(&format!("/v1/events?{query}")).await.expect_error(400, said);
    }
    for bucket in ["nobody", NOBODY] {
        let path = format!("/v1/events?bucket={bucket}");
        server.get(&path).await.expect_error(404, "bucket: ");
    }
    assert_eq!(bodies(&take(&server, "").await), ["x"], "nothing was taken by a refusal");
}

#[tokio::test]
async fn a_bucket_whose_stream_is_off_hands_out_nothing() {
    let server = Server::start().await;
    let spec = json!({"name": "quiet", "stream": false});
    let quiet = server.request("POST", "/v1/buckets").json(&spec).send().await.expect(201).json();
    let open = server.bucket("open").await;
    send(&server, &quiet, "quiet").await;
    send(&server, &open, "open").await;
    server.get("/v1/events?bucket=quiet").await.expect_error(403, "stream");
    assert_eq!(bodies(&take(&server, "").await), ["open"]);
    assert_eq!(bodies(&take(&server, "").await), [] as [&str; 0]);
}

#[tokio::test]
async fn a_scoped_token_takes_from_its_buckets_only() {
    let server = Server::start().await;
    let (mine, other) = (server.bucket("mine").await, server.bucket("other").await);
    send(&server, &mine, "mine").await;
    send(&server, &other, "other").await;
    let spec = json!({"scopes": {"buckets": ["mine"]}, "api_access": "disabled"});
    let credential = token(&server, spec).await;
    let ask = |query: &str| {
        let path = format!("/v1/events?{query}");
        server.anonymous("GET", &path).header("authorization", &credential)
    };
    ask("bucket=other").send().await.expect_error(403, "scope");
    assert_eq!(bodies(&ask("").send().await.expect(200).json()), ["mine"]);
    assert_eq!(bodies(&take(&server, "").await), ["other"]);
    let nothing = token(&server, json!({"scopes": {"buckets": ["later"]}})).await;
    let request = server.anonymous("GET", "/v1/events").header("authorization", &nothing);
    assert_eq!(bodies(&request.send().await.expect(200).json()), [] as [&str; 0]);
}

const WEBHOOKS: usize = 10_000;
const BEFORE_RESTART: usize = 7_000;
const CONSUMERS: usize = 10;
const SENDERS: usize = 32;

/// What a consumer got: the webhooks' bodies.
async fn consume(
    base: watch::Receiver<String>,
    key: String,
    taken: Arc<watch::Sender<usize>>,
) -> Vec<String> {
    let client = Client::default();
    let mut got = Vec::new();
    while *taken.borrow() < WEBHOOKS {
        let url = format!("{}/v1/events?bucket=b&limit=20", *base.borrow());
        let request = client.request("GET", &url).header("authorization", &format!("Bearer {key}"));
        let Ok(answer) = request.try_send().await else {
            // The server is being restarted.
            tokio::time::sleep(Duration::from_millis(20)).await;
            continue;
        };
        if answer.status == 503 {
            tokio::time::sleep(Duration::from_millis(20)).await;
            continue;
        }
        let events = answer.expect(200).json();
        let bodies = bodies(&events);
        taken.send_modify(|taken| *taken += bodies.len());
        if bodies.is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        got.extend(bodies.into_iter().map(str::to_owned));
    }
    got
}

/// Sends the webhooks of these numbers.
async fn send_all(server: &Server, bucket: &Value, numbers: std::ops::Range<usize>) {
    let url = format!("{}/v1/webhooks/{}", server.base, default_input(bucket));
    let mut sending = JoinSet::new();
    for sender in 0..SENDERS {
        let (client, url, numbers) = (Client::default(), url.clone(), numbers.clone());
        sending.spawn(async move {
            for number in numbers.skip(sender).step_by(SENDERS) {
                client.request("POST", &url).body(number.to_string()).send().await.expect(200);
            }
        });
    }
    sending.join_all().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_consumers_lose_nothing_and_take_nothing_twice() {
    let mut server = Server::start_with(&[("WEBHOOK_LOG", "info")]).await;
    let bucket = server.bucket("b").await;
    send_all(&server, &bucket, 0..BEFORE_RESTART).await;
    let (new_base, base) = watch::channel(server.base.clone());
    let (taken, mut progress) = watch::channel(0);
    let taken = Arc::new(taken);
    let mut consuming = JoinSet::new();
    for _ in 0..CONSUMERS {
        consuming.spawn(consume(base.clone(), server.key.clone(), Arc::clone(&taken)));
    }
    progress.wait_for(|taken| *taken > 1_000).await.expect("consumers are there");
    assert!(server.terminate().await.success());
    let so_far = *progress.borrow();
    assert!(so_far < BEFORE_RESTART, "the restart came in the middle, not after {so_far}");
    server = server.restart().await;
    new_base.send_replace(server.base.clone());
    // The others come while they are taken.
    send_all(&server, &bucket, BEFORE_RESTART..WEBHOOKS).await;

    let got: Vec<String> = consuming.join_all().await.into_iter().flatten().collect();
    let mut ledger: HashMap<usize, usize> = HashMap::new();
    for body in &got {
        *ledger.entry(body.parse().expect("a number")).or_default() += 1;
    }
    let twice: Vec<_> = ledger.iter().filter(|(_, times)| **times > 1).collect();
    assert!(twice.is_empty(), "taken more than once: {twice:?}");
    assert_eq!(ledger.len(), WEBHOOKS, "lost");
    assert_eq!(bodies(&take(&server, "").await), [] as [&str; 0]);
}
