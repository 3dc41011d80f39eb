//! TLS and HTTP/2.

use ::http::Version;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{
    tls_server::{Identity, TlsServer, expired, own_authority, self_signed},
    *,
};

const BOTH: &[&str] = &["h2", "http/1.1"];

fn trusting(server: &TlsServer) -> HttpForwarder {
    let pem = server.certificate_pem.as_bytes();
    open_builder().add_root_certificates(pem).expect("a certificate").build()
}

fn unverified(url: &str) -> ForwardRequest {
    ForwardRequest { tls_verification: false, ..request(url) }
}

async fn connect_error(forwarder: &HttpForwarder, url: &str) -> String {
    let error = forwarder.forward(request(url)).await.expect_err("not to be trusted");
    assert!(
        matches!(error, ForwardError::Connect { .. }) && !error.may_have_been_sent(),
        "{error:?}"
    );
    error.to_string()
}

#[tokio::test]
async fn a_self_signed_certificate_needs_a_root_or_no_verification() -> Result<(), ForwardError> {
    for (alpn, version) in
        [(BOTH, Version::HTTP_2), (&["http/1.1"], Version::HTTP_11), (&[], Version::HTTP_11)]
    {
        let server = TlsServer::start(self_signed(&["127.0.0.1"]), alpn).await;
        let forwarder = forwarder();
        let untrusted = "connection failed: tls: certificate is not issued by a trusted authority";
        assert_eq!(connect_error(&forwarder, &server.url("/")).await, untrusted);
        assert_eq!(forwarder.forward(unverified(&server.url("/"))).await?.body, "payload");
        // The unverified connection is kept, and not for those who verify.
        assert_eq!(forwarder.unverified.len(), 1);
        assert_eq!(connect_error(&forwarder, &server.url("/")).await, untrusted);
        assert_eq!(trusting(&server).forward(request(&server.url("/"))).await?.body, "payload");
        assert!(server.received().iter().all(|received| received.version == version), "{alpn:?}");
        assert_eq!(server.received().len(), 2);
    }
    Ok(())
}

#[tokio::test]
async fn who_speaks_for_itself_gets_http1_and_the_same_checks() -> Result<(), ForwardError> {
    let server = TlsServer::start(self_signed(&["127.0.0.1"]), BOTH).await;
    let url = server.url("/anything").parse().expect("a URL");
    let untrusted = forwarder().connect_http1(&url, true).await.err().expect("not trusted");
    let said = "connection failed: tls: certificate is not issued by a trusted authority";
    assert_eq!(untrusted.to_string(), said);

    let mut connection = trusting(&server).connect_http1(&url, true).await?;
    let request = "GET /own HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    connection.write_all(request.as_bytes()).await.expect("it is open");
    let mut answer = String::new();
    connection.read_to_string(&mut answer).await.expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert_eq!(server.received().len(), 1);

    let guarded = HttpForwarder::builder().build().connect_http1(&url, true).await;
    assert!(matches!(guarded.err(), Some(ForwardError::Refused(_))));
    Ok(())
}

#[tokio::test]
async fn what_is_wrong_with_a_certificate_is_said() -> Result<(), ForwardError> {
    let server = TlsServer::start(expired(), BOTH).await;
    let said = connect_error(&trusting(&server), &server.url("/")).await;
    assert_eq!(said, "connection failed: tls: certificate has expired");
    forwarder().forward(unverified(&server.url("/"))).await?;

    let server = TlsServer::start(self_signed(&["other.example"]), BOTH).await;
    let said = connect_error(&trusting(&server), &server.url("/")).await;
    assert_eq!(said, "connection failed: tls: certificate is for another host");

    let plain = raw_server::Raw::serving(async |mut stream| {
        let answer = b"HTTP/1.1 400 Bad Request\r\n\r\n";
        let _ = tokio::io::AsyncWriteExt::write_all(&mut stream, answer).await;
    })
    .await;
    let url = url("https", "127.0.0.1", plain.address);
    let said = connect_error(&forwarder(), &url).await;
    let wanted = "connection failed: tls: the destination does not speak TLS at this port: its \
        address may begin with http://";
    assert_eq!(said, wanted);
    Ok(())
}

#[tokio::test]
async fn a_certificate_that_is_its_own_authority_is_trusted_by_name() -> Result<(), ForwardError> {
    let server = TlsServer::start(own_authority(), BOTH).await;
    let said = connect_error(&forwarder(), &server.url("/")).await;
    let wanted = "connection failed: tls: the certificate is self-signed: it is its own \
        authority, and no trusted one";
    assert_eq!(said, wanted);
    if let Some(identity) = Identity::of_openssl() {
        let server = TlsServer::start(identity, BOTH).await;
        assert_eq!(connect_error(&forwarder(), &server.url("/")).await, wanted);
        assert_eq!(trusting(&server).forward(request(&server.url("/"))).await?.body, "payload");
    }
    let trusting = trusting(&server);
    assert_eq!(trusting.forward(request(&server.url("/"))).await?.body, "payload");
    let other = open_builder()
        .add_root_certificates(server.certificate_pem.as_bytes())
        .expect("a certificate")
        .resolver(Names::of([("other.example", vec![ip("127.0.0.1")])]))
        .build();
    let said = connect_error(&other, &url("https", "other.example", server.address)).await;
    assert_eq!(said, "connection failed: tls: certificate is for another host");
    // A certificate that was not named is refused.
    let another = TlsServer::start(own_authority(), BOTH).await;
    assert_eq!(connect_error(&trusting, &another.url("/")).await, wanted);
    Ok(())
}

