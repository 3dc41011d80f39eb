//! One deadline over everything.

use std::time::Instant;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::{interval, sleep},
};

use super::{raw_server::Raw, *};

const SHORT: Duration = Duration::from_millis(150);

async fn outcome_within_short(forwarder: HttpForwarder, url: &str) -> ForwardError {
    let mut sent = request(url);
    sent.timeout = SHORT;
    let start = Instant::now();
    let error = forwarder.forward(sent).await.expect_err("no complete answer");
    let elapsed = start.elapsed();
    assert!(elapsed >= SHORT, "{elapsed:?}: {error}");
    // Far below the time that the destination would need.
    assert!(elapsed < Duration::from_secs(5), "{elapsed:?}: {error}");
    error
}

/// Writes `start` and then one byte at a time, forever.
async fn drip(mut stream: TcpStream, start: &'static str) {
    let mut tick = interval(Duration::from_millis(20));
    if stream.write_all(start.as_bytes()).await.is_ok() {
        loop {
            tick.tick().await;
            if stream.write_all(b"x").await.is_err() {
                return;
            }
        }
    }
}

#[tokio::test]
async fn a_destination_that_never_accepts() {
    // Bound, so that the kernel takes the connection, and then nobody comes.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("bound");
    let error = outcome_within_short(forwarder(), &format!("http://{address}/")).await;
    assert!(matches!(error, ForwardError::Timeout { after: SHORT, .. }), "{error:?}");
}

#[tokio::test]
async fn a_destination_that_never_answers() {
    let server = Raw::serving(async |mut stream| {
        let mut sink = Vec::new();
        let _ = stream.read_to_end(&mut sink).await;
    })
    .await;
    let error = outcome_within_short(forwarder(), &server.url("/")).await;
    assert!(matches!(error, ForwardError::Timeout { after: SHORT, .. }), "{error:?}");
    assert!(error.may_have_been_sent());
}

#[tokio::test]
async fn a_destination_that_drips_headers_or_body() {
    let server = Raw::serving(move |stream| drip(stream, "HTTP/1.1 200 OK\r\nX-Slow: ")).await;
    let error = outcome_within_short(forwarder(), &server.url("/")).await;
    assert!(matches!(error, ForwardError::Timeout { after: SHORT, .. }), "{error:?}");
    let start = "HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n";
    let server = Raw::serving(move |stream| drip(stream, start)).await;
    let error = outcome_within_short(forwarder(), &server.url("/")).await;
    let ForwardError::Incomplete { head, cause } = error else { panic!("{error:?}") };
    assert_eq!(head.status, 200);
    assert!(matches!(*cause, ForwardError::Timeout { after: SHORT, .. }), "{cause:?}");
}

#[tokio::test]
async fn a_destination_that_does_not_read_the_body() {
    let server = Raw::serving(async |stream| {
        sleep(AMPLE).await;
        drop(stream);
    })
    .await;
    let mut sent = request(&server.url("/"));
    (sent.timeout, sent.body) = (SHORT, vec![0; 32 * 1024 * 1024].into());
    let error = forwarder().forward(sent).await.expect_err("never read");
    assert!(matches!(error, ForwardError::Timeout { after: SHORT, .. }), "{error:?}");
}

#[tokio::test]
async fn a_handshake_that_hangs_has_sent_nothing() {
    let server = Raw::serving(async |mut stream| {
        let mut sink = Vec::new();
        let _ = stream.read_to_end(&mut sink).await;
    })
    .await;
    let url = url("https", "127.0.0.1", server.address);
    let error = outcome_within_short(forwarder(), &url).await;
    assert!(matches!(error, ForwardError::Connect { .. }), "{error:?}");
    assert!(!error.may_have_been_sent());
    assert_eq!(error.to_string(), "connection failed: no connection within 150 ms");
}

#[derive(Debug)]
struct Silent;

#[async_trait]
impl Resolve for Silent {
    async fn resolve(&self, _: &str) -> io::Result<Vec<IpAddr>> {
        std::future::pending().await
    }
}

#[tokio::test(start_paused = true)]
async fn a_resolver_that_hangs_is_left_at_the_connect_timeout() {
    let forwarder =
        open_builder().resolver(Arc::new(Silent)).connect_timeout(Duration::from_secs(3)).build();
    let start = tokio::time::Instant::now();
    let error =
        forwarder.forward(request("http://slow.example/")).await.expect_err("never resolved");
    assert!(matches!(error, ForwardError::Connect { .. }), "{error:?}");
    assert_eq!(start.elapsed(), Duration::from_secs(3));
}

#[tokio::test]
async fn a_deadline_beyond_the_clock_is_no_panic() -> Result<(), ForwardError> {
    let server = Raw::always("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
    let mut sent = request(&server.url("/"));
    sent.timeout = Duration::MAX;
    forwarder().forward(sent).await?;
    Ok(())
}
