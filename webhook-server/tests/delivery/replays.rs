//! Replays of many webhooks.

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use super::*;

/// A server that has sent so many webhooks, each with its number as the body.
async fn sent(sink: &Sink, count: usize) -> (Server, Value) {
    let (server, bucket) = relay_to(&sink.base).await;
    for number in 0..count {
        let request = server.anonymous("POST", &input_path(&bucket)).body(number.to_string());
        request.send().await.expect(200);
    }
    sink.received(count).await;
    for _ in 0..200 {
        let logs = server.get("/v1/logs?status=sent&limit=1").await.expect(200).json();
        if logs["total"] == count {
            return (server, bucket);
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("not all are sent");
}

async fn post(server: &Server, body: &Value, status: u16) -> Value {
    let answer = server.request("POST", "/v1/replays").json(body).send().await.expect(status);
    serde_json::from_slice(&answer.body).unwrap_or_else(|_| json!(answer.text()))
}

/// The replay when it is over.
async fn over(server: &Server, replay: &Value) -> Value {
    for _ in 0..600 {
        let path = format!("/v1/replays/{}", id(replay));
        let replay = server.get(&path).await.expect(200).json();
        if !["running", "paused"].contains(&replay["status"].as_str().expect("a status")) {
            return replay;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the replay does not end");
}

#[tokio::test]
async fn a_dry_run_counts_what_is_sent_then() {
    let sink = Sink::start().await;
    let (server, bucket) = sent(&sink, 5).await;
    let mut spec = json!({"filter": {"bucket": id(&bucket), "status": "sent"}, "rate": 1000,
        "dry_run": true});
    let plan = post(&server, &spec, 200).await;
    assert_eq!((&plan["count"], &plan["exact"]), (&json!(5), &json!(true)), "{plan}");
    assert_eq!(sink.so_far().len(), 5, "a dry run sends nothing");
    spec["dry_run"] = json!(false);
    let made = post(&server, &spec, 201).await;
    assert_eq!(made["total"], 5);
    let done = over(&server, &made).await;
    for (field, value) in [("queued", 5), ("failed", 0), ("rejected", 0), ("skipped", 0)] {
        assert_eq!(done[field], value, "{field} of {done}");
    }
    assert_eq!(done["status"], "done");
    let arrived = sink.received(10).await;
    let bodies = |from: usize| -> HashSet<_> {
        arrived[from..from + 5].iter().map(|it| it.body.clone()).collect()
    };
    assert_eq!(bodies(0), bodies(5));
    assert!(
        arrived[5..].iter().all(|it| it.head.headers.contains_key("x-webhook-relay-replay-of"))
    );

    let path = format!("/v1/logs?replay={}", id(&made));
    let logs = server.get(&path).await.expect(200).json();
    let logs = logs["data"].as_array().expect("a list");
    assert_eq!(logs.len(), 5);
    assert!(logs.iter().all(|log| log["replay_id"] == made["id"] && log["replay_of"] != log["id"]));
    let all = server.get("/v1/replays").await.expect(200).json();
    assert_eq!(all[0]["id"], made["id"]);

    // What is over is changed no more, and what finds nothing is no replay.
    let put = server.request("PUT", &format!("/v1/replays/{}", id(&made)));
    put.json(&json!({"status": "paused"})).send().await.expect(412);
    spec["filter"]["status"] = json!("stalled");
    post(&server, &spec, 400).await;
    for (field, value, named) in [
        ("rate", json!(0), "rate"),
        ("order", json!("random"), "order"),
        ("filter", json!({"status": "lost"}), "filter.status"),
    ] {
        let mut wrong = spec.clone();
        wrong[field] = value;
        let said = post(&server, &wrong, 400).await;
        assert!(said.as_str().expect("a text").contains(named), "{said}");
    }
}

#[tokio::test]
async fn a_replay_that_is_killed_queues_each_webhook_once() {
    const COUNT: usize = 120;
    let sink = Sink::start().await;
    let (mut server, bucket) = sent(&sink, COUNT).await;
    let spec = json!({"filter": {"bucket": id(&bucket), "status": "sent"}, "rate": 60});
    let made = post(&server, &spec, 201).await;
    for more in [20, 60] {
        sink.received(COUNT + more).await;
        server.kill().await;
        server = server.restart().await;
    }
    let done = over(&server, &made).await;
    assert_eq!((&done["status"], &done["queued"]), (&json!("done"), &json!(COUNT)), "{done}");
    let mut times: HashMap<_, usize> = HashMap::new();
    for _ in 0..200 {
        times.clear();
        for arrived in sink.so_far() {
            *times.entry(arrived.body).or_default() += 1;
        }
        if times.len() == COUNT && times.values().all(|times| *times >= 2) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(times.len(), COUNT);
    assert!(times.values().all(|times| *times >= 2), "each arrived again");
    // Only what was in flight when it was killed came once more.
    let more: usize = times.values().map(|times| times - 2).sum();
    assert!(more <= 20, "{more} came once more");
}