#[tokio::test]
async fn plain_http_to_a_port_with_tls_is_told() {
    let server = TlsServer::start(self_signed(&["127.0.0.1"]), BOTH).await;
    let url = url("http", "127.0.0.1", server.address);
    let error = forwarder().forward(request(&url)).await.expect_err("no answer over http");
    let said = "the destination speaks TLS at this port: its address begins with https://";
    assert!(error.to_string().ends_with(said), "{error}");
}

#[tokio::test]
async fn a_destination_that_wants_a_certificate_is_told() {
    for version in [&rustls::version::TLS13, &rustls::version::TLS12] {
        for alpn in [&["http/1.1"][..], BOTH] {
            let server = TlsServer::wanting_certificates(version, alpn).await;
            let forwarder = trusting(&server);
            let error = forwarder.forward(request(&server.url("/"))).await.expect_err("no answer");
            let said = "tls: the destination wants a client certificate, and none is sent";
            assert!(error.to_string().ends_with(said), "{alpn:?}: {error}");
        }
    }
}

#[tokio::test]
async fn a_name_is_verified_and_the_host_may_differ() -> Result<(), ForwardError> {
    for (alpn, version) in [(BOTH, Version::HTTP_2), (&["http/1.1"], Version::HTTP_11)] {
        let server = TlsServer::start(self_signed(&["hook.example"]), alpn).await;
        let forwarder = open_builder()
            .add_root_certificates(server.certificate_pem.as_bytes())
            .expect("a certificate")
            .resolver(Names::of([("hook.example", vec![ip("127.0.0.1")])]))
            .build();
        let url = url("https", "hook.example", server.address);
        forwarder.forward(request(&url)).await?;
        forwarder.forward(with_header(request(&url), "host", "tenant.example:99")).await?;
        let [plain, overridden] = &server.received()[..] else { panic!("two requests") };
        let expected = format!("hook.example:{}", server.address.port());
        for (received, authority) in [(plain, &expected[..]), (overridden, "tenant.example:99")] {
            assert_eq!(received.version, version);
            if version == Version::HTTP_2 {
                assert_eq!(received.uri.authority().map(|a| a.as_str()), Some(authority));
                assert!(!received.headers.contains_key("host"));
            } else {
                assert_eq!(received.headers["host"], authority);
            }
        }
        assert_eq!(server.accepted(), 1);
    }
    Ok(())
}

#[tokio::test]
async fn http2_carries_everything_on_one_connection() -> Result<(), ForwardError> {
    let server = TlsServer::start(self_signed(&["127.0.0.1"]), BOTH).await;
    let forwarder = trusting(&server);
    let mut sent = with_header(request(&server.url("/a%20b?x=1&x=2")), "x-twice", "1");
    sent = with_header(sent, "x-twice", "2");
    sent.method = Method::from_bytes(b"PURGE").expect("a token");
    forwarder.forward(sent).await?;
    let received = &server.received()[0];
    assert_eq!((received.version, received.method.as_str()), (Version::HTTP_2, "PURGE"));
    assert_eq!(received.uri.path_and_query().map(|p| p.as_str()), Some("/a%20b?x=1&x=2"));
    assert_eq!(received.headers.get_all("x-twice").iter().collect::<Vec<_>>(), ["1", "2"]);
    assert_eq!(
        (&received.headers["content-length"], &received.body[..]),
        (&"7".parse().expect("value"), &b"payload"[..])
    );

    let answers = (0..50).map(|_| forwarder.forward(request(&server.url("/"))));
    for answer in futures_util::future::join_all(answers).await {
        assert_eq!(answer?.body, "payload");
    }
    assert_eq!((server.accepted(), server.received().len(), forwarder.verified.len()), (1, 51, 1));
    Ok(())
}

#[tokio::test]
async fn http2_cuts_at_the_cap_and_goes_on() -> Result<(), ForwardError> {
    let server = TlsServer::start(self_signed(&["127.0.0.1"]), BOTH).await;
    let forwarder = trusting(&server);
    let body = bytes::Bytes::from(vec![7; 16 * 1024 * 1024]);
    for (cap, truncated) in [(1000, true), (body.len(), false)] {
        let mut sent = request(&server.url("/"));
        (sent.body, sent.max_response_bytes) = (body.clone(), cap);
        let response = forwarder.forward(sent).await?;
        assert_eq!((response.body.len(), response.truncated), (cap, truncated));
    }
    assert_eq!(server.accepted(), 1);
    Ok(())
}

#[tokio::test]
async fn a_silent_http2_connection_is_left() -> Result<(), ForwardError> {
    let server = TlsServer::start(self_signed(&["127.0.0.1"]), BOTH).await;
    let forwarder = trusting(&server);
    forwarder.forward(request(&server.url("/"))).await?;
    let mut sent = request(&server.url("/hang"));
    sent.timeout = Duration::from_millis(100);
    let error = forwarder.forward(sent).await.expect_err("never answered");
    assert!(matches!(error, ForwardError::Timeout { .. }), "{error:?}");
    assert_eq!(forwarder.verified.len(), 0);
    forwarder.forward(request(&server.url("/"))).await?;
    assert_eq!(server.accepted(), 2);
    Ok(())
}

#[test]
fn roots_are_checked_when_added() {
    for pem in
        ["", "no certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"]
    {
        let error = HttpForwarder::builder().add_root_certificates(pem.as_bytes()).expect_err(pem);
        assert!(error.to_string().starts_with("root certificates: "), "{error}");
    }
}
