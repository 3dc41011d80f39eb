use std::time::{Duration, Instant};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::*;
use crate::sink::Reply;

#[tokio::test]
async fn bytes_method_path_query_and_headers_arrive_unchanged() {
    let sink = Sink::start().await;
    let (server, bucket) = relay_to(&format!("{}/base?own=1", sink.base)).await;
    let body: Vec<u8> = (0..=255).cycle().take(70_000).collect();
    let path = format!("{}/a%2Fb//../c;d=e?q=%20+&q=2&empty", input_path(&bucket));
    let answer = server
        .anonymous("REPORT", &path)
        .header("content-type", "application/x-unknown; v=1")
        .header("x-signature", "sha256=\"abc\"")
        .header("user-agent", "Tester/1.0")
        .body(body.clone())
        .send()
        .await
        .expect(200);
    assert!(!answer.header("request-id").is_empty());

    let arrived = sink.received(1).await.remove(0);
    assert_eq!(arrived.head.method.as_str(), "REPORT");
    assert_eq!(arrived.head.uri, "/base/a%2Fb//../c;d=e?own=1&q=%20+&q=2&empty");
    assert_eq!(arrived.body, body);
    let header = |name: &str| arrived.head.headers[name].to_str().expect("text").to_owned();
    assert_eq!(header("content-type"), "application/x-unknown; v=1");
    assert_eq!(header("x-signature"), "sha256=\"abc\"");
    assert_eq!(header("user-agent"), "Tester/1.0");
    assert_eq!(header("host"), sink.base.replace("http://", ""));
    assert_eq!(header("x-forwarded-for"), "127.0.0.1");
    assert_eq!(header("x-forwarded-proto"), "http");
    assert_eq!(header("x-forwarded-host"), server.base.replace("http://", ""));
    assert_eq!(header("x-webhook-relay-id").len(), 36);
}

#[tokio::test]
async fn repeated_and_opaque_headers_arrive_in_order() {
    let sink = Sink::start().await;
    let (server, bucket) = relay_to(&sink.base).await;
    let address = server.base.replace("http://", "");
    let mut stream = TcpStream::connect(&address).await.expect("connected");
    let head = format!(
        "POST {} HTTP/1.1\r\nHost: {address}\r\nX-Many: 1\r\nX-Raw: caf\u{e9}\r\nX-Many: 2\r\n\
         Transfer-Encoding: chunked\r\nConnection: close, x-hop\r\nX-Hop: 1\r\n\r\n\
         3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n",
        input_path(&bucket)
    );
    // Latin-1, as some senders do, and no UTF-8.
    let head: Vec<u8> = head.chars().map(|c| u8::try_from(u32::from(c)).expect("latin")).collect();
    stream.write_all(&head).await.expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("answered");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let arrived = sink.received(1).await.remove(0);
    let many: Vec<_> = arrived.head.headers.get_all("x-many").iter().collect();
    assert_eq!(many, ["1", "2"]);
    assert_eq!(arrived.head.headers["x-raw"].as_bytes(), b"caf\xe9");
    assert!(!arrived.head.headers.contains_key("x-hop"));
    assert_eq!(arrived.head.headers["content-length"], "5");
    assert_eq!(arrived.body, "abcde");
}

#[tokio::test]
async fn one_connection_brings_webhooks_of_every_kind() {
    let sink = Sink::start().await;
    let (server, bucket) = relay_to(&sink.base).await;
    let address = server.base.replace("http://", "");
    let path = input_path(&bucket);
    let head = format!("{path} HTTP/1.1\r\nHost: {address}\r\n");
    let long = "l".repeat(100_000);
    let requests = format!(
        "POST {head}X-Many: 1\r\nx-raw: caf\u{e9}\r\nx-many: 2\r\nContent-Length: 5\r\n\r\nplain\
         PUT {head}X-Many: 3\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n\
         POST {head}Content-Length: {}\r\n\r\n{long}\
         POST {head}Transfer-Encoding: chunked\r\n\r\n7\r\nchunked\r\n0\r\n\r\n\
         GET /v1/buckets HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {}\r\n\r\n\
         POST {head}Content-Length: 4\r\nConnection: close\r\n\r\nlast",
        long.len(),
        server.key
    );
    let requests: Vec<u8> =
        requests.chars().map(|c| u8::try_from(u32::from(c)).expect("latin")).collect();
    let stream = TcpStream::connect(&address).await.expect("connected");
    let (mut answers, mut stream) = stream.into_split();
    let sending = async { stream.write_all(&requests).await.expect("sent") };
    let mut text = String::new();
    let (read, ()) = tokio::join!(answers.read_to_string(&mut text), sending);
    read.expect("answered");
    assert_eq!(text.matches("HTTP/1.1 200 OK\r\n").count(), 6, "{text}");
    assert!(text.contains(id(&bucket)), "{text}");

    let arrived = sink.received(5).await;
    let with = |body: &str| arrived.iter().find(|arrived| arrived.body == body).expect("arrived");
    let many = |body| with(body).head.headers.get_all("x-many").iter().collect::<Vec<_>>();
    assert_eq!(many("plain"), ["1", "2"]);
    assert_eq!(with("plain").head.headers["x-raw"].as_bytes(), b"caf\xe9");
    assert_eq!(many(""), ["3"]);
    assert_eq!(with("").head.method, "PUT");
    for body in ["chunked", "last", &long] {
        assert!(many(body).is_empty());
    }
}

