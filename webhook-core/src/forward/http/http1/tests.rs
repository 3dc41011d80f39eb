//! Answers in every form and in every number of pieces, without a socket.

use std::{
    collections::VecDeque,
    io,
    sync::{Arc, Mutex},
};

use ::http::Method;
use bytes::Bytes;
use proptest::prelude::*;
use tokio::io::ReadBuf;

use super::*;
use crate::forward::http::failure;

const MAX_HEAD_BYTES: usize = 8 * 1024;

/// A destination that answers in these pieces.
#[derive(Clone, Debug, Default)]
struct Scripted {
    pieces: VecDeque<Vec<u8>>,
    received: Arc<Mutex<Vec<u8>>>,
    /// How much one write takes.
    takes: usize,
    asked: bool,
    /// Whether it closes after the last piece.
    closes: bool,
}

impl AsyncRead for Scripted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if !self.asked || (self.pieces.is_empty() && !self.closes) {
            return Poll::Pending;
        }
        if let Some(mut piece) = self.pieces.pop_front() {
            let later = piece.split_off(piece.len().min(buf.remaining()));
            buf.put_slice(&piece);
            if !later.is_empty() {
                self.pieces.push_front(later);
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Scripted {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.asked = true;
        let taken = buf.len().min(self.takes);
        self.received.lock().expect("no panic").extend_from_slice(&buf[..taken]);
        Poll::Ready(Ok(taken))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

fn scripted(pieces: Vec<Vec<u8>>) -> Scripted {
    let pieces = pieces.into_iter().filter(|piece| !piece.is_empty()).collect();
    Scripted { pieces, takes: usize::MAX, ..Scripted::default() }
}

fn connection(stream: &Scripted) -> Http1<Scripted> {
    let connection = Http1::new(stream.clone(), "a.example", MAX_HEAD_BYTES);
    at_once(connection).expect("no waiting").expect("a host")
}

/// What comes of something that nobody else has to wake.
fn at_once<T>(future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    let mut poll = || future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    (0..100).find_map(|_| match poll() {
        Poll::Ready(done) => Some(done),
        Poll::Pending => None,
    })
}

fn outgoing(method: Method, body: Bytes) -> Outgoing {
    let url = Uri::from_static("http://a.example/b?c");
    Outgoing::new(method, &url, HeaderMap::new(), body).expect("sendable")
}

/// What comes of an answer after which the destination closes the connection, and whether
/// that could be used again if it did not.
fn answered(pieces: Vec<Vec<u8>>, max_bytes: usize) -> Result<(ForwardResponse, bool), String> {
    let post = || outgoing(Method::POST, "{}".into());
    let open = scripted(pieces);
    let mut kept = connection(&open);
    let mut watch = Stopwatch::start();
    let reusable = at_once(kept.exchange(post(), max_bytes, &mut watch, &mut None)).is_some()
        && kept.is_ready();
    let mut closed = connection(&Scripted { closes: true, ..open });
    match at_once(closed.exchange(post(), max_bytes, &mut watch, &mut None)).expect("all there") {
        Ok(response) => Ok((response, reusable)),
        Err(Failure::Broken(cause) | Failure::Silent(cause)) => {
            Err(failure::broken(cause).to_string())
        }
        Err(_) => panic!("neither answered nor broken"),
    }
}

fn body_of(answer: &str, max_bytes: usize) -> Result<(String, bool, bool), String> {
    let (response, reusable) = answered(vec![answer.into()], max_bytes)?;
    let body = String::from_utf8(response.body.to_vec()).expect("text");
    Ok((body, response.truncated, reusable))
}

#[test]
fn what_ends_an_answer_says_whether_another_may_follow() {
    let told = |answer: &str| body_of(answer, 100).expect(answer);
    for (answer, body, reusable) in [
        ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "ok", true),
        ("HTTP/1.1 200 OK\nContent-Length: 2\n\nok", "ok", true),
        ("HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\ncontent-length: 02\r\n\r\nok", "ok", true),
        ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok and more", "ok", false),
        ("HTTP/1.1 200 OK\r\nConnection: x, Close\r\nContent-Length: 2\r\n\r\nok", "ok", false),
        ("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", "ok", false),
        ("HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 2\r\n\r\nok", "ok", true),
        ("HTTP/1.1 200 OK\r\n\r\nuntil the end", "until the end", false),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, gzip\r\n\r\n2\r\n", "2\r\n", false),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, Chunked\r\n\r\n0\r\n\r\n", "", true),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
             0a;name=value\r\n0123456789\r\n2  \r\nok\r\n0\r\nA: b\r\nC: d\r\n\r\n",
            "0123456789ok",
            true,
        ),
        ("HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", "", true),
        ("HTTP/1.1 101 Switching Protocols\r\n\r\n", "", false),
        (
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n\
             HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
            "ok",
            true,
        ),
    ] {
        assert_eq!(told(answer), (body.to_owned(), false, reusable), "{answer:?}");
    }
}

