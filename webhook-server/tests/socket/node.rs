//! The npm package `ws`, an implementation that has nothing to do with ours.

use tokio::process::Command;

use super::{client::Client, *};

const SCRIPT: &str = r#"
const { createRequire } = require('node:module');
const WebSocket = createRequire(process.env.WS_FROM + '/')('ws');
const socket = new WebSocket(process.env.WS_URL);
const say = (frame) => socket.send(JSON.stringify(frame));
socket.on('open', () => say({ action: 'auth', key: 'whr', secret: process.env.WS_KEY }));
socket.on('message', (text) => {
  const frame = JSON.parse(text);
  if (frame.status === 'authenticated') say({ action: 'subscribe', buckets: [''] });
  if (frame.type === 'webhook') {
    console.log(frame.meta.bucked_id + ' ' + frame.body);
    socket.close(1000);
  }
});
socket.on('close', () => process.exit(0));
socket.on('error', (error) => { console.error(error); process.exit(1); });
"#;

#[tokio::test]
#[allow(clippy::disallowed_methods, reason = "what a test needs from outside comes in variables")]
async fn the_npm_package_ws_is_served() {
    // Where `ws` is installed: NODE_WS_DIR, or what node itself finds.
    let from = std::env::var("NODE_WS_DIR").unwrap_or_else(|_| ".".to_owned());
    let probe = "require('node:module').createRequire(require('node:path').resolve(process.argv[1]) + '/')('ws')";
    let probed = Command::new("node").args(["-e", probe, &from]).output().await;
    if !probed.is_ok_and(|probed| probed.status.success()) {
        println!("skipped: node with the npm package ws is not installed (set NODE_WS_DIR)");
        return;
    }
    let from = std::path::absolute(from).expect("a folder");
    let (server, bucket) = relay_to_clients().await;
    post(&server, &bucket, "for node").await;
    let output = Command::new("node")
        .args(["-e", SCRIPT])
        .env("WS_FROM", from)
        .env("WS_URL", format!("{}/v1/socket", server.base.replace("http", "ws")))
        .env("WS_KEY", &server.key)
        .output();
    let output = tokio::time::timeout(harness::PATIENCE, output).await.expect("in time");
    let output = output.expect("node starts");
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(said.trim(), format!("{} for node", harness::id(&bucket)), "{output:?}");
    // Its place is free again and nothing is in its hands any more.
    let mut client = Client::subscribed(&server, Value::Null).await;
    assert_eq!(client.webhook().await["body"], "for node");
}
