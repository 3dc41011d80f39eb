//! Webhooks through the real server over real sockets: what arrives at a real
//! HTTP destination, what the sender is told, and what a crash does.

#[path = "../harness/mod.rs"]
mod harness;

mod answering;
mod answers;
mod commits;
mod crash;
mod credentials;
mod crons;
mod deleting;
mod destinations;
mod erasing;
mod forwarding;
mod functions;
mod loops;
mod notifications;
mod objects;
mod paths;
mod pausing;
mod postgres;
mod readiness;
mod reading;
mod replays;
mod retrying;
mod signing;
mod sink;
mod takeover;
mod throttled;
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

/// What the first example of a page answers, run by `sh` with these names set beside those
/// of the server and its key; none where there is no curl.
async fn example_of(page: &str, server: &Server, names: &[(&str, &str)]) -> Option<Vec<u8>> {
    let page = format!("{}/../docs/{page}", env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(page).expect("the page is there");
    let (_, script) = page.split_once("```sh\n").expect("an example");
    let (script, _) = script.split_once("\n```").expect("its end");
    match tokio::process::Command::new("curl").arg("--version").output().await {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            println!("skipped: there is no curl on this machine");
            return None;
        }
        curl => drop(curl.expect("it runs")),
    }
    let mut shell = tokio::process::Command::new("sh");
    shell.args(["-ec", script]).env("SERVER", &server.base).env("KEY", &server.key);
    Some(shell.envs(names.iter().copied()).output().await.expect("sh starts").stdout)
}