#[test]
fn what_can_be_read_in_two_ways_is_refused() {
    let long_line = format!("1;{}", "x".repeat(17_000));
    let long_trailer = format!("0\r\nA: {}", "x".repeat(17_000));
    let many_trailers = format!("0\r\n{}", "A: b\r\n".repeat(4_000));
    for (head, body, reason) in [
        ("Content-Length: -1", "", "head is refused: invalid content-length"),
        ("Content-Length: +1", "", "head is refused: invalid content-length"),
        ("Content-Length: 1, 2", "", "head is refused: invalid content-length"),
        ("Content-Length: 99999999999999999999", "", "head is refused: invalid content-length"),
        (
            "Content-Length: 5\r\nTransfer-Encoding: chunked",
            "0\r\n\r\n",
            "head is refused: unexpected transfer-encoding",
        ),
        ("Transfer-Encoding: chunked", "x\r\n", "body is refused: Invalid chunk size"),
        ("Transfer-Encoding: chunked", "1\r\nab\r\n", "body is refused: Invalid chunk body CR"),
        ("Transfer-Encoding: chunked", &long_line, "body is refused: chunk extensions over limit"),
        (
            "Transfer-Encoding: chunked",
            &long_trailer,
            "body is refused: chunk trailers bytes over limit",
        ),
        (
            "Transfer-Encoding: chunked",
            &many_trailers,
            "body is refused: chunk trailers count overflow",
        ),
        ("Transfer-Encoding: chunked", "5\r\nab", "closed the connection before"),
        ("Transfer-Encoding: chunked", "2\r\nab\r\n", "closed the connection before"),
        ("Content-Length: 5", "ab", "closed the connection before"),
        ("A b: c", "", "head is refused: invalid HTTP header parsed"),
    ] {
        let answer = format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\n{body}");
        let error = body_of(&answer, 100).expect_err(&answer);
        assert!(error.contains(reason), "{head:?} {body:.20}: {error}");
    }
    let old = body_of("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 100);
    assert!(old.expect_err("HTTP/1.0 has no chunks").contains("unexpected transfer-encoding"));
}

#[test]
fn a_cap_cuts_every_kind_of_body() {
    for answer in [
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n01234",
        "HTTP/1.1 200 OK\r\n\r\n01234",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n01\r\n3\r\n234\r\n0\r\n\r\n",
    ] {
        for cap in 0..7 {
            let (body, truncated, reusable) = body_of(answer, cap).expect(answer);
            assert_eq!((&*body, truncated), (&"01234"[..cap.min(5)], cap < 5), "{answer:?}");
            assert!(!(truncated && reusable), "{answer:?}");
        }
    }
}

#[test]
fn a_body_is_sent_in_as_many_writes_as_it_takes() {
    for (length, takes) in [(3, 1), (3, usize::MAX), (5_000, 7), (5_000, usize::MAX)] {
        let body = Bytes::from(vec![b'x'; length]);
        let stream = scripted(vec!["HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".into()]);
        let mut connection = connection(&Scripted { takes, ..stream.clone() });
        let mut watch = Stopwatch::start();
        let (put, mut head) = (outgoing(Method::PUT, body.clone()), None);
        let exchange = connection.exchange(put, 0, &mut watch, &mut head);
        assert!(at_once(exchange).expect("all there").is_ok());
        let head =
            format!("PUT /b?c HTTP/1.1\r\nHost: a.example\r\nContent-Length: {length}\r\n\r\n");
        let received = stream.received.lock().expect("no panic");
        assert!(*received == [head.as_bytes(), &body].concat(), "{length} {takes}");
        assert!(connection.is_ready());
    }
}

#[test]
fn a_request_that_says_close_is_the_last() {
    let stream = scripted(vec!["HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".into()]);
    let mut connection = connection(&stream);
    let (mut outgoing, mut watch) = (outgoing(Method::POST, Bytes::new()), Stopwatch::start());
    outgoing.headers.insert("connection", "close".parse().expect("a value"));
    let mut head = None;
    let exchange = connection.exchange(outgoing, 0, &mut watch, &mut head);
    assert!(at_once(exchange).expect("all there").is_ok());
    assert!(!connection.is_ready());
}

#[test]
fn who_speaks_first_gets_no_request() {
    let stream = Scripted { asked: true, ..scripted(vec!["220 mail.example ESMTP\r\n".into()]) };
    let (mut connection, mut watch) = (connection(&stream), Stopwatch::start());
    let (post, mut head) = (outgoing(Method::POST, Bytes::new()), None);
    let exchange = connection.exchange(post, 0, &mut watch, &mut head);
    let Some(Err(Failure::Unwritten(_, cause))) = at_once(exchange) else {
        panic!("not unwritten")
    };
    let error = failure::never_written(cause).to_string();
    assert!(error.ends_with("received unexpected message from connection"), "{error}");
    assert!(stream.received.lock().expect("no panic").is_empty());
}

/// Text that looks like an answer, or nearly.
fn nearly_http() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        Just("HTTP/1.1 200 OK\r\n"),
        Just("HTTP/1.1 100 Continue\r\n\r\n"),
        Just("Content-Length: 5\r\n"),
        Just("Transfer-Encoding: chunked\r\n"),
        Just("Connection: close\r\n"),
        Just("X-A: b\r\n"),
        Just("\r\n"),
        Just("\n"),
        Just("5\r\n"),
        Just("01234"),
        Just("0\r\n\r\n"),
        Just("\u{e9}"),
    ];
    let parts = prop::collection::vec(part, 0..9);
    parts.prop_map(|parts| format!("HTTP/1.1 200 OK\r\n{}", parts.concat()).into_bytes())
}

proptest! {
    #[test]
    fn the_pieces_make_no_difference(
        answer in nearly_http(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        cap in 0_usize..9,
    ) {
        let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(answer.len())).collect();
        cuts.extend([0, answer.len()]);
        cuts.sort_unstable();
        let pieces = cuts.windows(2).map(|cut| answer[cut[0]..cut[1]].to_vec()).collect();
        let in_pieces = answered(pieces, cap).map(|(response, _)| response);
        let whole = answered(vec![answer], cap).map(|(response, _)| response);
        if let Ok(response) = &whole {
            prop_assert!(response.body.len() <= cap);
        }
        // Only the words for what is refused may differ: hyper may find it later.
        prop_assert_eq!(in_pieces.ok(), whole.ok());
    }

    #[test]
    fn whatever_comes_is_answered_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = answered(vec![bytes], 50);
    }
}
