//! What a destination says that it has not processed, and what it has not answered whole.

use futures_util::future::join_all;
use h2::{Reason, server};
use tokio::net::TcpStream;
use tokio_rustls::{TlsAcceptor, server::TlsStream};

use super::{
    http2_server::GoingAway,
    raw_server::{Raw, Then},
    tls_server::{acceptor, self_signed},
    *,
};
use crate::forward::history::FailureKind;

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// A destination with one way to end each stream, by the number of the request.
async fn resetting(
    serve: impl Fn(usize, server::SendResponse<bytes::Bytes>) + Clone + Send + Sync + 'static,
) -> (Raw, HttpForwarder) {
    let identity = self_signed(&["127.0.0.1"]);
    let pem = identity.cert.pem();
    let acceptor = acceptor(identity.into(), &["h2"]);
    let requests = Arc::<std::sync::atomic::AtomicUsize>::default();
    let server = Raw::serving(move |tcp| {
        let (acceptor, serve, requests) = (acceptor.clone(), serve.clone(), requests.clone());
        async move {
            let mut connection = handshake(&acceptor, tcp).await;
            while let Some(Ok((_, respond))) = connection.accept().await {
                serve(requests.fetch_add(1, std::sync::atomic::Ordering::SeqCst), respond);
            }
        }
    })
    .await;
    let forwarder = open_builder().add_root_certificates(pem.as_bytes()).expect("a certificate");
    (server, forwarder.build())
}

async fn handshake(
    acceptor: &TlsAcceptor,
    tcp: TcpStream,
) -> server::Connection<TlsStream<TcpStream>, bytes::Bytes> {
    let tls = acceptor.accept(tcp).await.expect("TLS");
    server::handshake(tls).await.expect("HTTP/2")
}

fn answer(mut respond: server::SendResponse<bytes::Bytes>) {
    let _ = respond.send_response(::http::Response::new(()), true);
}

#[tokio::test]
async fn streams_above_the_last_of_goaway_were_not_processed() -> Result<(), ForwardError> {
    let server = GoingAway::after(5).await;
    let pem = server.certificate_pem.as_bytes();
    let forwarder = open_builder().add_root_certificates(pem).expect("a certificate").build();
    forwarder.forward(request(&server.url())).await?;
    let burst = join_all((0..20).map(|_| forwarder.forward(request(&server.url())))).await;
    let (answered, unprocessed): (Vec<_>, Vec<_>) = burst.into_iter().partition(Result::is_ok);
    assert_eq!((answered.len(), unprocessed.len()), (4, 16));
    for error in unprocessed {
        let error = error.expect_err("not answered");
        assert!(matches!(error, ForwardError::Unprocessed { .. }), "{error:?}");
        assert!(!error.may_have_been_sent() && error.is_retryable(), "{error:?}");
        assert_eq!(FailureKind::of(&error), FailureKind::Unprocessed);
        assert_eq!(
            error.to_string(),
            "not processed: the destination takes no more requests on the connection (GOAWAY \
             with code 0)"
        );
        assert!(error.timings().is_some_and(|timings| timings.reused));
    }
    assert_eq!(server.processed().len(), 5);
    forwarder.forward(request(&server.url())).await?;
    Ok(())
}

#[tokio::test]
async fn a_refused_stream_was_not_processed_and_the_next_goes_elsewhere() -> Result<(), ForwardError>
{
    let (server, forwarder) = resetting(|number, mut respond| match number {
        0 => respond.send_reset(Reason::REFUSED_STREAM),
        _ => answer(respond),
    })
    .await;
    let url = url("https", "127.0.0.1", server.address);
    let error = forwarder.forward(request(&url)).await.expect_err("refused");
    assert!(matches!(error, ForwardError::Unprocessed { .. }), "{error:?}");
    let said = "the destination refused the request before it looked at it (REFUSED_STREAM)";
    assert_eq!(error.to_string(), format!("not processed: {said}"));
    forwarder.forward(request(&url)).await?;
    assert_eq!(server.accepted(), 2);
    Ok(())
}

#[tokio::test]
async fn a_stream_that_ends_otherwise_may_have_been_processed() {
    let (server, forwarder) =
        resetting(|_, mut respond| respond.send_reset(Reason::INTERNAL_ERROR)).await;
    let url = url("https", "127.0.0.1", server.address);
    let error = forwarder.forward(request(&url)).await.expect_err("reset");
    assert!(matches!(error, ForwardError::Broken { .. }), "{error:?}");
    let said = "exchange broke off: the destination ended the request (RST_STREAM with code 2)";
    assert_eq!(error.to_string(), said);
}

