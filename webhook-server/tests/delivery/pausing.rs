//! Outputs that are paused: what waits survives everything, and leaves when it may.

use std::{collections::HashSet, time::Duration};

use super::*;

async fn tell(server: &Server, bucket: &Value, what: &str, body: &Value) -> Value {
    let output = server.get(&format!("/v1/buckets/{}", id(bucket))).await.expect(200).json();
    let output = id(&output["outputs"][0]).to_owned();
    let path = format!("/v1/buckets/{}/outputs/{output}/{what}", id(bucket));
    server.request("PUT", &path).json(body).send().await.expect(200).json()
}

#[tokio::test]
async fn what_waits_survives_kill_9_during_the_pause_and_while_it_leaves() {
    let sink = Sink::start().await;
    let (mut server, bucket) = relay_to(&sink.base).await;
    let mut ledger = HashSet::new();
    let paused = tell(&server, &bucket, "pause", &json!({"reason": "a deploy"})).await;
    assert_eq!(
        (&paused["paused_by"], &paused["pause_reason"]),
        (&json!("caller"), &json!("a deploy"))
    );
    for number in 0..120 {
        if number == 60 {
            server.kill().await;
            server = server.restart().await;
        }
        let body = number.to_string();
        let request = server.anonymous("POST", &input_path(&bucket)).body(body.clone());
        request.send().await.expect(200);
        ledger.insert(body);
    }
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(sink.so_far().len(), 0);
    let resumed = tell(&server, &bucket, "resume", &json!({"rate": 40})).await;
    assert_eq!(resumed["paused_at"], Value::Null);
    sink.received(20).await;
    server.kill().await;
    let _server = server.restart().await;
    for _ in 0..300 {
        let arrived = sink.so_far();
        let missing =
            |body: &&String| !arrived.iter().any(|arrived| arrived.body == body.as_bytes());
        if !ledger.iter().any(|body| missing(&body)) {
            // Only what had left in that second, and was not settled when it was killed, came
            // twice.
            assert!(arrived.len() <= 120 + 40, "{} arrived", arrived.len());
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("{} of {} arrived", sink.so_far().len(), ledger.len());
}

#[tokio::test]
async fn what_waits_when_an_output_is_disabled_leaves_when_it_is_enabled() {
    let sink =
        Sink::scripted(|number| sink::Reply::Status(if number == 0 { 503 } else { 200 })).await;
    let (server, bucket) = relay_to(&sink.base).await;
    server.anonymous("POST", &input_path(&bucket)).body("kept").send().await.expect(200);
    sink.received(1).await;
    let buckets = server.get(&format!("/v1/buckets/{}", id(&bucket))).await.expect(200).json();
    let output = &buckets["outputs"][0];
    let path = format!("/v1/buckets/{}/outputs/{}", id(&bucket), id(output));
    let with = |disabled: bool| json!({"destination": sink.base, "disabled": disabled});
    server.request("PUT", &path).json(&with(true)).send().await.expect(200);
    let logs = server.get("/v1/logs").await.expect(200).json();
    let trace = server.get(&format!("/v1/logs/{}/trace", id(&logs["data"][0]))).await;
    let due = trace.expect(200).json()["attempts"][0]["next_at"].as_f64().expect("a retry");
    let now = std::time::SystemTime::UNIX_EPOCH.elapsed().expect("after 1970").as_secs_f64();
    let past_due = Duration::from_secs_f64((due - now).max(0.0)) + Duration::from_millis(500);
    tokio::time::sleep(past_due).await;
    assert_eq!(sink.so_far().len(), 1, "the retry waits");
    let logs = server.get("/v1/logs").await.expect(200).json();
    assert_eq!(logs["data"][0]["status"], "received", "{logs}");
    server.request("PUT", &path).json(&with(false)).send().await.expect(200);
    assert_eq!(sink.received(2).await[1].body, "kept");
}

#[tokio::test]
async fn a_destination_that_is_gone_pauses_its_output_where_that_is_asked_for() {
    let sink =
        Sink::scripted(|number| sink::Reply::Status(if number == 0 { 410 } else { 200 })).await;
    let (server, bucket) = relay_to(&sink.base).await;
    let path = format!("/v1/buckets/{}", id(&bucket));
    let read = async || server.get(&path).await.expect(200).json()["outputs"][0].clone();
    let output = read().await;
    let spec = json!({"destination": sink.base, "health": {}});
    let put = server.request("PUT", &format!("{path}/outputs/{}", id(&output))).json(&spec);
    put.send().await.expect(200);
    server.anonymous("POST", &input_path(&bucket)).body("refused").send().await.expect(200);
    let mut paused = Value::Null;
    for _ in 0..100 {
        tokio::time::sleep(Duration::from_millis(50)).await;
        paused = read().await;
        if paused.get("paused_at").is_some() {
            break;
        }
    }
    assert_eq!(paused["paused_by"], "gone", "{paused}");
    server.anonymous("POST", &input_path(&bucket)).body("waits").send().await.expect(200);
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(sink.so_far().len(), 1);
    tell(&server, &bucket, "resume", &json!({})).await;
    assert_eq!(sink.received(2).await[1].body, "waits");
}

/// The example of docs/pausing.md, with `curl`.
#[tokio::test]
async fn the_example_of_the_page_pauses_and_resumes() {
    let (server, bucket) = relay_to("http://127.0.0.1:9/").await;
    let bucket = server.get(&format!("/v1/buckets/{}", id(&bucket))).await.expect(200).json();
    let names = [("BUCKET", id(&bucket)), ("OUTPUT", id(&bucket["outputs"][0]))];
    let Some(answers) = example_of("pausing.md", &server, &names).await else { return };
    let answers = serde_json::Deserializer::from_slice(&answers).into_iter::<Value>();
    let answers: Vec<_> = answers.collect::<Result<_, _>>().expect("two outputs");
    assert_eq!(answers[0]["pause_reason"], "they deploy", "{answers:?}");
    assert!(answers.len() == 2 && answers[1].get("paused_at").is_none(), "{answers:?}");
}
