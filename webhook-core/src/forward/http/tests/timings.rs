//! Each part slow in turn: its time is told, and the others' is not in it.

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    time::sleep,
};

use super::{
    raw_server::Raw,
    tls_server::{TlsServer, self_signed},
    *,
};
use crate::forward::Timings;

const SLOW: Duration = Duration::from_millis(120);
const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// Knows one address, and takes its time to say it.
#[derive(Debug)]
struct SlowNames(Duration);

#[async_trait]
impl Resolve for SlowNames {
    async fn resolve(&self, _: &str) -> io::Result<Vec<IpAddr>> {
        sleep(self.0).await;
        Ok(vec![ip("127.0.0.1")])
    }
}

/// Reads a request, waits, answers the head, waits and answers the body.
async fn slow_server(before_head: Duration, before_rest: Duration) -> Raw {
    Raw::serving(move |mut stream| async move {
        let mut bytes = [0; 4096];
        while stream.read(&mut bytes).await.is_ok_and(|read| read > 0) {
            sleep(before_head).await;
            let _ = stream.write_all(&OK.as_bytes()[..OK.len() - 2]).await;
            sleep(before_rest).await;
            let _ = stream.write_all(b"ok").await;
        }
    })
    .await
}

fn is_slow(part: Option<Duration>) -> bool {
    part.is_some_and(|part| part >= SLOW)
}

#[tokio::test]
async fn a_name_that_is_found_late() -> Result<(), ForwardError> {
    let server = Raw::always(OK).await;
    let forwarder = open_builder().resolver(Arc::new(SlowNames(SLOW))).build();
    let sent = request(&url("http", "slow.example", server.address));
    let Timings { resolve, connect, tls, first_byte, total, address, reused, .. } =
        forwarder.forward(sent.clone()).await?.timings;
    assert!(is_slow(resolve) && connect.is_some() && first_byte.is_some(), "{resolve:?}");
    assert_eq!((tls, address, reused), (None, Some(server.address), false));
    let parts: Duration = [resolve, connect, first_byte].into_iter().flatten().sum();
    assert!(total >= parts, "{total:?} is less than its parts {parts:?}");

    let again = forwarder.forward(sent).await?.timings;
    assert_eq!((again.resolve, again.connect, again.tls), (None, None, None));
    assert_eq!((again.address, again.reused), (Some(server.address), true));
    assert!(again.first_byte.is_some_and(|part| part <= again.total));
    Ok(())
}

#[tokio::test]
async fn an_answer_that_begins_or_ends_late() -> Result<(), ForwardError> {
    let server = slow_server(SLOW, Duration::ZERO).await;
    let timings = forwarder().forward(request(&server.url("/"))).await?.timings;
    assert!(is_slow(timings.first_byte) && timings.resolve.is_none(), "{timings:?}");

    let server = slow_server(Duration::ZERO, SLOW).await;
    let timings = forwarder().forward(request(&server.url("/"))).await?.timings;
    let rest = timings.first_byte.and_then(|part| timings.total.checked_sub(part));
    assert!(is_slow(rest), "{timings:?}");
    Ok(())
}

#[tokio::test]
async fn a_handshake_has_its_own_time() -> Result<(), ForwardError> {
    for alpn in ["h2", "http/1.1"] {
        let server = TlsServer::start(self_signed(&["127.0.0.1"]), &[alpn]).await;
        let forwarder = forwarder();
        let mut sent = request(&server.url("/"));
        sent.tls_verification = false;
        let first = forwarder.forward(sent.clone()).await?.timings;
        assert!(first.tls.is_some() && first.connect.is_some() && !first.reused, "{first:?}");
        let second = forwarder.forward(sent).await?.timings;
        assert_eq!((second.tls, second.reused), (None, true), "{alpn}");
        assert_eq!(second.address, Some(server.address), "{alpn}");
    }
    Ok(())
}

#[tokio::test]
async fn a_handshake_that_does_not_end_is_where_the_time_went() {
    let server = Raw::serving(async |mut stream| {
        let mut sink = Vec::new();
        let _ = stream.read_to_end(&mut sink).await;
    })
    .await;
    let mut sent = request(&url("https", "127.0.0.1", server.address));
    sent.timeout = SLOW;
    let error = forwarder().forward(sent).await.expect_err("no handshake");
    let timings = *error.timings().expect("measured");
    assert!(timings.tls.is_some() && timings.first_byte.is_none(), "{timings:?}");
    assert!(timings.total >= SLOW && timings.tls <= Some(timings.total), "{timings:?}");
    assert_eq!(timings.address, Some(server.address));
}

#[tokio::test]
async fn an_exchange_without_an_end_tells_its_times() {
    let server = slow_server(AMPLE, Duration::ZERO).await;
    let mut sent = request(&server.url("/"));
    sent.timeout = SLOW;
    let error = forwarder().forward(sent).await.expect_err("no answer");
    let timings = error.timings().expect("measured");
    assert!(matches!(error, ForwardError::Timeout { .. }), "{error:?}");
    assert!(timings.first_byte.is_some_and(|part| part + SLOW / 2 >= SLOW), "{timings:?}");

    let server = Raw::answering(|_| None).await;
    let error = forwarder().forward(request(&server.url("/"))).await.expect_err("no answer");
    let timings = error.timings().expect("measured");
    assert!(timings.first_byte.is_some() && timings.connect.is_some(), "{timings:?}");
}

#[tokio::test]
async fn an_address_where_nobody_listens_is_named() {
    let gone = Raw::always(OK).await.address;
    tokio::task::yield_now().await;
    let error =
        forwarder().forward(request(&format!("http://{gone}/"))).await.expect_err("refused");
    let timings = error.timings().expect("measured");
    assert_eq!(timings.address, Some(gone));
    assert!(timings.connect.is_some() && timings.first_byte.is_none(), "{timings:?}");
}

#[tokio::test(start_paused = true)]
async fn a_resolver_that_hangs_has_all_the_time() {
    let hour = Duration::from_secs(3600);
    let forwarder = open_builder()
        .resolver(Arc::new(SlowNames(hour)))
        .connect_timeout(Duration::from_secs(3))
        .build();
    let error = forwarder.forward(request("http://slow.example/")).await.expect_err("too late");
    let three = Duration::from_secs(3);
    let wanted = Timings { resolve: Some(three), total: three, ..Timings::default() };
    assert_eq!(error.timings(), Some(&wanted));
}
