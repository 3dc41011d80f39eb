//! `/v1/config`

use serde_json::json;

use super::harness::Server;

#[tokio::test]
async fn get() {
    let server = Server::start().await;
    let config = server.get("/v1/config").await.expect(200).json();
    assert_eq!(config, json!({"version": env!("CARGO_PKG_VERSION"), "turnstile_disabled": true}));
}
