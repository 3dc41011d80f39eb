//! What is believed of whom.

use futures_util::{SinkExt, StreamExt};
use tokio_tungstenite::{
    client_async,
    tungstenite::{Message, client::IntoClientRequest},
};

use super::*;
use crate::{harness::default_input, sink::Sink};

/// A server, a bucket with an output to the sink, and the path of its input.
async fn relay(options: &[(&str, &str)]) -> (Server, Sink, String) {
    let sink = Sink::start().await;
    let server = Server::start_with(options).await;
    let bucket = server.bucket("b").await;
    let rules = json!({"match": {"type": "ip-whitelist", "ip-range": "203.0.113.0/24 127.0.0.1"}});
    server.output(&bucket, json!({"destination": sink.base, "rules": rules})).await;
    let path = format!("/v1/webhooks/{}", default_input(&bucket));
    (server, sink, path)
}

const FORWARDED: &str = "inside:8080\r\nX-Forwarded-For: 192.0.2.66, 203.0.113.9\r\n\
    X-Forwarded-Proto: https\r\nX-Forwarded-Host: hooks.example.com";

#[tokio::test]
async fn a_trusted_proxy_says_who_sends() {
    let (server, sink, path) = relay(&[("WEBHOOK_TRUSTED_PROXIES", "127.0.0.0/8, ::1")]).await;
    assert_eq!(ask(&server, "POST", &path, FORWARDED).await.status, 200);
    let arrived = sink.received(1).await.remove(0).head.headers;
    assert_eq!(arrived["x-forwarded-for"], "192.0.2.66, 203.0.113.9", "each hop once");
    assert_eq!(arrived["x-forwarded-proto"], "https");
    assert_eq!(arrived["x-forwarded-host"], "hooks.example.com");
    let log = server.get("/v1/logs?limit=1").await.expect(200).json()["data"][0].clone();
    assert_eq!(log["ip_address"], "203.0.113.9");
    assert_eq!(log["headers"]["Host"], json!(["hooks.example.com"]));
    assert_eq!(log["headers"]["X-Forwarded-For"], json!(["192.0.2.66"]), "what it claimed");

    // The rule goes by the client, not by the proxy.
    let stranger = FORWARDED.replace("203.0.113.9", "198.51.100.1");
    assert_eq!(ask(&server, "POST", &path, &stranger).await.status, 200);
    let log = server.get("/v1/logs?limit=1").await.expect(200).json()["data"][0].clone();
    assert_eq!((&log["ip_address"], &log["status"]), (&json!("198.51.100.1"), &json!("rejected")));
}

#[tokio::test]
async fn nobody_else_is_believed() {
    for options in [&[][..], &[("WEBHOOK_TRUSTED_PROXIES", "10.0.0.0/8")]] {
        let (server, sink, path) = relay(options).await;
        reserve(&server, "hooks.example.com").await;
        assert_eq!(ask(&server, "POST", &path, FORWARDED).await.status, 200);
        let arrived = sink.received(1).await.remove(0).head.headers;
        assert_eq!(arrived["x-forwarded-for"], "192.0.2.66, 203.0.113.9, 127.0.0.1");
        assert_eq!(arrived["x-forwarded-proto"], "http");
        assert_eq!(arrived["x-forwarded-host"], "inside:8080");
        let log = server.get("/v1/logs?limit=1").await.expect(200).json()["data"][0].clone();
        assert_eq!(log["ip_address"], "127.0.0.1");
    }
}

#[tokio::test]
async fn a_forwarded_host_is_routed_by() {
    let (server, _sink, _) = relay(&[("WEBHOOK_TRUSTED_PROXIES", "127.0.0.1")]).await;
    reserve(&server, DOMAIN).await;
    let bucket = server.bucket("shop").await;
    input(&server, &bucket, "shop", json!({"custom_domain": DOMAIN})).await;
    let host = format!("inside:8080\r\nX-Forwarded-Host: {DOMAIN}");
    for target in ["/v1/buckets", "http://inside:8080/v1/buckets"] {
        assert_eq!(ask(&server, "POST", target, &host).await.body, "shop", "{target}");
    }
    let inside = format!("{DOMAIN}\r\nX-Forwarded-Host: inside");
    assert_eq!(ask(&server, "GET", "/healthz", &inside).await.body, "ok");
}

#[tokio::test]
async fn a_connected_client_is_where_the_proxy_says() {
    let server = Server::start_with(&[("WEBHOOK_TRUSTED_PROXIES", "127.0.0.1")]).await;
    let url = format!("ws://{}/v1/socket", address(&server));
    let mut request = url.into_client_request().expect("a request");
    let value = "203.0.113.9".parse().expect("a value");
    request.headers_mut().insert("x-forwarded-for", value);
    let (mut stream, _) = client_async(request, connect(&server).await).await.expect("a socket");
    for frame in [
        json!({"action": "auth", "key": "whr", "secret": server.key}),
        json!({"action": "subscribe"}),
    ] {
        stream.send(Message::text(frame.to_string())).await.expect("it is sent");
        timeout(PATIENCE, stream.next()).await.expect("in time").expect("open").expect("a frame");
    }
    let clients = server.get("/v1/connected-clients").await.expect(200).json();
    assert_eq!(clients["webhook_clients"][0]["client_ip"], "203.0.113.9", "{clients}");
}

#[tokio::test]
async fn a_list_that_is_none_is_refused_at_the_start() {
    let server = Server::start().await;
    let output = server.command(&["--trusted-proxies", "10.0.0.0/8,proxy", "migrate"]).await;
    assert!(!output.status.success());
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("\"proxy\" is not a network"), "{text}");
}
