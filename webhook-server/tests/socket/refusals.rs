use std::time::{Duration, Instant};

use tokio_tungstenite::tungstenite::Message;

use super::{client::Client, *};

#[tokio::test]
async fn wrong_credentials_are_refused() {
    let server = Server::start().await;
    for (key, secret) in [
        ("whr", "sk-wrong-wrong-wrong"),
        ("whr", ""),
        ("", ""),
        ("01890a5d-ac96-774b-bcce-b302099a8057", "x"),
        ("nobody", &*server.key),
    ] {
        let mut client = Client::connect(&server).await;
        client.auth(key, secret).await;
        client.expect_status("unauthorized").await;
        assert_eq!(client.closed().await, 1008);
    }
    let mut client = Client::connect(&server).await;
    client.send(json!({"action": "subscribe", "buckets": []})).await;
    client.expect_status("unauthorized").await;
    assert_eq!(client.closed().await, 1008);
}

#[tokio::test]
async fn what_is_no_frame_is_refused_and_nobody_else_is_affected() {
    let (server, bucket) = relay_to_clients().await;
    let mut good = Client::subscribed(&server, Value::Null).await;
    let giant = format!(r#"{{"action":"{}"}}"#, "x".repeat(1 << 20));
    for authenticated in [false, true] {
        for (message, code) in [
            (Message::text("no JSON"), 1007),
            (Message::text("[]"), 1007),
            (Message::text("\"auth\""), 1007),
            (Message::binary(b"{}".as_slice()), 1003),
            (Message::text(giant.clone()), 1009),
        ] {
            let mut client = match authenticated {
                true => Client::authenticated(&server).await,
                false => Client::connect(&server).await,
            };
            client.send_raw(message).await;
            assert!(!client.expect_status("error").await.is_empty());
            assert_eq!(client.closed().await, code);
        }
    }
    post(&server, &bucket, "still there").await;
    assert_eq!(good.webhook().await["body"], "still there");
}

#[tokio::test]
async fn a_client_more_than_the_plan_includes_is_refused() {
    let plans = r#"{"plans": [{"name": "free", "limits": {"agents": 1}}]}"#;
    let (server, bucket) = relay_with(&[("WEBHOOK_PLANS", plans)]).await;
    let mut first = Client::subscribed(&server, Value::Null).await;
    let mut second = Client::authenticated(&server).await;
    second.send(json!({"action": "subscribe", "buckets": []})).await;
    let said = second.expect_status("error").await;
    assert!(said.contains("includes 1 connected clients"), "{said}");
    assert_eq!(second.closed().await, 1008);
    // The first may change what it listens to.
    first.send(json!({"action": "subscribe", "buckets": ["events"]})).await;
    first.expect_status("subscribed").await;
    post(&server, &bucket, "x").await;
    first.webhook().await;
    assert_eq!(server.get("/v1/usage").await.json()["usage"]["agents"], 1);
}

#[tokio::test]
async fn an_unknown_action_is_told_and_the_client_stays() {
    let (server, bucket) = relay_to_clients().await;
    let mut client = Client::subscribed(&server, Value::Null).await;
    client.send(json!({"action": "dance"})).await;
    assert!(client.expect_status("error").await.contains("unknown action"));
    client.auth("whr", &server.key).await;
    assert!(client.expect_status("error").await.contains("already"));
    post(&server, &bucket, "x").await;
    client.webhook().await;
}

#[tokio::test]
async fn who_never_says_who_it_is_is_closed_after_ten_seconds() {
    let server = Server::start().await;
    let mut client = Client::connect(&server).await;
    let started = Instant::now();
    client.expect_status("unauthorized").await;
    assert_eq!(client.closed().await, 1008);
    let took = started.elapsed();
    assert!(took >= Duration::from_secs(9) && took < Duration::from_secs(20), "{took:?}");
}

#[tokio::test]
async fn what_is_no_handshake_is_refused() {
    let server = Server::start().await;
    server.anonymous("GET", "/v1/socket").send().await.expect_error(426, "WebSocket");
    let request = server.anonymous("GET", "/v1/socket").header("upgrade", "websocket");
    request.header("connection", "upgrade").send().await.expect_error(400, "handshake");
    server.anonymous("POST", "/v1/socket").send().await.expect_error(405, "POST");
}
