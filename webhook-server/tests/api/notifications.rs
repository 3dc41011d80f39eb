//! `/v1/notifications`

use serde_json::{Value, json};

use super::{
    NOBODY,
    harness::{Server, id},
    token,
};

const PATH: &str = "/v1/notifications";

async fn events(server: &Server, bucket: &Value) -> Vec<Value> {
    let logs = server.get(&format!("/v1/logs?bucket={}", id(bucket))).await.expect(200).json();
    let logs = logs["data"].as_array().expect("logs");
    let event = |log: &Value| serde_json::from_str(log["body"].as_str().expect("text"));
    logs.iter().rev().map(|log| event(log).expect("JSON")).collect()
}

#[tokio::test]
async fn a_notification_is_made_read_changed_tested_and_deleted() {
    let server = Server::start().await;
    let (ops, orders) = (server.bucket("ops").await, server.bucket("orders").await);
    let body = json!({"events": ["output.failing", "delivery.failed"], "to_bucket": "ops"});
    let made = server.request("POST", PATH).json(&body).send().await.expect(201).json();
    assert_eq!(made["to_bucket"], ops["id"]);
    assert_eq!((&made["buckets"], &made["disabled"]), (&json!([]), &json!(false)));
    assert_eq!(made["min_interval"], 900_000_000_000_i64);
    assert_eq!(made["queue_deep_at"], 1_000);
    assert!(made.get("last_sent_at").is_none(), "{made}");
    assert_eq!(server.get(PATH).await.expect(200).json(), json!([made]));
    let path = format!("{PATH}/{}", id(&made));
    assert_eq!(server.get(&path).await.expect(200).json(), made);

    // What was answered is taken back as it is.
    let mut changed = made.clone();
    changed["buckets"] = json!(["orders", id(&orders)]);
    changed["min_interval"] = json!(60_000_000_000_i64);
    let put = server.request("PUT", &path).json(&changed).send().await.expect(200).json();
    assert_eq!(put["buckets"], json!([id(&orders)]));
    assert_eq!(put["created_at"], made["created_at"]);

    let tested = server.request("POST", &format!("{path}/test")).send().await.expect(200).json();
    assert_eq!(tested["status"], "sent");
    let told = events(&server, &ops).await;
    assert_eq!((told.len(), &told[0]["id"]), (1, &tested["id"]));
    assert_eq!(told[0]["type"], "notification.test");
    let read = server.get(&path).await.expect(200).json();
    assert!(read["last_sent_at"].as_i64() >= made["created_at"].as_i64(), "{read}");

    server.request("DELETE", &path).send().await.expect(204);
    server.get(&path).await.expect_error(404, "notification not found");
    server.request("DELETE", &path).send().await.expect_error(404, "notification not found");
    let test = server.request("POST", &format!("{PATH}/{NOBODY}/test")).send().await;
    test.expect_error(404, "notification not found");
}

