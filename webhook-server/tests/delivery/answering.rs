use std::time::Duration;

use bytes::Bytes;
use http::Response;

use super::*;
use crate::sink::Reply;

/// Sets what the bucket's default input answers.
async fn answer_with(server: &Server, bucket: &Value, spec: Value) {
    let id = bucket["id"].as_str().expect("an id");
    let input = bucket["inputs"][0]["id"].as_str().expect("an id");
    let path = format!("/v1/buckets/{id}/inputs/{input}");
    server.request("PUT", &path).json(&spec).send().await.expect(200);
}

#[tokio::test]
async fn the_static_answer_is_as_configured() {
    let server = Server::start().await;
    let bucket = server.bucket("events").await;
    let spec = json!({
        "status_code": 202, "headers": { "X-Answer": ["a", "b"] }, "body": "{\"ok\":true}",
    });
    answer_with(&server, &bucket, spec).await;
    let answer = server.anonymous("PUT", &input_path(&bucket)).send().await.expect(202);
    assert_eq!(answer.text(), "{\"ok\":true}");
    assert_eq!(answer.headers.get_all("x-answer").iter().count(), 2);
}

#[tokio::test]
async fn an_outputs_answer_is_passed_on_by_id_and_from_any() {
    let body = "\u{0}made";
    let made = Response::builder().status(201).header("x-from", "output");
    let made = made.body(Bytes::from(body)).expect("a response");
    let sink = Sink::scripted(move |_| Reply::With(made.clone())).await;
    let server = Server::start().await;
    let bucket = server.bucket("events").await;
    let nobody = json!({ "name": "nobody", "destination": "http://127.0.0.1:9/", "retries": -1 });
    let nobody = server.output(&bucket, nobody).await;
    let output = server.output(&bucket, json!({ "name": "sink", "destination": sink.base })).await;
    for from in [output["id"].as_str().expect("an id"), "anyOutput"] {
        answer_with(&server, &bucket, json!({ "response_from_output": from })).await;
        let answer = server.anonymous("POST", &input_path(&bucket)).send().await.expect(201);
        assert_eq!(answer.text(), body);
        assert_eq!(answer.header("x-from"), "output");
    }
    // An output that cannot be reached has no answer: the static one is sent.
    let spec = json!({ "response_from_output": nobody["id"], "status_code": 299 });
    answer_with(&server, &bucket, spec).await;
    server.anonymous("POST", &input_path(&bucket)).send().await.expect(299);
}

#[tokio::test]
async fn past_ten_seconds_the_static_answer_is_sent() {
    let sink = Sink::scripted(|_| Reply::Hang(Duration::from_secs(3600))).await;
    let (server, bucket) = relay_to(&sink.base).await;
    let spec = json!({ "response_from_output": "anyOutput", "status_code": 203 });
    answer_with(&server, &bucket, spec).await;
    server.anonymous("POST", &input_path(&bucket)).send().await.expect(203);
    assert_eq!(sink.so_far().len(), 1);
}
