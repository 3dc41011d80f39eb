//! Publishes webhooks to NATS in place of sending them: the destination's path is the subject.
//!
//! ```text
//! cargo run -p examples --example nats_forwarder -- 127.0.0.1:4222
//! ```

use http_body_util::Full;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tower_service::Service;
use webhook_core::{
    Webhooks,
    admin::Caller,
    forward::{ForwardError, ForwardRequest, ForwardResponse, Forwarder},
    model::{BucketSpec, OutputSpec},
    store::{Stores, memory::MemoryStore},
};

/// Publishes to the server at this address.
#[derive(Debug)]
struct Nats(String);

/// On a connection of its own; a program that publishes much keeps one.
async fn publish(server: &str, subject: &str, body: &[u8]) -> std::io::Result<()> {
    let mut lines = BufReader::new(tokio::net::TcpStream::connect(server).await?).lines();
    let head = format!("CONNECT {{\"verbose\":true}}\r\nPUB {subject} {}\r\n", body.len());
    lines.get_mut().write_all(&[head.as_bytes(), body, b"\r\n"].concat()).await?;
    // What it is, and that it took the one and the other.
    for expected in ["INFO", "+OK", "+OK"] {
        let line = lines.next_line().await?.unwrap_or_default();
        if !line.starts_with(expected) {
            return Err(std::io::Error::other(line));
        }
    }
    Ok(())
}

#[async_trait::async_trait]
impl Forwarder for Nats {
    async fn forward(&self, request: ForwardRequest) -> Result<ForwardResponse, ForwardError> {
        let subject = request.url.path().trim_matches('/').replace('/', ".");
        let publishing = publish(&self.0, &subject, &request.body);
        let done = tokio::time::timeout(request.timeout, publishing).await;
        let failed = |reason| ForwardError::Connect { reason, source: None, timings: None };
        done.unwrap_or_else(|late| Err(late.into())).map_err(|error| failed(error.to_string()))?;
        Ok(ForwardResponse::empty(http::StatusCode::OK))
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:4222".into());
    let stores = Stores::of(MemoryStore::default());
    let webhooks = Webhooks::builder(stores).forwarder(Nats(server)).build();
    let admin = webhooks.admin();
    let me = Caller::for_account(admin.create_account("me", None).await?.0.id);
    let bucket = admin.create_bucket(&me, BucketSpec::new("orders")).await?;
    let output = OutputSpec::new("nats", "http://nats/example/orders");
    admin.create_output(&me, bucket.id, output).await?;
    let request = http::Request::post(format!("/v1/webhooks/{}", bucket.inputs[0].id))
        .body(Full::from("{\"total\":12}"))?;
    println!("the sender gets {}", webhooks.ingest().call(request).await?.status());
    webhooks.run_until_idle().await?;
    Ok(())
}
