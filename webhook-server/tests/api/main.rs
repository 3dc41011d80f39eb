//! Every operation of the interface with every status it lists, over real
//! sockets against the real server. The modules mirror the URLs.

mod account_api_key;
mod backup;
mod bad_input;
mod billing;
mod buckets;
mod checkout;
mod clients;
mod command_line;
mod compare;
mod config;
mod credentials;
mod crons;
#[cfg(feature = "dashboard")]
mod dashboard;
mod data_folder;
mod deploy;
mod dev;
mod document;
mod domains;
mod erase_command;
mod events;
mod examples;
mod explain;
mod extensions;
mod first_start;
mod function_must;
mod functions;
mod functions_model;
#[path = "../harness/mod.rs"]
mod harness;
mod inputs;
mod leases;
mod lifecycle;
mod localstripe;
mod logs;
mod manifest;
mod mcp;
mod metrics;
mod notifications;
mod output_credentials;
mod outputs;
mod pages;
mod pauses;
mod published;
mod push;
mod replay_command;
mod rules;
mod shutdown;
mod signature_check;
#[path = "../delivery/sink.rs"]
#[expect(dead_code, reason = "a part of it is used here")]
mod sink;
mod stripe;
mod stripe_webhook;
mod tokens;
mod traces;
mod usage;
mod versions;

use base64::{Engine, engine::general_purpose::STANDARD};
use harness::{Answer, Server, default_input};
use serde_json::Value;

/// An ID that names nothing.
const NOBODY: &str = "01890a5d-ac96-774b-bcce-b302099a8057";

/// Sends a webhook to the bucket's default input.
async fn send(server: &Server, bucket: &Value, body: &str) -> Answer {
    let path = format!("/v1/webhooks/{}", default_input(bucket));
    server.anonymous("POST", &path).body(body.to_owned()).send().await.expect(200)
}

/// The credential of a new access token, as an `Authorization` header.
async fn token(server: &Server, spec: Value) -> String {
    let answer = server.request("POST", "/v1/tokens").json(&spec).send().await.expect(201).json();
    basic(&answer)
}

/// `Basic key:secret`
fn basic(credential: &Value) -> String {
    let text = |field: &str| credential[field].as_str().expect("text").to_owned();
    format!("Basic {}", STANDARD.encode(format!("{}:{}", text("key"), text("secret"))))
}