#[tokio::test]
async fn what_is_wrong_is_named_and_changes_nothing() {
    let server = Server::start().await;
    server.bucket("ops").await;
    let right = json!({"events": ["output.paused"], "to_bucket": "ops"});
    let made = server.request("POST", PATH).json(&right).send().await.expect(201).json();
    let path = format!("{PATH}/{}", id(&made));
    for (field, value, refusal) in [
        ("events", json!([]), "events: must have at least one"),
        ("events", json!("output.paused"), "events"),
        ("events", json!(["output.exploded"]), "output.exploded"),
        ("events", json!(["replay.begun"]), "replay.begun"),
        ("to_bucket", json!(""), "to_bucket: must not be empty"),
        ("to_bucket", json!("nowhere"), "to_bucket: is no bucket of the account"),
        ("to_bucket", json!(7), "to_bucket"),
        ("buckets", json!(["ops", NOBODY]), "buckets[1]: is no bucket of the account"),
        ("buckets", json!(vec!["ops"; 101]), "buckets: at most 100 are possible, not 101"),
        ("disabled", json!("no"), "disabled"),
        ("min_interval", json!(999_999_999), "min_interval: must be from 1s to 1d (1000000000 to"),
        ("min_interval", json!(86_400_000_000_001_i64), "min_interval: must be from"),
        ("min_interval", json!(-1), "min_interval"),
        ("min_interval", json!("15m"), "min_interval"),
        ("queue_deep_at", json!(0), "queue_deep_at: must be from 1 to 1000000"),
        ("queue_deep_at", json!(1_000_001), "queue_deep_at: must be from 1 to 1000000"),
        ("queue_deep_at", json!("many"), "queue_deep_at"),
    ] {
        let mut wrong = right.clone();
        wrong[field] = value;
        for (method, path) in [("POST", PATH), ("PUT", &path)] {
            let answer = server.request(method, path).json(&wrong).send().await;
            let text = answer.text().to_owned();
            assert_eq!(answer.status.as_u16(), 400, "{method} {wrong}: {text}");
            assert!(text.contains(refusal), "{wrong}: {text}");
        }
    }
    assert_eq!(server.get(PATH).await.expect(200).json(), json!([made]));
    for number in 1..50 {
        let answer = server.request("POST", PATH).json(&right).send().await;
        assert_eq!(answer.status.as_u16(), 201, "{number}");
    }
    let answer = server.request("POST", PATH).json(&right).send().await;
    answer.expect_error(400, "notifications: the account has all of its 50");
}

#[tokio::test]
async fn a_delivery_that_fails_is_told_and_the_last_error_with_it() {
    let server = Server::start().await;
    let (ops, orders) = (server.bucket("ops").await, server.bucket("orders").await);
    let refusing = json!({"name": "shop", "destination": "http://127.0.0.1:9/"});
    let output = server.output(&orders, refusing).await;
    let body = json!({"events": ["delivery.failed"], "to_bucket": "ops"});
    server.request("POST", PATH).json(&body).send().await.expect(201);
    super::send(&server, &orders, "lost").await;
    let mut told = Vec::new();
    // It is tried again for a while.
    for _ in 0..600 {
        told = events(&server, &ops).await;
        if !told.is_empty() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert_eq!(told.len(), 1);
    let data = &told[0]["data"];
    assert_eq!((&data["output"]["id"], &data["count"]), (&output["id"], &json!(1)));
    assert!(data["last_error"].as_str().is_some_and(|error| !error.is_empty()), "{data}");
    // The links of an event can be followed as they are.
    for link in ["bucket", "logs"] {
        server.get(data["links"][link].as_str().expect("a link")).await.expect(200);
    }
}

#[tokio::test]
async fn notifications_are_the_accounts_own_and_closed_to_scoped_tokens() {
    let mut server = Server::start().await;
    server.bucket("ops").await;
    let right = json!({"events": ["output.paused"], "to_bucket": "ops"});
    let made = server.request("POST", PATH).json(&right).send().await.expect(201).json();
    let (path, test) = (format!("{PATH}/{}", id(&made)), format!("{PATH}/{}/test", id(&made)));
    for restricted in [json!({"scopes": {"buckets": ["ops"]}}), json!({"api_access": 1})] {
        let credential = token(&server, restricted).await;
        for (method, path) in [
            ("GET", PATH),
            ("POST", PATH),
            ("GET", &path),
            ("PUT", &path),
            ("DELETE", &path),
            ("POST", &test),
        ] {
            let request = server.anonymous(method, path).header("authorization", &credential);
            request.json(&right).send().await.expect_error(403, "forbidden");
        }
    }
    server.terminate().await;
    let second = format!("Bearer {}", server.account("second").await);
    let server = server.restart().await;
    let theirs = |method: &'static str, path: &str| {
        server.anonymous(method, path).header("authorization", &second).json(&right)
    };
    assert_eq!(theirs("GET", PATH).send().await.expect(200).json(), json!([]));
    let refusal = "to_bucket: is no bucket of the account";
    theirs("POST", PATH).send().await.expect_error(400, refusal);
    for (method, path) in [("GET", &path), ("DELETE", &path), ("POST", &test)] {
        theirs(method, path).send().await.expect_error(404, "notification not found");
    }
    assert_eq!(server.get(&path).await.expect(200).json(), made);
}
