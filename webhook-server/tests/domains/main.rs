//! Reserved domains, proxies and TLS over real sockets against the real
//! server, with raw requests where a client library would tidy up.

mod credentials;
#[path = "../harness/mod.rs"]
mod harness;
mod proxies;
mod routing;
#[expect(dead_code, reason = "each test binary uses a part of it")]
#[path = "../delivery/sink.rs"]
mod sink;
mod tls;

use harness::{PATIENCE, Server, id};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

const DOMAIN: &str = "shop.example.com";

/// An answer, read from the bytes that came.
#[derive(Debug, PartialEq, Eq)]
struct Raw {
    status: u16,
    head: String,
    body: String,
}

/// Sends a request, to which `Connection: close` is added, and reads the answer.
async fn raw<S: AsyncRead + AsyncWrite + Unpin>(mut io: S, head: &str, body: &str) -> Raw {
    let length = body.len();
    let request = format!("{head}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}");
    let exchange = async {
        io.write_all(request.as_bytes()).await.expect("it is sent");
        let mut answer = Vec::new();
        // A peer over TLS may close without saying so.
        let _ = io.read_to_end(&mut answer).await;
        String::from_utf8_lossy(&answer).into_owned()
    };
    let answer = timeout(PATIENCE, exchange).await.expect("an answer in time");
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    Raw { status: status.unwrap_or_default(), head: head.to_owned(), body: body.to_owned() }
}

/// The address that the server listens on.
fn address(server: &Server) -> &str {
    server.base.split_once("://").expect("a scheme").1
}

async fn connect(server: &Server) -> TcpStream {
    TcpStream::connect(address(server)).await.expect("the server listens")
}

/// A request for this host without TLS.
async fn ask(server: &Server, method: &str, path: &str, host: &str) -> Raw {
    let head = format!("{method} {path} HTTP/1.1\r\nHost: {host}");
    raw(connect(server).await, &head, "x").await
}

/// Reserves a domain.
async fn reserve(server: &Server, domain: &str) -> Value {
    let spec = json!({ "domain": domain });
    server.request("POST", "/v1/domains").json(&spec).send().await.expect(201).json()
}

/// Makes an input that answers with `answer`.
async fn input(server: &Server, bucket: &Value, answer: &str, place: Value) -> Value {
    let mut spec = place;
    spec["body"] = json!(answer);
    let path = format!("/v1/buckets/{}/inputs", id(bucket));
    server.request("POST", &path).json(&spec).send().await.expect(201).json()
}