#[tokio::test]
async fn an_answer_whose_body_does_not_end_has_its_head() {
    let (server, forwarder) = resetting(|_, mut respond| {
        let answer = ::http::Response::builder().status(201).header("x-from", "it");
        let answer = answer.body(()).expect("an answer");
        let mut body = respond.send_response(answer, false).expect("it is open");
        let _ = body.send_data("some".into(), false);
        // The frames before it are sent, or the answer would be lost with them.
        tokio::spawn(async move {
            std::future::poll_fn(|cx| {
                body.reserve_capacity(1);
                body.poll_capacity(cx)
            })
            .await;
            body.send_reset(Reason::INTERNAL_ERROR);
        });
    })
    .await;
    let raw = Raw::always("HTTP/1.1 201 Created\r\nX-From: it\r\nContent-Length: 9\r\n\r\n").await;
    let cut = Raw::answering(|_| {
        let answer = "HTTP/1.1 201 Created\r\nX-From: it\r\nContent-Length: 9\r\n\r\nsome";
        Some((answer.into(), Then::Close))
    })
    .await;
    for (url, kind) in [
        (url("https", "127.0.0.1", server.address), FailureKind::Broken),
        (cut.url("/"), FailureKind::Broken),
        (raw.url("/"), FailureKind::Timeout),
    ] {
        let mut sent = request(&url);
        if kind == FailureKind::Timeout {
            sent.timeout = Duration::from_millis(300);
        }
        let error = forwarder.forward(sent).await.expect_err("no end");
        assert!(error.may_have_been_sent() && error.timings().is_some(), "{error:?}");
        assert_eq!(FailureKind::of(&error), kind, "{error:?}");
        let ForwardError::Incomplete { head, cause } = error else { panic!("{error:?}") };
        assert_eq!(head.status, 201);
        assert_eq!(head.headers["x-from"], "it");
        assert!(head.body.is_empty() && head.timings.first_byte.is_some(), "{cause}");
    }
}

/// Answers the first request of each connection, and does this with the second.
async fn answering_once(second: &'static str) -> Raw {
    Raw::serving(move |mut stream| async move {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        let mut request = [0; 4096];
        let _ = stream.read(&mut request).await;
        let _ = stream.write_all(OK.as_bytes()).await;
        let _ = stream.read(&mut request).await;
        let _ = stream.write_all(second.as_bytes()).await;
    })
    .await
}

#[tokio::test]
async fn a_kept_connection_that_ends_silently_is_told_apart() -> Result<(), ForwardError> {
    let server = answering_once("").await;
    let forwarder = forwarder();
    forwarder.forward(request(&server.url("/"))).await?;
    let error = forwarder.forward(request(&server.url("/"))).await.expect_err("closed");
    assert!(matches!(error, ForwardError::KeptClosed { .. }), "{error:?}");
    assert!(error.may_have_been_sent() && error.is_retryable());
    assert_eq!(FailureKind::of(&error), FailureKind::KeptClosed);
    assert_eq!(server.accepted(), 1, "the client sends once");
    // A byte of an answer, even of one before the final answer, says that it was read.
    for begun in ["HTTP/1.1 103 Early Hints\r\n\r\n", "HTTP/1.1 20"] {
        let server = answering_once(begun).await;
        forwarder.forward(request(&server.url("/"))).await?;
        let error = forwarder.forward(request(&server.url("/"))).await.expect_err("closed");
        assert!(matches!(error, ForwardError::Broken { .. }), "{begun}: {error:?}");
    }
    Ok(())
}

#[tokio::test]
async fn a_new_connection_is_made_although_one_is_kept() -> Result<(), ForwardError> {
    let server = Raw::always(OK).await;
    let forwarder = forwarder();
    forwarder.forward(request(&server.url("/"))).await?;
    let new = ForwardRequest { new_connection: true, ..request(&server.url("/")) };
    let answer = forwarder.forward(new).await?;
    assert!(!answer.timings.reused);
    assert_eq!((server.accepted(), forwarder.verified.len()), (2, 2));
    Ok(())
}

#[tokio::test]
async fn a_server_that_expects_tls_and_closes_is_a_guess() {
    let server = Raw::answering(|_| None).await;
    let error = forwarder().forward(request(&server.url("/"))).await.expect_err("closed");
    let said = "exchange broke off: the destination closed the connection before its answer was \
        complete; if it speaks TLS at this port, its address begins with https://";
    assert_eq!(error.to_string(), said);
}
