//! Words for requests that hyper cannot read: hyper answers them without a body.

use std::{
    io::{self, IoSlice},
    pin::Pin,
    task::{Context, Poll, ready},
};

use prometheus_client::metrics::counter::Counter;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// What hyper's own answers have after their status line. Every answer of the server has the header
/// `request-id`.
const OWN_HEADERS: &[u8] = b"connection: close\r\ncontent-length: 0\r\ndate: ";

/// The status lines of hyper's own answers, and the reason for the client.
const REASONS: [(&[u8], &str); 3] = [
    (
        b"HTTP/1.1 400 Bad Request\r\n",
        "the request cannot be read as HTTP/1.1; in its target write \" as %22, < as %3C, > as %3E \
         and ` as %60, and check the names and values of its headers",
    ),
    (b"HTTP/1.1 414 URI Too Long\r\n", "the target of the request is too long"),
    (
        b"HTTP/1.1 431 Request Header Fields Too Large\r\n",
        "the head of the request is too large; send fewer or shorter headers",
    ),
];

/// The reason for an answer, if the answer is hyper's own.
fn reason_for(answer: &[u8]) -> Option<&'static str> {
    REASONS.into_iter().find_map(|(line, reason)| {
        let headers = answer.strip_prefix(line)?;
        let date = headers.strip_prefix(OWN_HEADERS)?.strip_suffix(b"\r\n\r\n")?;
        (!date.contains(&b'\r')).then_some(reason)
    })
}

/// The same answer with its reason as body. It keeps the status line and the date.
fn with_reason(answer: &[u8], reason: &str) -> Vec<u8> {
    let text = String::from_utf8_lossy(answer);
    let length = format!(
        "content-type: text/plain; charset=utf-8\r\ncontent-length: {}\r\n",
        reason.len() + 1
    );
    format!("{}{reason}\n", text.replacen("content-length: 0\r\n", &length, 1)).into_bytes()
}

/// A stream that adds the reason to each answer of hyper's own, and counts these answers.
#[derive(Debug)]
pub(super) struct Explained<S> {
    stream: S,
    count: Counter,
    /// The rest of an answer with its reason.
    rest: Vec<u8>,
}

impl<S> Explained<S> {
    pub(super) const fn new(stream: S, count: Counter) -> Self {
        Self { stream, count, rest: Vec::new() }
    }
}

impl<S: AsyncWrite + Unpin> Explained<S> {
    /// Takes `answer` in whole if it is hyper's own.
    fn takes(&mut self, answer: &[u8]) -> bool {
        let Some(reason) = reason_for(answer) else { return false };
        self.count.inc();
        self.rest = with_reason(answer, reason);
        true
    }

    fn poll_rest(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.rest.is_empty() {
            let written = ready!(Pin::new(&mut self.stream).poll_write(cx, &self.rest))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.rest.drain(..written);
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Explained<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_rest(cx))?;
        match self.takes(buf) {
            true => Poll::Ready(Ok(buf.len())),
            false => Pin::new(&mut self.stream).poll_write(cx, buf),
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_rest(cx))?;
        match bufs {
            [only] if self.takes(only) => Poll::Ready(Ok(only.len())),
            _ => Pin::new(&mut self.stream).poll_write_vectored(cx, bufs),
        }
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_rest(cx))?;
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_rest(cx))?;
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Explained<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    const OWN: &[u8] = b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\
        date: Mon, 30 Nov 2026 00:04:24 GMT\r\n\r\n";

    #[tokio::test]
    async fn an_answer_of_hyper_gets_its_reason_over_a_slow_connection() {
        let (near, mut far) = tokio::io::duplex(7);
        let count = Counter::default();
        let mut stream = Explained::new(near, count.clone());
        let writing = tokio::spawn(async move {
            stream.write_all(OWN).await.expect("it is taken");
            stream.shutdown().await.expect("all of it is sent");
        });
        let mut answer = String::new();
        far.read_to_string(&mut answer).await.expect("a text");
        writing.await.expect("no panic");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
        assert!(head.contains(&format!("content-length: {}\r\n", body.len())), "{answer}");
        assert!(head.ends_with("date: Mon, 30 Nov 2026 00:04:24 GMT"), "{answer}");
        assert!(body.contains("write \" as %22") && body.ends_with('\n'), "{answer}");
        assert_eq!(count.get(), 1);
    }

    #[tokio::test]
    async fn other_answers_stay_as_they_are() {
        let own = String::from_utf8_lossy(OWN);
        for answer in [
            own.replace("400 Bad Request", "200 OK"),
            own.replace("date", "request-id: 1\r\ndate"),
            own.replace("GMT\r\n", "GMT\r\nrequest-id: 1\r\n"),
            format!("{own}more"),
        ] {
            let (near, mut far) = tokio::io::duplex(999);
            let mut stream = Explained::new(near, Counter::default());
            stream.write_all(answer.as_bytes()).await.expect("it is written");
            drop(stream);
            let mut read = String::new();
            far.read_to_string(&mut read).await.expect("a text");
            assert_eq!(read, answer);
        }
    }
}