#[tokio::test]
async fn a_hanging_output_leaves_the_other_as_quick_as_it_was() {
    let (quick, hanging) =
        (Sink::start().await, Sink::scripted(|_| Reply::Hang(Duration::from_secs(3600))).await);
    let (server, bucket) = relay_to(&quick.base).await;
    server.output(&bucket, json!({ "name": "hanging", "destination": hanging.base })).await;
    let started = Instant::now();
    for number in 0..300 {
        let request = server.anonymous("POST", &input_path(&bucket));
        request.body(format!("{number}")).send().await.expect(200);
    }
    let mut bodies: Vec<_> =
        quick.received(300).await.into_iter().map(|arrived| arrived.body).collect();
    // Each attempt at the hanging output takes 30 s: nobody has waited for one.
    assert!(started.elapsed() < Duration::from_secs(25), "{:?}", started.elapsed());
    bodies.sort_unstable();
    bodies.dedup();
    assert_eq!(bodies.len(), 300);
    assert!(!hanging.so_far().is_empty());
}

#[tokio::test]
async fn rules_pick_the_outputs() {
    let (pushes, others) = (Sink::start().await, Sink::start().await);
    let server = Server::start().await;
    let bucket = server.bucket("events").await;
    let push = json!({ "match": {
        "type": "value", "value": "push",
        "parameter": { "source": "header", "name": "x-github-event" },
    }});
    let spec = json!({ "name": "pushes", "destination": pushes.base, "rules": push });
    server.output(&bucket, spec).await;
    let spec = json!({ "name": "others", "destination": others.base, "rules": { "not": push } });
    server.output(&bucket, spec).await;
    for event in ["push", "issues"] {
        let request =
            server.anonymous("POST", &input_path(&bucket)).header("x-github-event", event);
        request.body(event).send().await.expect(200);
    }
    assert_eq!(pushes.received(1).await[0].body, "push");
    assert_eq!(others.received(1).await[0].body, "issues");
}

#[tokio::test]
async fn a_private_destination_is_refused_unless_the_operator_allows_it() {
    let sink = Sink::start().await;
    let server = Server::start_with(&[("WEBHOOK_ALLOW_PRIVATE_DESTINATIONS", "false")]).await;
    let bucket = server.bucket("events").await;
    let path = format!("/v1/buckets/{}/outputs", bucket["id"].as_str().expect("an id"));
    let spec = json!({ "name": "inside", "destination": sink.base });
    let answer = server.request("POST", &path).json(&spec).send().await;
    answer.expect_error(400, "destination: ");
    // A name is resolved only when it is connected to.
    let named = sink.base.replace("127.0.0.1", "localhost.localdomain");
    let spec = json!({ "name": "named", "destination": named, "retries": -1 });
    server.request("POST", &path).json(&spec).send().await.expect(201);
    server.anonymous("POST", &input_path(&bucket)).send().await.expect(200);
    let told = tokio::time::timeout(crate::harness::PATIENCE, async {
        while !server.log().contains("outcome=\"failed\"") {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    told.await.expect("the attempt fails");
    assert!(sink.so_far().is_empty());
}

#[tokio::test]
async fn marks_of_a_relay_are_not_the_senders_to_write() {
    let sink = Sink::start().await;
    let (server, bucket) = relay_to(&sink.base).await;
    let request = server.anonymous("POST", &input_path(&bucket)).body("x");
    let forged = [
        ("x-webhook-relay-id", "01890a5d-ac96-774b-bcce-b302099a8057"),
        ("x-webhook-relay-replay-of", "01890a5d-ac96-774b-bcce-b302099a8057"),
        ("x-webhook-relay-anything", "1"),
        ("x-webhook-relay-hops", "2"),
        ("x-real-ip", "192.0.2.9"),
        ("forwarded", "for=192.0.2.9"),
    ];
    let request = forged.iter().fold(request, |request, (name, value)| request.header(name, value));
    request.send().await.expect(200);
    let arrived = sink.received(1).await.remove(0);
    let log = server.ended_logs(1).await.remove(0);
    let header = |name: &str| arrived.head.headers[name].to_str().expect("text").to_owned();
    assert_eq!(header("x-webhook-relay-id"), id(&log));
    assert_eq!(header("x-webhook-relay-hops"), "3");
    assert_eq!(header("x-real-ip"), "127.0.0.1");
    let host = server.base.replace("http://", "");
    let chain = format!("for=192.0.2.9, for=127.0.0.1;host=\"{host}\";proto=http");
    assert_eq!(header("forwarded"), chain);
    let stored = log["headers"].as_object().expect("headers");
    let marks: Vec<_> = stored.keys().filter(|name| name.starts_with("X-Webhook-Relay")).collect();
    assert_eq!(marks, ["X-Webhook-Relay-Hops"]);
    for name in ["x-webhook-relay-replay-of", "x-webhook-relay-anything"] {
        assert!(!arrived.head.headers.contains_key(name), "{name}");
    }
}

#[tokio::test]
async fn the_log_has_a_line_for_a_failure_and_one_for_a_success_when_that_is_asked_for() {
    let sink = Sink::start().await;
    for (filter, lines) in [("info", 1), ("info,webhook_core::attempt=debug", 2)] {
        let server = Server::start_with(&[("WEBHOOK_LOG", filter)]).await;
        let bucket = server.bucket("events").await;
        let before = sink.so_far().len();
        let broken =
            json!({ "name": "broken", "destination": "http://127.0.0.1:1", "retries": -1 });
        server.output(&bucket, broken).await;
        let works = json!({ "name": "works", "destination": sink.base });
        server.output(&bucket, works).await;
        server.anonymous("POST", &input_path(&bucket)).body("x").send().await.expect(200);
        sink.received(before + 1).await;
        server.ended_logs(2).await;
        let log = server.log();
        let failures = log.matches("outcome=\"failed\"").count();
        assert_eq!((failures, log.matches("outcome=\"sent\"").count()), (1, lines - 1), "{log}");
    }
}
