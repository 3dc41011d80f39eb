//! `/v1/events` with `ack=manual`, and `/v1/events/ack`

use std::time::Duration;

use serde_json::{Value, json};

use super::{
    NOBODY,
    harness::{Answer, Server, id},
    send, token,
};

async fn take(server: &Server, query: &str) -> Vec<Value> {
    let events = server.get(&format!("/v1/events?{query}")).await.expect(200).json();
    events["logs"].as_array().expect("logs").clone()
}

fn bodies(logs: &[Value]) -> Vec<&str> {
    logs.iter().map(|log| log["body"].as_str().expect("text")).collect()
}

async fn acknowledge(server: &Server, body: Value) -> Answer {
    server.request("POST", "/v1/events/ack").json(&body).send().await
}

/// Those of the logs that an acknowledgement counted for.
async fn acknowledged(server: &Server, body: Value) -> Vec<String> {
    let answer = acknowledge(server, body).await.expect(200).json();
    serde_json::from_value(answer["taken"].clone()).expect("a list")
}

#[tokio::test]
async fn a_leased_page_is_settled_given_back_or_kept() {
    let server = Server::start().await;
    let bucket = server.bucket("b").await;
    for body in ["1", "2", "3", "4"] {
        send(&server, &bucket, body).await;
    }
    let page = take(&server, "ack=manual&lease=1h").await;
    assert_eq!(bodies(&page), ["1", "2", "3", "4"]);
    let now = page[0]["updated_at"].as_i64().expect("a moment");
    assert_eq!(page[0]["status"], "received");
    assert!((3_599..=3_601).contains(&(page[0]["leased_until"].as_i64().expect("one") - now)));
    for query in ["", "ack=auto", "ack=manual"] {
        assert_eq!(bodies(&take(&server, query).await), [] as [&str; 0], "{query}");
    }
    let [one, two, three, four] = [0, 1, 2, 3].map(|at| id(&page[at]).to_owned());

    // What is not there, or is named twice, changes nothing.
    let ids = json!({"ids": [one, one, NOBODY]});
    assert_eq!(acknowledged(&server, ids.clone()).await, [one.as_str()]);
    assert_eq!(acknowledged(&server, ids).await, [] as [String; 0], "a second one does not count");
    let report = json!({"status": "failed", "status_code": 500});
    let log = server.request("PUT", &format!("/v1/logs/{two}")).json(&report).send().await;
    assert_eq!(log.expect(200).json()["status"], "failed");
    let kept = json!({"ids": [three], "status": "preparing", "lease": 7_200_000_000_000_i64});
    assert_eq!(acknowledged(&server, kept).await, [three.as_str()]);
    let log = server.get(&format!("/v1/logs/{three}")).await.expect(200).json();
    assert!(log["leased_until"].as_i64().expect("one") >= now + 7_199);
    assert_eq!(take(&server, "").await.len(), 0);
    assert_eq!(acknowledged(&server, json!({"ids": [four], "status": "received"})).await, [four]);
    assert_eq!(bodies(&take(&server, "ack=manual").await), ["4"]);

    for (log, status, is_leased) in
        [(one, "sent", false), (two, "failed", false), (three, "received", true)]
    {
        let log = server.get(&format!("/v1/logs/{log}")).await.expect(200).json();
        assert_eq!(
            (&log["status"], log.get("leased_until").is_some()),
            (&json!(status), is_leased)
        );
    }
}

/// The consumer dies, and so does the server: what was leased comes again when the lease is
/// over, and not before.
#[tokio::test]
async fn a_lease_ends_also_after_a_restart() {
    let mut server = Server::start().await;
    let bucket = server.bucket("b").await;
    for body in ["1", "2", "3"] {
        send(&server, &bucket, body).await;
    }
    let leased = take(&server, "ack=manual&lease=4s&limit=2").await;
    assert_eq!(bodies(&leased), ["1", "2"]);
    acknowledged(&server, json!({"ids": [id(&leased[0])]})).await;
    server.kill().await;
    server = server.restart().await;
    let (mut got, since) = (Vec::new(), std::time::Instant::now());
    while got.len() < 2 {
        got.extend(take(&server, "ack=manual&lease=1h").await);
        assert!(since.elapsed() < Duration::from_secs(60), "{got:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(bodies(&got), ["3", "2"]);
    let until = |log: &Value| log["leased_until"].as_i64().expect("one");
    assert!(got[1]["updated_at"].as_i64().expect("a moment") >= until(&leased[1]), "too early");
}

#[tokio::test]
async fn bad_leases_are_refused_by_name() {
    let server = Server::start().await;
    let bucket = server.bucket("b").await;
    send(&server, &bucket, "x").await;
    for (query, said) in [
        ("ack=none", "ack: "),
        ("lease=60s", "lease: "),
        ("ack=auto&lease=60s", "lease: "),
        ("ack=manual&lease=soon", "lease: "),
        ("ack=manual&lease=0s", "lease: "),
        ("ack=manual&lease=999ms", "lease: "),
        ("ack=manual&lease=12h1s", "lease: "),
        ("ack=manual&lease=-1s", "lease: "),
    ] {
        server.get(&format!("/v1/events?{query}")).await.expect_error(400, said);
    }
    let log = take(&server, "ack=manual&lease=1h").await.remove(0);
    let log = id(&log);
    let many = vec![NOBODY; 101];
    for (body, said) in [
        (json!({}), "ids: "),
        (json!({"ids": []}), "ids: "),
        (json!({"ids": many}), "ids: "),
        (json!({"ids": ["x"]}), "ids"),
        (json!({"ids": log}), "ids"),
        (json!({"ids": [log], "status": "done"}), "status"),
        (json!({"ids": [log], "lease": 60_000_000_000_i64}), "lease: "),
        (json!({"ids": [log], "status": "received", "lease": 60_000_000_000_i64}), "lease: "),
        (json!({"ids": [log], "status": "preparing", "lease": 1}), "lease: "),
        (json!({"ids": [log], "status": "preparing", "lease": "60s"}), "lease"),
        (json!({"ids": [log], "status": "preparing", "lease": -1}), "lease"),
    ] {
        acknowledge(&server, body).await.expect_error(400, said);
    }
    let kept = server.get(&format!("/v1/logs/{log}")).await.expect(200).json();
    assert_eq!(kept["status"], "received");
    assert_eq!(take(&server, "").await.len(), 0, "it is still leased");
}

#[tokio::test]
async fn a_scoped_token_settles_in_its_buckets_only() {
    let server = Server::start().await;
    let (mine, other) = (server.bucket("mine").await, server.bucket("other").await);
    send(&server, &mine, "mine").await;
    send(&server, &other, "other").await;
    let spec = json!({"scopes": {"buckets": ["mine"]}, "api_access": "disabled"});
    let credential = token(&server, spec).await;
    let logs = take(&server, "ack=manual").await;
    let ask = async |ids: Value| {
        let request = server.anonymous("POST", "/v1/events/ack");
        request.header("authorization", &credential).json(&json!({"ids": ids})).send().await
    };
    let [mine, other] = [0, 1].map(|at| id(&logs[at]).to_owned());
    ask(json!([mine, other])).await.expect_error(403, "scope");
    for log in [&mine, &other] {
        let log = server.get(&format!("/v1/logs/{log}")).await.expect(200).json();
        assert_eq!(log["status"], "received", "nothing was reported");
    }
    let answer = ask(json!([mine, NOBODY])).await.expect(200).json();
    assert_eq!(answer["taken"], json!([mine]));
}
