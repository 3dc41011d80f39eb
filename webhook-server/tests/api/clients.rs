//! `/v1/connected-clients`

use serde_json::json;

use super::harness::Server;

#[tokio::test]
async fn nobody_is_connected_to_a_new_server() {
    let server = Server::start().await;
    let clients = server.get("/v1/connected-clients").await.expect(200).json();
    assert_eq!(clients, json!({"webhook_clients": [], "tunnel_clients": []}));
    let request = server.anonymous("GET", "/v1/connected-clients");
    request.send().await.expect_error(401, "unauthorized");
}
