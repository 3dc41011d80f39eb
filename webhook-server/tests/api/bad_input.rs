//! Input that no well-meaning client sends: a 4xx with a reason each, never a
//! 5xx, and nothing is stored.

use serde_json::json;

use super::harness::{Server, id};

#[tokio::test]
async fn bodies() {
    let server = Server::start().await;
    let deep = format!(r#"{{"name":"b","x":{}{}}}"#, "[".repeat(9_000), "]".repeat(9_000));
    let deep_objects = format!("{}{}", r#"{"x":"#.repeat(9_000), "}".repeat(9_000));
    for (body, said) in [
        (&b""[..], "body: must be a JSON object"),
        (b"null", "body: must be a JSON object"),
        (b"[\"b\"]", "body: must be a JSON object"),
        (b"\"b\"", "body: must be a JSON object"),
        (b"name=b", "body: must be a JSON object"),
        (b"{", "body: "),
        (b"{\"name\":\"b\"} x", "body: "),
        (b"{\"name\":\"b\",}", "body: "),
        (b"{\"name\":\"\xff\"}", "name: "),
        (b"{\"name\":\"\\ud800\"}", "name: "),
        (b"{\"name\":1}", "name: invalid type"),
        (b"{\"name\":\"b\",\"name\":\"c\"}", "duplicate field"),
        (b"{\"name\":\"b\",\"stream\":\"yes\"}", "stream: invalid type"),
        (b"{\"name\":\"b\",\"auth\":7}", "auth: invalid type"),
        (b"{\"name\":\"b\",\"auth\":[\"basic\"]}", "auth: "),
        (b"{\"name\":\"b\",\"auth\":{\"type\":\"magic\"}}", "auth.type: "),
        (b"{\"name\":\"b\",\"auth\":{\"type\":3}}", "auth.type: "),
        (b"{\"name\":\"b\",\"auth\":{\"type\":-1}}", "auth.type: "),
        (b"{\"name\":\"b\\u0000\"}", "name: "),
        (deep.as_bytes(), "levels deep"),
        (deep_objects.as_bytes(), "levels deep"),
    ] {
        let request = server.request("POST", "/v1/buckets").body(body.to_vec());
        request.send().await.expect_error(400, said);
    }
    assert_eq!(server.get("/v1/buckets").await.expect(200).json(), json!([]));
}

#[tokio::test]
async fn outputs() {
    let server = Server::start().await;
    let bucket = server.bucket("b").await;
    let path = format!("/v1/buckets/{}/outputs", id(&bucket));
    for (field, value) in [
        ("destination", json!("javascript:alert(1)")),
        ("destination", json!("http://exa mple.com")),
        ("destination", json!("http://user:pass@example.com")),
        ("destination", json!("http://")),
        ("destination", json!(format!("http://example.com/{}", "x".repeat(9_000)))),
        ("headers.Content-Length", json!({"content-length": "1"})),
        ("headers.Connection", json!({"Connection": "close"})),
        ("headers", json!({"X-A": "1", "x-a": "2"})),
        ("headers", json!({"bad name": "1"})),
        ("headers", json!({"X-A": "line\nbreak"})),
        ("headers", json!({"X-A": 1})),
        ("headers", json!({"X-A": "v".repeat(20_000)})),
        ("retries", json!(-2)),
        ("retries", json!(1.5)),
        ("retries", json!(4_294_967_296_i64)),
        ("timeout", json!(-1)),
        ("timeout", json!(181)),
        ("throttle.mode", json!({"mode": "slow"})),
        ("throttle.rate", json!({"enabled": true, "rate": 0})),
        ("throttle.rate", json!({"rate": -1})),
        ("throttle.deadline", json!({"deadline": -1})),
        ("durability.schedule", json!({"schedule": "forever"})),
        ("durability.custom_delays", json!({"enabled": true, "schedule": "custom"})),
        ("durability.custom_delays", json!({"custom_delays": [-1]})),
        ("function_id", json!("not an id")),
        ("internal", json!("yes")),
        ("rules", json!([])),
        ("rules", json!({"maybe": {}})),
    ] {
        let mut spec = json!({"destination": "https://example.com/"});
        let key = field.split('.').next().expect("a field");
        spec[key] = value;
        let answer = server.request("POST", &path).json(&spec).send().await;
        answer.expect_error(400, field);
    }
    let stored = server.get(&format!("/v1/buckets/{}", id(&bucket))).await.expect(200).json();
    assert_eq!(stored["outputs"], json!([]));
}

#[tokio::test]
async fn the_body_has_a_limit() {
    let server = Server::start_with(&[("WEBHOOK_MAX_REQUEST_BYTES", "1KiB")]).await;
    let spec = |length: usize| {
        let mut text = r#"{"name":"b"}"#.to_owned();
        text.extend(std::iter::repeat_n(' ', length - text.len()));
        text
    };
    let post = |length: usize| server.request("POST", "/v1/buckets").body(spec(length)).send();
    post(1025).await.expect_error(413, "at most 1024 bytes");
    post(1024).await.expect(201);
}

#[tokio::test]
async fn paths_and_methods() {
    let server = Server::start().await;
    let unknown = ["/", "/v1", "/v1/", "/v1/bucket", "/v1/buckets/", "/v2/buckets", "/v1/webhooks"];
    for path in unknown.into_iter().chain(["/docs/nothing", "/docs/%ff", "/docs/../Cargo.toml"]) {
        server.get(path).await.expect_error(404, "no such path");
    }
    for (method, path) in
        [("PATCH", "/v1/buckets"), ("POST", "/v1/config"), ("DELETE", "/healthz"), ("PUT", "/docs")]
    {
        server.request(method, path).send().await.expect_error(405, "is not allowed here");
    }
}

#[tokio::test]
async fn requests_at_once_have_a_limit() {
    let server = Server::start_with(&[("WEBHOOK_MAX_REQUESTS", "1")]).await;
    // One request that holds the only place: its body never ends.
    let address = server.base.strip_prefix("http://").expect("an address");
    let mut stream = tokio::net::TcpStream::connect(address).await.expect("a connection");
    let head = format!(
        "POST /v1/buckets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\n\
         Content-Length: 10\r\nExpect: 100-continue\r\n\r\n",
        server.key
    );
    tokio::io::AsyncWriteExt::write_all(&mut stream, head.as_bytes()).await.expect("it is sent");
    // The server asks for the body when the request has taken its place.
    let mut interim = [0; 64];
    let read = tokio::io::AsyncReadExt::read(&mut stream, &mut interim).await.expect("an answer");
    assert!(interim[..read].starts_with(b"HTTP/1.1 100"), "{:?}", &interim[..read]);

    let refused = server.get("/v1/buckets").await.expect_error(503, "too many requests");
    assert_eq!(refused.header("retry-after"), "1");
    server.get("/healthz").await.expect(200);
    drop(stream);
}
