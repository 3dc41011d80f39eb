//! Input that no well-meaning client sends: a 4xx with a reason each, never a
//! 5xx, and nothing is stored.

use serde_json::json;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::harness::{self, Server, id};

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
async fn numbers_outside_of_their_type_are_refused_in_words() {
    let server = Server::start().await;
    let bucket = server.bucket("b").await;
    let path = |what: &str| format!("/v1/buckets/{}/{what}", id(&bucket));
    for (path, body, said) in [
        (
            path("outputs"),
            r#"{"destination":"https://example.com/","retries":4294967296}"#,
            "retries: must be between -2147483648 and 2147483647, not 4294967296",
        ),
        (
            path("outputs"),
            r#"{"destination":"https://example.com/","timeout":-1}"#,
            "timeout: must be between 0 and 4294967295, not -1",
        ),
        (
            path("inputs"),
            r#"{"name":"i","status_code":70000}"#,
            "status_code: must be between 0 and 65535, not 70000",
        ),
        (
            path("inputs"),
            r#"{"name":"i","status_code":"200"}"#,
            "expected a whole number between 0 and 65535",
        ),
    ] {
        let refused = server.request("POST", &path).body(body).send().await;
        let text = refused.expect_error(400, said).text();
        assert!(!text.contains(" at line ") && !text.contains("u16"), "{text}");
    }
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
    let unknown = ["/v1", "/v1/", "/v1/bucket", "/v1/buckets/", "/v2/buckets", "/v1/webhooks"];
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
    let options = [("WEBHOOK_MAX_REQUESTS", "1"), ("WEBHOOK_FUNCTION_COMPUTE_TIME", "5s")];
    let server = Server::start_with(&options).await;
    let endless = json!({"name": "f", "payload": "while true do end", "driver": "lua"});
    let made = server.request("POST", "/v1/functions").json(&endless).send().await.expect(201);
    // One request that holds the only place.
    let path = format!("/v1/functions/{}/invoke", id(&made.json()));
    let invoked = async {
        // The place may be the other request's at that moment.
        while server.request("POST", &path).send().await.status == 503 {}
    };
    let refused = async {
        loop {
            let answer = server.get("/v1/buckets").await;
            if answer.status != 200 {
                break answer.expect_error(503, "too many requests");
            }
        }
    };
    let refused = tokio::select! {
        refused = refused => refused,
        () = invoked => panic!("nothing was refused"),
    };
    assert_eq!(refused.header("retry-after"), "1");
    server.get("/healthz").await.expect(200);
}

/// A request whose body has begun to arrive and does not end.
async fn slow(server: &Server, length: usize, begin: &str) -> tokio::net::TcpStream {
    let address = server.base.strip_prefix("http://").expect("an address");
    let mut stream = tokio::net::TcpStream::connect(address).await.expect("a connection");
    let head = format!(
        "POST /v1/buckets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\n\
         Content-Length: {length}\r\nExpect: 100-continue\r\n\r\n",
        server.key
    );
    stream.write_all(head.as_bytes()).await.expect("it is sent");
    // The server asks for the body when the credentials are known.
    let mut interim = [0; 64];
    let read = stream.read(&mut interim).await.expect("an answer");
    assert!(interim[..read].starts_with(b"HTTP/1.1 100"), "{:?}", &interim[..read]);
    stream.write_all(begin.as_bytes()).await.expect("it is sent");
    stream
}

#[tokio::test]
async fn a_slow_body_keeps_nobody_waiting() {
    let server = Server::start_with(&[("WEBHOOK_MAX_REQUESTS", "1")]).await;
    let mut slow = [slow(&server, 12, "{").await, slow(&server, 12, "{\"name\":").await];
    server.get("/v1/buckets").await.expect(200);
    server.bucket("fast").await;
    slow[1].write_all(b"\"a\"}").await.expect("it is sent");
    let mut answer = [0; 12];
    slow[1].read_exact(&mut answer).await.expect("an answer");
    assert_eq!(&answer, b"HTTP/1.1 201");
}

#[tokio::test]
async fn bodies_that_arrive_share_a_bound() {
    let server = Server::start_with(&[("WEBHOOK_MAX_ARRIVING_BYTES", "10MiB")]).await;
    let key = server.account("second").await;
    let most = "x".repeat(1_000_000);
    let mut slow_ones = Vec::new();
    for _ in 0..5 {
        slow_ones.push(slow(&server, most.len() + 1, &most).await);
    }
    let post = |key: &str| {
        let request = server.anonymous("POST", "/v1/buckets").body(most.clone());
        request.header("authorization", &format!("Bearer {key}")).send()
    };
    let refused = async {
        loop {
            let answer = post(&server.key).await;
            if answer.status != 400 {
                break answer.expect_error(503, "too many bodies");
            }
            // It came before a slow one had all arrived, and that one was refused.
            slow_ones.push(slow(&server, most.len() + 1, &most).await);
        }
    };
    tokio::time::timeout(harness::PATIENCE, refused).await.expect("half of it is taken");
    // The other half is for others.
    post(&key).await.expect_error(400, "body: ");
    drop(slow_ones);
    let free = async { while post(&server.key).await.status != 400 {} };
    tokio::time::timeout(harness::PATIENCE, free).await.expect("it is given back");
}
