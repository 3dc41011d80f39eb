//! Webhooks through the real server over real sockets: what arrives at a real
//! HTTP destination, what the sender is told, and what a crash does.

#[path = "../harness/mod.rs"]
mod harness;

mod answering;
mod commits;
mod crash;
mod credentials;
mod crons;
mod destinations;
mod forwarding;
mod functions;
mod pausing;
mod postgres;
mod readiness;
mod retrying;
mod signing;
mod sink;
mod takeover;
mod twins;
mod verified;

use harness::{Server, id};
use serde_json::{Value, json};
use sink::Sink;

/// A server with a bucket whose only output is `destination`.
async fn relay_to(destination: &str) -> (Server, Value) {
    let server = Server::start().await;
    let bucket = server.bucket("events").await;
    server.output(&bucket, json!({ "name": "sink", "destination": destination })).await;
    (server, bucket)
}

/// The path of the bucket's default input.
fn input_path(bucket: &Value) -> String {
    format!("/v1/webhooks/{}", bucket["inputs"][0]["id"].as_str().expect("an id"))
}
