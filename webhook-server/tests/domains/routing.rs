//! Which input a request comes to.

use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper_util::rt::{TokioExecutor, TokioIo};

use super::*;
use crate::{harness::default_input, sink::Sink};

const NOBODY_HERE: &str = "there is no input at this address";

#[tokio::test]
async fn a_host_is_found_in_any_spelling() {
    let server = Server::start().await;
    reserve(&server, DOMAIN).await;
    let bucket = server.bucket("b").await;
    input(&server, &bucket, "shop", json!({"custom_domain": DOMAIN})).await;
    for host in [
        "shop.example.com",
        "SHOP.Example.com",
        "shop.example.com.",
        "shop.example.com:8443",
        "Shop.example.com.:80",
    ] {
        let answer = ask(&server, "POST", "/any/path", host).await;
        assert_eq!((answer.status, &*answer.body), (200, "shop"), "{host}");
    }
    // The address in the request line goes before the header.
    for (target, host) in [("http://shop.example.com/a", "other.example"), ("/a", DOMAIN)] {
        let answer = ask(&server, "GET", target, host).await;
        assert_eq!((answer.status, &*answer.body), (200, "shop"), "{target}");
    }
    let own = ask(&server, "GET", "http://other.example/healthz", DOMAIN).await;
    assert_eq!((own.status, &*own.body), (200, "ok"));
}

#[tokio::test]
async fn an_unknown_host_is_the_servers_own() {
    let server = Server::start().await;
    reserve(&server, DOMAIN).await;
    let bucket = server.bucket("b").await;
    let webhook = format!("/v1/webhooks/{}", default_input(&bucket));
    for host in [
        "example.com",
        "a.shop.example.com",
        "xshop.example.com",
        "shop.example.com.evil.example",
        "shop.example.com..",
        "shop.example.com:http",
        "localhost",
        "127.0.0.1",
        "[::1]:80",
        "",
        "*",
    ] {
        assert_eq!(ask(&server, "GET", "/healthz", host).await.status, 200, "{host}");
        assert_eq!(ask(&server, "POST", &webhook, host).await.status, 200, "{host}");
        assert_eq!(ask(&server, "GET", "/nothing", host).await.body, "no such path", "{host}");
    }
    let old = raw(connect(&server).await, "GET /healthz HTTP/1.0", "").await;
    assert_eq!(old.status, 200, "no host at all");
}

#[tokio::test]
async fn the_longest_prefix_of_whole_segments_wins() {
    let sink = Sink::start().await;
    let server = Server::start().await;
    reserve(&server, DOMAIN).await;
    let bucket = server.bucket("b").await;
    server.output(&bucket, json!({"destination": format!("{}/to", sink.base)})).await;
    for (answer, prefix, strip) in
        [("all", "", true), ("a", "/a", false), ("ab", "/a/b/", true), ("enc", "/a%2Fb", true)]
    {
        let place = json!({
            "custom_domain": DOMAIN, "path_prefix": prefix, "strip_path_prefix": strip,
        });
        input(&server, &bucket, answer, place).await;
    }
    for (path, answer, forwarded) in [
        ("/", "all", "/to"),
        ("/?q=1", "all", "/to?q=1"),
        ("/other/x", "all", "/to/other/x"),
        ("/ab", "all", "/to/ab"),
        ("/A", "all", "/to/A"),
        ("/a", "a", "/to/a"),
        ("/a/bc/d", "a", "/to/a/bc/d"),
        ("/a//b", "a", "/to/a//b"),
        ("/a/b", "ab", "/to"),
        ("/a/b/", "ab", "/to/"),
        ("/a/b/c%2F..//d?q=%20", "ab", "/to/c%2F..//d?q=%20"),
        ("/a%2Fb/c", "enc", "/to/c"),
        ("/a%2fb/c", "all", "/to/a%2fb/c"),
    ] {
        sink.forget();
        let found = ask(&server, "POST", path, DOMAIN).await;
        assert_eq!((found.status, &*found.body), (200, answer), "{path}");
        while sink.so_far().is_empty() {
            sink.received(1).await;
            tokio::task::yield_now().await;
        }
        let arrived = sink.so_far().remove(0);
        assert_eq!(arrived.head.uri, forwarded, "{path}");
        assert_eq!(arrived.head.headers["x-forwarded-host"], DOMAIN);
    }
}

