//! Webhooks that are erased.

use std::{path::Path, time::Duration};

use base64::{Engine, engine::general_purpose::STANDARD};

use super::*;
use crate::{harness::PATIENCE, sink::Reply};

const MARK: &str = "what nobody is to find any more";

/// Posts to the bucket.
async fn post(server: &Server, bucket: &Value, body: &str) {
    server.anonymous("POST", &input_path(bucket)).body(body.to_owned()).send().await.expect(200);
}

/// The logs with this status, once there are `count` of them.
async fn logs(server: &Server, count: usize, status: &str) -> Vec<Value> {
    for _ in 0..200 {
        let logs = server.get(&format!("/v1/logs?status={status}&limit=100")).await;
        let logs = logs.expect(200).json();
        if logs["total"] == count {
            return logs["data"].as_array().expect("a list").clone();
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("there are not {count} logs that are {status}");
}

async fn erase(server: &Server, log: &Value) -> harness::Answer {
    server.request("DELETE", &format!("/v1/logs/{}", id(log))).send().await
}

async fn days(server: &Server) -> Value {
    server.get("/v1/logs-stats").await.expect(200).json()
}

/// How many files of the folder, and of those below it, hold the text.
fn files_with(folder: &Path, text: &str) -> usize {
    let mut found = 0;
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        found += match path.is_dir() {
            true => files_with(&path, text),
            false => {
                let bytes = std::fs::read(&path).expect("a file");
                usize::from(bytes.windows(text.len()).any(|part| part == text.as_bytes()))
            }
        };
    }
    found
}

#[tokio::test]
async fn an_erased_webhook_is_in_no_file_and_counts_as_before() {
    let sink = Sink::start().await;
    let (mut server, bucket) = relay_to(&sink.base).await;
    let second = json!({"name": "second", "destination": format!("{}/second", sink.base)});
    server.output(&bucket, second).await;
    post(&server, &bucket, MARK).await;
    post(&server, &bucket, "what stays").await;
    let sent = logs(&server, 4, "sent").await;
    let is_marked = |log: &&Value| log["body"] == MARK;
    let erased: Vec<_> = sent.iter().filter(is_marked).cloned().collect();
    let (before, folder) = (days(&server).await, server.data_dir().to_owned());
    assert!(files_with(&folder, MARK) > 0);

    let answer = erase(&server, &erased[0]).await.expect(200).json();
    let mut ids: Vec<_> = erased.iter().map(|log| log["id"].clone()).collect();
    ids.sort_by_key(ToString::to_string);
    let expected = json!({
        "id": erased[0]["id"], "status": "erased", "logs": ids, "withdrawn": 0,
    });
    assert_eq!(answer, expected);
    for log in &erased {
        erase(&server, log).await.expect(404);
        server.get(&format!("/v1/logs/{}", id(log))).await.expect(404);
    }
    assert_eq!(logs(&server, 2, "sent").await.len(), 2);
    assert_eq!(days(&server).await, before);
    // The log of the database is emptied when nothing was written for five seconds.
    let gone = async {
        while files_with(&folder, MARK) > 0 {
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    };
    tokio::time::timeout(PATIENCE, gone).await.expect("no file has it in the end");
    assert!(files_with(&folder, "what stays") > 0);
    server.terminate().await;
    assert_eq!(files_with(&folder, MARK), 0);
    let server = server.restart().await;
    assert_eq!(logs(&server, 2, "sent").await.len(), 2);
    assert_eq!(days(&server).await, before);
}

#[tokio::test]
async fn what_waits_is_withdrawn_and_what_is_in_flight_stays() {
    let (release, released) = tokio::sync::watch::channel(false);
    let sink = Sink::scripted(move |_| Reply::HangUntil(released.clone())).await;
    let server = Server::start().await;
    let bucket = server.bucket("events").await;
    let throttle = json!({"enabled": true, "mode": "concurrency", "max_concurrent": 1});
    let output = json!({"name": "slow", "destination": sink.base, "throttle": throttle});
    server.output(&bucket, output).await;
    for number in 0..3 {
        post(&server, &bucket, &number.to_string()).await;
    }
    sink.received(1).await;
    let all = logs(&server, 3, "received").await;
    let of = |body: &str| all.iter().find(|log| log["body"] == body).expect("a log").clone();
    let answer = erase(&server, &of("0")).await.expect(412);
    assert!(answer.text().contains("in flight"), "{}", answer.text());
    assert_eq!(logs(&server, 3, "received").await.len(), 3);
    let answer = erase(&server, &of("1")).await.expect(200).json();
    assert_eq!(answer["withdrawn"], 1);
    release.send(true).expect("the sink is there");
    logs(&server, 2, "sent").await;
    let arrived = sink.received(2).await;
    let bodies: Vec<_> = arrived.iter().map(|it| &it.body[..]).collect();
    assert_eq!(bodies, [&b"0"[..], b"2"]);
    let answer = erase(&server, &of("0")).await.expect(200).json();
    assert_eq!(answer["withdrawn"], 0);
}

#[tokio::test]
async fn who_may_not_send_it_again_may_not_erase_it() {
    let server = Server::start().await;
    let (ours, other) = (server.bucket("ours").await, server.bucket("other").await);
    post(&server, &ours, "a").await;
    let log = logs(&server, 1, "received").await.remove(0);
    let path = format!("/v1/logs/{}", id(&log));
    let delete = async |token: &Value| {
        let text = |field: &str| token[field].as_str().expect("text").to_owned();
        let pair = format!("{}:{}", text("key"), text("secret"));
        let credential = format!("Basic {}", STANDARD.encode(pair));
        let request = server.anonymous("DELETE", &path);
        request.header("authorization", &credential).send().await
    };
    let token = async |spec: Value| {
        let made = server.request("POST", "/v1/tokens").json(&spec).send().await.expect(201);
        made.json()
    };
    let elsewhere = token(json!({"name": "t", "scopes": {"buckets": [id(&other)]}})).await;
    delete(&elsewhere).await.expect(403);
    let stranger = server.account("stranger").await;
    let request = server.anonymous("DELETE", &path);
    request.header("authorization", &format!("Bearer {stranger}")).send().await.expect(404);
    server.anonymous("DELETE", &path).send().await.expect(401);
    server.get(&path).await.expect(200);
    let within = token(json!({"name": "u", "scopes": {"buckets": [id(&ours)]}})).await;
    delete(&within).await.expect(200);
    server.get(&path).await.expect(404);
    server.request("DELETE", "/v1/logs/none").send().await.expect(404);
}

/// Posts `count` webhooks.
async fn post_many(server: &Server, bucket: &Value, count: usize, body: &str) {
    for number in 0..count {
        post(server, bucket, &format!("{body} {number}")).await;
    }
}

async fn erasure(server: &Server, spec: &Value, status: u16) -> Value {
    let answer = server.request("POST", "/v1/erasures").json(spec).send().await.expect(status);
    serde_json::from_slice(&answer.body).unwrap_or_else(|_| json!(answer.text()))
}

/// The erasure when it is over.
async fn over(server: &Server, erasure: &Value) -> Value {
    for _ in 0..600 {
        let path = format!("/v1/erasures/{}", id(erasure));
        let erasure = server.get(&path).await.expect(200).json();
        if erasure["status"] != "running" {
            return erasure;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the erasure does not end");
}

#[tokio::test]
async fn a_filter_is_counted_and_then_erased() {
    let server = Server::start().await;
    let (shop, other) = (server.bucket("shop").await, server.bucket("other").await);
    post_many(&server, &shop, 40, "jane").await;
    post_many(&server, &shop, 3, "john").await;
    post_many(&server, &other, 2, "jane").await;
    let before = days(&server).await;
    let mut spec = json!({"filter": {"bucket": "shop", "search": "jane"}, "dry_run": true});
    let plan = erasure(&server, &spec, 200).await;
    for (field, value) in [
        ("status", json!("dry_run")),
        ("found", json!(40)),
        ("logs", json!(40)),
        ("exact", json!(true)),
        ("withdrawn", json!(40)),
        ("erased", json!(0)),
    ] {
        assert_eq!(plan[field], value, "{field} of {plan}");
    }
    logs(&server, 45, "received").await;
    spec["dry_run"] = json!(false);
    let made = erasure(&server, &spec, 201).await;
    assert_eq!((&made["status"], &made["found"]), (&json!("running"), &json!(40)), "{made}");
    let done = over(&server, &made).await;
    for (field, value) in [
        ("status", json!("done")),
        ("found", json!(40)),
        ("erased", json!(40)),
        ("withdrawn", json!(40)),
        ("in_flight", json!(0)),
        ("filter", json!({})),
    ] {
        assert_eq!(done[field], value, "{field} of {done}");
    }
    let left = logs(&server, 5, "received").await;
    let of_shop = |log: &&Value| log["bucket_id"] == shop["id"];
    assert_eq!(left.iter().filter(of_shop).count(), 3);
    assert_eq!(days(&server).await, before);

    erasure(&server, &spec, 400).await;
    for (wrong, field) in [
        (json!({"filter": {}}), "filter"),
        (json!({"filter": {"status": "lost"}}), "filter.status"),
        (json!({"filter": {"from": 0}, "rate": 1}), "rate"),
    ] {
        let said = erasure(&server, &wrong, 400).await;
        assert!(said.as_str().expect("a text").contains(field), "{said}");
    }
    erasure(&server, &json!({"filter": {"bucket": "nobody"}}), 404).await;
    let path = format!("/v1/erasures/{}", id(&made));
    let stranger = server.account("stranger").await;
    let request = server.anonymous("GET", &path);
    request.header("authorization", &format!("Bearer {stranger}")).send().await.expect(404);
}

#[tokio::test]
async fn an_erasure_that_is_killed_goes_on_and_its_counts_are_exact() {
    const COUNT: usize = 400;
    let mut server = Server::start().await;
    let bucket = server.bucket("shop").await;
    post_many(&server, &bucket, COUNT, "x").await;
    let made = erasure(&server, &json!({"filter": {"bucket": "shop"}}), 201).await;
    let mut kills = 0;
    loop {
        let path = format!("/v1/erasures/{}", id(&made));
        let now = server.get(&path).await.expect(200).json();
        let total = server.get("/v1/logs?limit=1").await.expect(200).json();
        if now["status"] != "running" {
            break;
        }
        if now["erased"].as_u64().expect("a count") > 64 * (kills + 1) && kills < 3 {
            server.kill().await;
            server = server.restart().await;
            kills += 1;
        }
        assert!(total["total"].as_u64().expect("a count") <= COUNT as u64);
    }
    assert!(kills > 0, "it was killed on the way");
    let done = over(&server, &made).await;
    assert_eq!((&done["status"], &done["erased"]), (&json!("done"), &json!(COUNT)), "{done}");
    assert_eq!(done["withdrawn"], COUNT);
    assert_eq!(server.get("/v1/logs").await.expect(200).json()["total"], 0);
}
