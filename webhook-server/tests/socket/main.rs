//! Connected clients over real sockets: a WebSocket client that shares no code
//! with the server's side, and the agent as a process.

#[path = "../harness/mod.rs"]
mod harness;
#[expect(dead_code, reason = "each test binary uses a part of it")]
#[path = "../delivery/sink.rs"]
mod sink;

mod agent;
mod bounds;
mod client;
mod credentials;
mod hostile;
mod leases;
mod node;
mod refusals;
mod streaming;
mod withdrawal;

use harness::Server;
use serde_json::{Value, json};

/// A server with a bucket whose only output is an internal one.
async fn relay_to_clients() -> (Server, Value) {
    relay_with(&[]).await
}

async fn relay_with(options: &[(&str, &str)]) -> (Server, Value) {
    let server = Server::start_with(options).await;
    let bucket = server.bucket("events").await;
    let output = json!({
        "name": "agent", "internal": true, "destination": "http://localhost:3000/hook"
    });
    server.output(&bucket, output).await;
    (server, bucket)
}

/// Sends a webhook to the bucket's default input.
async fn post(server: &Server, bucket: &Value, body: &str) {
    let path = format!("/v1/webhooks/{}", harness::default_input(bucket));
    server.anonymous("POST", &path).body(body.to_owned()).send().await.expect(200);
}
