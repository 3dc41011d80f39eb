//! Bodies that are not plain JSON in UTF-8: each is read, and leaves as it came.

use std::io::Write;

use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use http::Response;

use super::*;
use crate::sink::{Arrived, Reply};

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).expect("memory takes it");
    encoder.finish().expect("memory takes it")
}

/// Tells a header what the function read.
const TELL: &str = "const m = JSON.parse(r.body).m; r.setHeader('X-M', encodeURIComponent(m))";

impl Arrived {
    /// A header of the request.
    fn told(&self, name: &str) -> &str {
        self.head.headers[name].to_str().expect("it is text")
    }
}

/// A rule that a field of the payload is this text.
fn is(name: &str, value: &str) -> Value {
    json!({"match": {
        "type": "value", "value": value, "parameter": {"source": "payload", "name": name},
    }})
}

async fn function(server: &Server, driver: &str, source: &str) -> String {
    let function = json!({"name": driver, "driver": driver, "payload": source});
    id(&server.function_of(function).await).to_owned()
}

async fn send(
    server: &Server,
    bucket: &Value,
    headers: &[(&'static str, &str)],
    body: impl Into<Bytes>,
) {
    let request = server.anonymous("POST", &input_path(bucket));
    let request =
        headers.iter().fold(request, |request, (name, value)| request.header(name, value));
    request.body(body.into()).send().await.expect(200);
}

/// A server whose input knows duplicates by a field of the payload.
async fn keyed_by(name: &str) -> (Server, Value) {
    let server = Server::start().await;
    let bucket = server.bucket("events").await;
    let key = json!([{"source": "payload", "name": name}]);
    server.set_default_input(&bucket, json!({ "deduplication": { "key": key } })).await;
    (server, bucket)
}

async fn total(server: &Server, query: &str) -> Value {
    server.get(&format!("/v1/logs?{query}")).await.expect(200).json()["total"].clone()
}

/// A destination of a bucket, behind a rule and a function.
async fn output(server: &Server, bucket: &Value, rules: Value, function: &str) -> Sink {
    let sink = Sink::start().await;
    let spec = json!({
        "name": sink.base, "destination": sink.base, "rules": rules, "function_id": function,
    });
    server.output(bucket, spec).await;
    sink
}

#[tokio::test]
async fn a_body_in_another_charset_is_read_by_all_and_leaves_as_it_came() {
    const LATIN: &[u8] = b"{\"ref\":\"x\",\"m\":\"caf\xe9\"}";
    let (server, bucket) = keyed_by("m").await;
    let tell = function(&server, "js", TELL).await;
    let sink = output(&server, &bucket, is("m", "café"), &tell).await;
    let latin = [("content-type", "application/json; charset=ISO-8859-1")];
    send(&server, &bucket, &latin, LATIN).await;
    let arrived = sink.received(1).await.remove(0);
    assert_eq!((&arrived.body[..], arrived.told("x-m")), (LATIN, "caf%C3%A9"));
    assert_eq!(arrived.head.headers["content-type"], latin[0].1);
    // The same text in UTF-8 is its twin.
    send(&server, &bucket, &[("content-type", "application/json")], r#"{"m":"café"}"#).await;
    server.ended_logs(2).await;
    assert_eq!(total(&server, "reason=duplicate").await, 1);
    assert_eq!(total(&server, "search=caf%C3%A9&status=sent").await, 1);
    assert_eq!(total(&server, "payload=m:caf%C3%A9&status=sent").await, 1);
}

#[tokio::test]
async fn one_byte_that_is_no_text_hides_no_other_field() {
    const BROKEN: &[u8] = b"{\"ref\":\"x\",\"m\":\"caf\xe9\"}";
    let (server, bucket) = keyed_by("ref").await;
    let tell = function(&server, "js", TELL).await;
    let sink = output(&server, &bucket, is("ref", "x"), &tell).await;
    for _ in 0..2 {
        send(&server, &bucket, &[("content-type", "application/json")], BROKEN).await;
    }
    server.ended_logs(2).await;
    assert_eq!(total(&server, "reason=duplicate").await, 1);
    assert_eq!(total(&server, "payload=ref:x&status=sent").await, 1);
    let arrived = sink.received(1).await.remove(0);
    assert_eq!((&arrived.body[..], arrived.told("x-m")), (BROKEN, "caf%EF%BF%BD"));
}

#[tokio::test]
async fn a_compressed_body_leaves_as_it_came_unless_a_function_changes_it() {
    let server = Server::start().await;
    let bucket = server.bucket("events").await;
    let tell = function(&server, "js", TELL).await;
    let change = r#"
        local json = require("json")
        local body = json.decode(r.RequestBody)
        body.m = "changed"
        r:SetRequestBody(json.encode(body))
    "#;
    let change = function(&server, "lua", change).await;
    let same = output(&server, &bucket, is("m", "hello"), &tell).await;
    let changed = output(&server, &bucket, is("m", "hello"), &change).await;
    let body = gzip(r#"{"m":"hello"}"#);
    let headers = [("content-type", "application/json"), ("content-encoding", "gzip")];
    send(&server, &bucket, &headers, body.clone()).await;
    let Arrived { head, body: arrived } = same.received(1).await.remove(0);
    assert_eq!(arrived, body);
    assert_eq!(head.headers["content-encoding"], "gzip");
    assert_eq!(head.headers["x-m"], "hello");
    let Arrived { head, body: arrived } = changed.received(1).await.remove(0);
    assert_eq!(
        (arrived.as_ref(), head.headers.get("content-encoding")),
        (&br#"{"m":"changed"}"#[..], None)
    );
    assert_eq!(head.headers["content-length"], "15");
    server.ended_logs(2).await;
    assert_eq!(total(&server, "search=%22hello%22").await, 2);
}

#[tokio::test]
async fn a_compressed_answer_is_found_and_read_by_its_function() {
    let server = Server::start().await;
    let bucket = server.bucket("events").await;
    let sink = Sink::answering(|_| {
        let answer = Response::builder().status(422).header("content-encoding", "gzip");
        Reply::With(answer.body(gzip(r#"{"error":"no such order"}"#).into()).expect("an answer"))
    });
    let sink = sink.await;
    let read = "console.log(JSON.parse(r.responseBody).error)";
    let read = function(&server, "js", read).await;
    let spec = json!({
        "name": "sink", "destination": sink.base, "response_function_id": read,
    });
    server.output(&bucket, spec).await;
    send(&server, &bucket, &[("content-type", "application/json")], "{}").await;
    let log = server.ended_logs(1).await.remove(0);
    assert_eq!((&log["status"], &log["status_code"]), (&json!("failed"), &json!(422)));
    assert_eq!(total(&server, "search=no%20such%20order").await, 1);
    let runs = server.get(&format!("/v1/functions/{read}/logs")).await;
    let runs: Value = runs.expect(200).json();
    assert!(runs.to_string().contains("no such order"), "{runs}");
}

#[tokio::test]
async fn json_in_a_form_is_read_as_that_json() {
    let server = Server::start().await;
    let bucket = server.bucket("events").await;
    let read = "
        addHandler('transform', (request) => {
            request.headers['x-action'] = request.body.action;
            return request;
        })";
    let read = function(&server, "js", read).await;
    let sink = output(&server, &bucket, is("action", "opened"), &read).await;
    let form = [("content-type", "application/x-www-form-urlencoded")];
    let body = "payload=%7B%22action%22%3A%22opened%22%2C%22n%22%3A1+%7D";
    send(&server, &bucket, &form, body).await;
    let arrived = sink.received(1).await.remove(0);
    assert_eq!((&arrived.body[..], arrived.told("x-action")), (body.as_bytes(), "opened"));
    server.ended_logs(1).await;
    assert_eq!(total(&server, "payload=action:opened").await, 1);
    let broken = [("content-type", "application/json")];
    send(&server, &bucket, &broken, "{\"action\":\"opened\",}").await;
    let log = server.ended_logs(2).await.remove(0);
    let log = log["id"].as_str().expect("an ID");
    let trace = server.get(&format!("/v1/logs/{log}/trace")).await.expect(200).json();
    let said = "payload action is missing, because the body is not JSON: line 1, column 20: key must be a string";
    assert!(trace.to_string().contains(said), "{trace}");
}