#[tokio::test]
async fn without_a_match_it_is_404_in_plain_text() {
    let server = Server::start().await;
    reserve(&server, DOMAIN).await;
    let answer = ask(&server, "POST", "/", DOMAIN).await;
    assert_eq!((answer.status, &*answer.body), (404, NOBODY_HERE), "no input at all");
    assert!(answer.head.to_lowercase().contains("content-type: text/plain"), "{}", answer.head);
    let bucket = server.bucket("b").await;
    input(&server, &bucket, "a", json!({"custom_domain": DOMAIN, "path_prefix": "/a"})).await;
    for path in ["/", "/ab", "/b/a", "*"] {
        assert_eq!(ask(&server, "OPTIONS", path, DOMAIN).await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn the_management_api_is_not_there() {
    let server = Server::start().await;
    reserve(&server, DOMAIN).await;
    let bucket = server.bucket("b").await;
    let foreign = format!("/v1/webhooks/{}", default_input(&bucket));
    let paths = [
        "/",
        "/v1/buckets",
        "/v1/domains",
        "/v1/account/api-key",
        "/v1/socket",
        "/healthz",
        "/readyz",
        "/metrics",
        "/openapi.json",
        "/docs",
        "/docs/",
        "//v1/buckets",
        &foreign,
    ];
    let key = format!("{DOMAIN}\r\nAuthorization: Bearer {}x", server.key);
    for path in paths {
        let answer = ask(&server, "GET", path, &key).await;
        assert_eq!((answer.status, &*answer.body), (404, NOBODY_HERE), "{path}");
    }
    let upgrade = format!(
        "{DOMAIN}\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="
    );
    assert_eq!(ask(&server, "GET", "/v1/socket", &upgrade).await.status, 404);

    // With an input for everything, all of them are only paths.
    input(&server, &bucket, "shop", json!({"custom_domain": DOMAIN})).await;
    for path in paths {
        let answer = ask(&server, "POST", path, &key).await;
        assert_eq!((answer.status, &*answer.body), (200, "shop"), "{path}");
        // What it is, the input's owner says.
        assert!(!answer.head.to_lowercase().contains("x-content-type-options"), "{path}");
    }
    let buckets = server.get("/v1/buckets").await.expect(200).json();
    assert_eq!(buckets.as_array().map(Vec::len), Some(1), "nothing was made");
}

#[tokio::test]
async fn more_than_one_host_is_400() {
    let server = Server::start().await;
    reserve(&server, DOMAIN).await;
    for path in ["/healthz", "/v1/buckets", "http://other.example/healthz"] {
        let hosts = format!("other.example\r\nHost: {DOMAIN}");
        let answer = ask(&server, "GET", path, &hosts).await;
        assert_eq!(answer.status, 400, "{path}");
        assert_eq!(answer.body, "Host: the header is given more than once");
    }
}

#[tokio::test]
async fn http2_names_the_host_in_authority() {
    let server = Server::start().await;
    reserve(&server, DOMAIN).await;
    let bucket = server.bucket("b").await;
    input(&server, &bucket, "shop", json!({"custom_domain": DOMAIN, "path_prefix": "/a"})).await;
    let io = TokioIo::new(connect(&server).await);
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), io).await.expect("h2c");
    let driver = tokio::spawn(connection);
    for (url, host, status, body) in [
        ("http://shop.example.com/a/x", None, 200, "shop"),
        ("http://SHOP.example.com:8080/a/x", None, 200, "shop"),
        ("http://shop.example.com/healthz", None, 404, NOBODY_HERE),
        ("http://shop.example.com/healthz", Some("other.example"), 404, NOBODY_HERE),
        ("http://other.example/healthz", None, 200, "ok"),
        ("http://other.example/healthz", Some(DOMAIN), 200, "ok"),
    ] {
        let mut request = Request::post(url);
        if body == "ok" {
            request = Request::get(url);
        }
        if let Some(host) = host {
            request = request.header("host", host);
        }
        let request = request.body(Full::<Bytes>::default()).expect("a request");
        let answer = sender.send_request(request).await.expect("an answer");
        assert_eq!(answer.status(), StatusCode::from_u16(status).expect("a status"), "{url}");
        let found = answer.into_body().collect().await.expect("a body").to_bytes();
        assert_eq!(found, body, "{url}");
    }
    driver.abort();
}

#[tokio::test]
async fn changes_are_seen_by_the_next_request() {
    let server = Server::start().await;
    assert_eq!(ask(&server, "GET", "/healthz", DOMAIN).await.status, 200);
    let domain = reserve(&server, DOMAIN).await;
    assert_eq!(ask(&server, "GET", "/healthz", DOMAIN).await.status, 404);
    let other = reserve(&server, "other.example.com").await;
    let bucket = server.bucket("b").await;
    let made = input(&server, &bucket, "1", json!({"custom_domain": DOMAIN})).await;
    assert_eq!(ask(&server, "POST", "/x", DOMAIN).await.body, "1");

    let path = format!("/v1/buckets/{}/inputs/{}", id(&bucket), id(&made));
    let put = |spec: Value| server.request("PUT", &path).json(&spec).send();
    put(json!({"custom_domain": DOMAIN, "body": "2", "path_prefix": "/x"})).await.expect(200);
    assert_eq!(ask(&server, "POST", "/x", DOMAIN).await.body, "2");
    assert_eq!(ask(&server, "POST", "/y", DOMAIN).await.status, 404);
    put(json!({"custom_domain": "other.example.com", "body": "3"})).await.expect(200);
    assert_eq!(ask(&server, "POST", "/x", DOMAIN).await.status, 404);
    assert_eq!(ask(&server, "POST", "/x", "other.example.com").await.body, "3");
    server.request("DELETE", &path).send().await.expect(200);
    assert_eq!(ask(&server, "POST", "/x", "other.example.com").await.status, 404);

    input(&server, &bucket, "4", json!({"custom_domain": DOMAIN})).await;
    assert_eq!(ask(&server, "POST", "/x", DOMAIN).await.body, "4");
    let path = format!("/v1/buckets/{}?force=true", id(&bucket));
    server.request("DELETE", &path).send().await.expect(200);
    assert_eq!(ask(&server, "POST", "/x", DOMAIN).await.status, 404);
    for domain in [domain, other] {
        let path = format!("/v1/domains/{}", id(&domain));
        server.request("DELETE", &path).send().await.expect(200);
    }
    assert_eq!(ask(&server, "GET", "/healthz", DOMAIN).await.status, 200);
}

#[tokio::test]
async fn the_servers_own_name_stays_its_own() {
    let url = "http://Relay.example.com:8080";
    let mut server = Server::start().await;
    // Reserved before the operator gave the server this name.
    reserve(&server, "relay.example.com").await;
    assert_eq!(ask(&server, "GET", "/healthz", "relay.example.com").await.status, 404);
    server.terminate().await;
    let server = server.restart_with(&[("WEBHOOK_PUBLIC_URL", url)]).await;
    assert_eq!(ask(&server, "GET", "/healthz", "relay.example.com").await.status, 200);
}
