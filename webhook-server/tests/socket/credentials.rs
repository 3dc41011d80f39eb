use super::{client::Client, *};

/// Key and secret of a new access token.
async fn token(server: &Server, spec: Value) -> (String, String) {
    let answer = server.request("POST", "/v1/tokens").json(&spec).send().await.expect(201).json();
    let text = |field: &str| answer[field].as_str().expect("text").to_owned();
    (text("key"), text("secret"))
}

#[tokio::test]
async fn a_token_that_may_only_subscribe_gets_the_buckets_of_its_scope() {
    let (server, bucket) = relay_to_clients().await;
    let hidden = server.bucket("hidden").await;
    let spec = json!({"scopes": {"buckets": ["events"]}, "api_access": "disabled"});
    let (key, secret) = token(&server, spec).await;
    let mut client = Client::connect(&server).await;
    client.auth(&key, &secret).await;
    client.expect_status("authenticated").await;

    client.send(json!({"action": "subscribe", "buckets": ["hidden"]})).await;
    let message = client.expect_status("subscribed").await;
    assert_eq!(message, "subscribed to buckets: ; unknown buckets: hidden");
    client.send(json!({"action": "subscribe", "buckets": []})).await;
    assert_eq!(client.expect_status("subscribed").await, "subscribed to buckets: events");
    post(&server, &hidden, "for others").await;
    post(&server, &bucket, "for it").await;
    assert_eq!(client.webhook().await["body"], "for it");
}

#[tokio::test]
async fn who_is_connected_is_listed_until_it_leaves() {
    let (server, _) = relay_to_clients().await;
    let (key, secret) = token(&server, json!({})).await;
    let mut client = Client::connect(&server).await;
    client
        .send(json!({
            "action": "auth", "key": key, "secret": secret, "client_type": "worker",
            "client_version": "1.2", "destination": "http://localhost:3000/hook"
        }))
        .await;
    client.expect_status("authenticated").await;
    let listed = server.get("/v1/connected-clients").await.expect(200).json();
    assert_eq!(listed["webhook_clients"], json!([]), "it has not subscribed yet");
    client.send(json!({"action": "subscribe", "buckets": ["events"]})).await;
    client.expect_status("subscribed").await;

    let listed = server.get("/v1/connected-clients").await.expect(200).json();
    let mut listed = listed["webhook_clients"][0].clone();
    let since = listed["subscribed_at"].take().as_i64().expect("unix seconds");
    assert!(since > 1_700_000_000, "{since}");
    let expected = json!({
        "access_token_key": key, "buckets": ["events"], "client_ip": "127.0.0.1",
        "client_type": "worker", "client_version": "1.2",
        "destination": "http://localhost:3000/hook", "subscribed_at": null,
    });
    assert_eq!(listed, expected);

    // It goes without a goodbye, as in a crash.
    drop(client);
    let gone = async {
        loop {
            let listed = server.get("/v1/connected-clients").await.expect(200).json();
            if listed["webhook_clients"] == json!([]) {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(harness::PATIENCE, gone).await.expect("its entry goes with it");
}

#[tokio::test]
async fn what_is_open_ends_with_its_credential() {
    let (server, _) = relay_to_clients().await;
    let (key, secret) = token(&server, json!({})).await;
    let subscribe = json!({"action": "subscribe", "buckets": []});
    let mut open = Client::connect(&server).await;
    open.auth(&key, &secret).await;
    open.expect_status("authenticated").await;
    open.send(subscribe.clone()).await;
    open.expect_status("subscribed").await;
    let mut early = Client::connect(&server).await;
    early.auth(&key, &secret).await;
    early.expect_status("authenticated").await;

    let path = format!("/v1/tokens/{key}");
    server.request("DELETE", &path).send().await.expect(200);
    open.expect_status("unauthorized").await;
    assert_eq!(open.closed().await, 1008);
    // It showed the token before it was withdrawn and subscribes after.
    early.send(subscribe).await;
    early.expect_status("unauthorized").await;
    assert_eq!(early.closed().await, 1008);

    let mut with_key = Client::subscribed(&server, Value::Null).await;
    server.request("POST", "/v1/account/api-key").send().await.expect(200);
    with_key.expect_status("unauthorized").await;
    assert_eq!(with_key.closed().await, 1008);
}
