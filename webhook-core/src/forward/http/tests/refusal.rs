//! What is not connected to, and what cannot be sent.

use super::{raw_server::Raw, *};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

fn public_only(names: Arc<Names>) -> HttpForwarder {
    HttpForwarder::builder().resolver(names).build()
}

async fn refusal(forwarder: &HttpForwarder, url: &str) -> String {
    match forwarder.forward(request(url)).await {
        Err(ForwardError::Refused(reason)) => reason,
        other => panic!("{url} was not refused: {other:?}"),
    }
}

#[tokio::test]
async fn every_spelling_of_loopback_is_refused() {
    let server = Raw::always(OK).await;
    let forwarder = HttpForwarder::builder().build();
    for host in [
        "127.0.0.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "127.1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::127.0.0.1]",
        "[64:ff9b::127.0.0.1]",
        "0.0.0.0",
        "[::]",
        "169.254.169.254",
    ] {
        let reason = refusal(&forwarder, &url("http", host, server.address)).await;
        assert!(reason.contains("is not public"), "{host}: {reason}");
    }
    assert_eq!(server.accepted(), 0);
}

#[tokio::test]
async fn localhost_resolves_and_is_refused() {
    let server = Raw::always(OK).await;
    let reason =
        refusal(&HttpForwarder::builder().build(), &url("http", "localhost", server.address)).await;
    assert_eq!(reason, "localhost resolves to an address that is not allowed");
    assert_eq!(server.accepted(), 0);
}

#[tokio::test]
async fn one_private_address_refuses_the_name() {
    let names = Names::of([("mixed.example", vec![ip("8.8.8.8"), ip("fd00::1")])]);
    let reason = refusal(&public_only(names), "http://mixed.example/").await;
    assert_eq!(reason, "mixed.example resolves to an address that is not allowed");
}

#[tokio::test]
async fn a_name_is_checked_at_each_connect() -> Result<(), ForwardError> {
    let server =
        Raw::always("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n").await;
    let names = Names::of([("hook.example", vec![ip("127.0.0.1")])]);
    let guard = AddressGuard::allowing(["127.0.0.1/32".parse().expect("net")]);
    let forwarder = HttpForwarder::builder().guard(guard).resolver(names.clone()).build();
    let url = url("http", "hook.example", server.address);
    forwarder.forward(request(&url)).await?;
    names.set("hook.example", vec![ip("127.0.0.2")]);
    refusal(&forwarder, &url).await;
    assert_eq!(server.accepted(), 1);
    Ok(())
}

#[tokio::test]
async fn the_next_address_is_tried() -> Result<(), ForwardError> {
    let server = Raw::always(OK).await;
    let addresses = ["127.0.0.9", "127.0.0.8", "::1", "127.0.0.1"].map(ip).to_vec();
    let forwarder = open_builder().resolver(Names::of([("hook.example", addresses)])).build();
    forwarder.forward(request(&url("http", "hook.example", server.address))).await?;
    assert_eq!(server.accepted(), 1);
    let host = format!("Host: hook.example:{}", server.address.port());
    assert!(server.received()[0].head.contains(&host));
    Ok(())
}

#[tokio::test]
async fn nothing_listens() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("bound");
    drop(listener);
    let error =
        forwarder().forward(request(&url("http", "127.0.0.1", address))).await.expect_err("closed");
    assert!(!error.may_have_been_sent() && error.is_retryable());
    assert_eq!(error.to_string(), "connection failed: connection refused");
}

#[tokio::test]
async fn names_without_address() {
    let forwarder = public_only(Names::of([("empty.example", vec![])]));
    for (url, message) in [
        ("http://empty.example/", "connection failed: dns: empty.example has no address"),
        (
            "http://other.example/",
            "connection failed: dns: cannot resolve other.example: no such host",
        ),
    ] {
        let error = forwarder.forward(request(url)).await.expect_err(url);
        assert!(matches!(error, ForwardError::Connect { .. }), "{error:?}");
        assert_eq!(error.to_string(), message);
    }
}

#[tokio::test]
async fn unsendable_requests() {
    let mut tunnel = request("http://8.8.8.8/");
    tunnel.method = Method::CONNECT;
    let mut crowded = request("http://127.0.0.1:1/");
    while crowded.headers.try_append("x-many", ::http::HeaderValue::from_static("1")).is_ok() {
        if crowded.headers.len() > 40_000 {
            break;
        }
    }
    for sent in [
        tunnel,
        request("ftp://8.8.8.8/"),
        request("http://user:secret@8.8.8.8/"),
        request("http://8.8.8.8:0/"),
        request("/relative"),
        with_header(request("http://8.8.8.8/"), "host", "two words"),
        with_header(request("http://8.8.8.8/"), "host", "a@b"),
    ] {
        let error = public_only(Names::of([])).forward(sent).await.expect_err("unsendable");
        assert!(matches!(error, ForwardError::Unsendable(_)), "{error:?}");
        assert!(!error.to_string().contains("secret"));
    }
    // However many headers there are, it is an error and no panic.
    assert!(forwarder().forward(crowded).await.is_err());
}

#[tokio::test]
async fn the_system_resolver_knows_localhost_and_keeps_nothing() -> io::Result<()> {
    let resolver = SystemResolver::default();
    let (a, b) = tokio::join!(resolver.resolve("localhost"), resolver.resolve("localhost"));
    assert!(a?.iter().chain(&b?).all(IpAddr::is_loopback));
    assert_eq!(resolver.running(), 0);
    Ok(())
}
