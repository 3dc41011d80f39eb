//! From start to exit.

use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::harness::{Server, default_input, id};

async fn connect(server: &Server) -> TcpStream {
    let address = server.base.strip_prefix("http://").expect("an address");
    TcpStream::connect(address).await.expect("a connection")
}

async fn read_all(stream: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.expect("an answer");
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test]
async fn both_signals_end_it_with_success() {
    for signal in ["TERM", "INT"] {
        let mut server = Server::start().await;
        server.signal(signal).await;
        assert_eq!(server.ended().await.code(), Some(0), "SIG{signal}");
    }
}

#[tokio::test]
async fn what_is_in_flight_is_finished() {
    let mut server = Server::start().await;
    let mut stream = connect(&server).await;
    let body = r#"{"name":"last"}"#;
    let head = format!(
        "POST /v1/buckets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\n\
         Content-Length: {}\r\nExpect: 100-continue\r\n\r\n",
        server.key,
        body.len()
    );
    stream.write_all(head.as_bytes()).await.expect("it is sent");
    let mut interim = [0; 64];
    let read = stream.read(&mut interim).await.expect("the server asks for the body");
    assert!(interim[..read].starts_with(b"HTTP/1.1 100"));

    server.signal("TERM").await;
    // Accepting has ended when a new connection is refused.
    let address = server.base.strip_prefix("http://").expect("an address").to_owned();
    while TcpStream::connect(&address).await.is_ok() {
        tokio::task::yield_now().await;
    }
    stream.write_all(body.as_bytes()).await.expect("the connection is still there");
    let answer = read_all(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    assert_eq!(server.ended().await.code(), Some(0));
}

#[tokio::test]
async fn idle_connections_are_not_waited_for() {
    let mut server = Server::start().await;
    let bucket = server.bucket("idle").await;
    let input = default_input(&bucket);
    let webhook = format!("POST /v1/webhooks/{input} HTTP/1.1\r\nHost: x\r\n\r\n");
    let mut idle = Vec::new();
    for said in ["", &webhook, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"] {
        let mut stream = connect(&server).await;
        stream.write_all(said.as_bytes()).await.expect("it is sent");
        if !said.is_empty() {
            let mut answer = [0; 12];
            stream.read_exact(&mut answer).await.expect("an answer");
            assert_eq!(&answer, b"HTTP/1.1 200");
        }
        idle.push(stream);
    }
    server.signal("TERM").await;
    for mut stream in idle {
        // Returns when the server has closed the connection.
        read_all(&mut stream).await;
    }
    assert_eq!(server.ended().await.code(), Some(0));
    let log = server.log();
    assert!(!log.contains("were cut") && log.contains("stopped"), "{log}");
}

#[tokio::test]
async fn the_wait_for_what_is_in_flight_has_an_end() {
    let mut server = Server::start_with(&[("WEBHOOK_SHUTDOWN_TIMEOUT", "200ms")]).await;
    let mut stream = connect(&server).await;
    let head = "POST /v1/buckets HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n";
    stream.write_all(head.as_bytes()).await.expect("it is sent");
    assert_eq!(server.terminate().await.code(), Some(0));
}

#[tokio::test]
async fn everything_is_there_after_a_restart() {
    let mut server = Server::start().await;
    let bucket = server.bucket("kept").await;
    let output = server.output(&bucket, json!({"internal": true})).await;
    server.terminate().await;
    let server = server.restart().await;
    let stored = server.get(&format!("/v1/buckets/{}", id(&bucket))).await.expect(200).json();
    assert_eq!(stored["outputs"], json!([output]));
    assert_eq!(stored["inputs"], bucket["inputs"]);
}

#[tokio::test]
async fn secrets_are_encrypted_at_rest() {
    let mut server = Server::start().await;
    let spec = json!({"name": "b", "auth": {"type": "token", "token": "s3cret-t0ken-0f-a-bucket"}});
    server.request("POST", "/v1/buckets").json(&spec).send().await.expect(201);
    server.terminate().await;
    let secrets = [server.key.as_bytes(), b"s3cret-t0ken-0f-a-bucket"];
    for entry in std::fs::read_dir(server.data_dir()).expect("the data folder") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|extension| extension == "log") {
            continue;
        }
        let bytes = std::fs::read(&path).expect("a file");
        for secret in secrets {
            let found = bytes.windows(secret.len()).any(|window| window == secret);
            assert!(!found, "{} holds a secret in plain text", path.display());
        }
    }
}

#[tokio::test]
async fn a_wrong_secret_key_is_refused_at_the_start() {
    let mut server = Server::start().await;
    server.terminate().await;
    let wrong = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";
    let output = server.command(&["--secret-key", wrong]).await;
    assert!(!output.status.success());
    let text = String::from_utf8_lossy(&output.stderr).to_lowercase();
    assert!(text.contains("key"), "{text}");
    // Nothing was overwritten: the right key still fits.
    let server = server.restart().await;
    server.get("/v1/buckets").await.expect(200);
}

#[tokio::test]
async fn the_operator_may_choose_the_first_key() {
    let chosen = "sk-chosen-by-the-operator";
    let server = Server::start_with(&[("WEBHOOK_API_KEY", chosen)]).await;
    assert_eq!(server.get("/v1/account/api-key").await.expect(200).json()["api_key"], chosen);
}

#[tokio::test]
async fn header_limits_are_431() {
    let server = Server::start_with(&[("WEBHOOK_MAX_HEADERS", "10")]).await;
    let mut request = server.request("GET", "/v1/buckets");
    for n in 0..10 {
        request = request.header(&format!("x-{n}"), "1");
    }
    request.send().await.expect(431);
    let long = server.request("GET", "/v1/buckets").header("x-long", &"v".repeat(70_000));
    long.send().await.expect(431);
}

#[tokio::test]
async fn silence_is_not_waited_for() {
    let server = Server::start_with(&[("WEBHOOK_HEADER_TIMEOUT", "100ms")]).await;
    for said in ["", "P", "GET /healthz HTTP/1.1\r\nHo"] {
        let mut stream = connect(&server).await;
        stream.write_all(said.as_bytes()).await.expect("it is sent");
        // Returns when the server has closed the connection.
        read_all(&mut stream).await;
    }
}

#[tokio::test]
async fn connections_wait_for_a_free_place() {
    let server = Server::start_with(&[("WEBHOOK_MAX_CONNECTIONS", "1")]).await;
    let mut first = connect(&server).await;
    first.write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n").await.expect("it is sent");
    let mut start = [0; 12];
    first.read_exact(&mut start).await.expect("an answer");
    assert_eq!(&start, b"HTTP/1.1 200");

    let mut second = connect(&server).await;
    let close = b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    second.write_all(close).await.expect("it is sent");
    let waiting = tokio::time::timeout(std::time::Duration::from_millis(200), second.readable());
    assert!(waiting.await.is_err(), "the second is served beside the first");
    drop(first);
    assert!(read_all(&mut second).await.starts_with("HTTP/1.1 200"));
}

#[tokio::test]
async fn http2_is_spoken_on_the_same_port() {
    let server = Server::start().await;
    let mut stream = connect(&server).await;
    // The preface and an empty SETTINGS frame; the answer begins with SETTINGS.
    stream
        .write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0")
        .await
        .expect("it is sent");
    let mut frame = [0; 9];
    stream.read_exact(&mut frame).await.expect("an answer");
    assert_eq!(frame[3], 4, "a SETTINGS frame");
}
