//! HTTP/1.1 on one connection (RFC 9112): one request at a time.
//!
//! Of a client this is the part that every delivery needs, and no more: a
//! request whose body is there, an answer that is read whole up to a cap. That
//! allows what a general client cannot do: the head is written from the header
//! map into a buffer that stays with the connection, the answer is read into
//! another, and neither a task, a channel nor a lock is between the two.

use std::{
    future::poll_fn,
    io,
    pin::pin,
    task::{Context, Poll, Waker},
};

use ::http::{HeaderValue, Method, StatusCode};
use bytes::{Buf, Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};

use super::{
    connection::{Cause, Failure},
    stream::Stream,
};
use crate::{
    forward::{ForwardError, ForwardResponse, message::Outgoing},
    http1::head_end,
};

mod body;
mod head;
#[cfg(test)]
mod tests;
mod unsent;

use body::Framing;
use head::Head;
use unsent::Unsent;

/// Room for an answer as most are. It stays with the connection.
const READ_BYTES: usize = 2 * 1024;
/// The most room that is made for what is still to come.
const MOST_READ_BYTES: usize = 64 * 1024;
/// What a buffer of a connection that waits may hold.
const MOST_KEPT_BYTES: usize = 16 * 1024;

/// A connection. It has no task of its own: whoever uses it also drives it, and
/// dropping it closes it at once.
pub(super) struct Http1<S = Stream> {
    stream: S,
    /// The `Host` of requests that do not say another.
    host: HeaderValue,
    max_head_bytes: usize,
    unsent: Unsent,
    /// What has been read of the answer and not been used.
    read: BytesMut,
    /// Whether another request can follow the last one.
    reusable: bool,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Http1<S> {
    pub(super) fn new(
        stream: S,
        authority: &str,
        max_head_bytes: usize,
    ) -> Result<Self, ForwardError> {
        let host = HeaderValue::try_from(authority)
            .map_err(|_| ForwardError::Unsendable("host is not a header value".to_owned()))?;
        let (unsent, read) = (Unsent::default(), BytesMut::new());
        Ok(Self { stream, host, max_head_bytes, unsent, read, reusable: true })
    }

    /// Whether the next request can be sent. Looks at the socket, so that a
    /// close by the destination is seen; so is an answer that nobody asked for.
    pub(super) fn is_ready(&mut self) -> bool {
        let mut cx = Context::from_waker(Waker::noop());
        self.reusable && self.read.is_empty() && self.poll_read(&mut cx).is_pending()
    }

    /// Sends a request and reads the answer, its body up to `max_bytes`.
    pub(super) async fn exchange(
        &mut self,
        outgoing: Outgoing,
        max_bytes: usize,
    ) -> Result<ForwardResponse, Failure> {
        if !self.is_ready() {
            let cause = match self.read.is_empty() {
                true => closed_early(),
                false => refused("head", "it came before the request"),
            };
            return Err(Failure::Unwritten(Box::new(outgoing), Cause::Io(cause)));
        }
        self.unsent.set(&outgoing, &self.host);
        self.reusable = !head::says_close(&outgoing.headers);
        match self.answer(&outgoing.method, max_bytes).await {
            Ok(response) => {
                self.reusable &= self.unsent.is_sent();
                self.let_go_of_buffers();
                Ok(response)
            }
            Err(error) if self.unsent.is_untouched() => {
                Err(Failure::Unwritten(Box::new(outgoing), Cause::Io(error)))
            }
            Err(error) => Err(Failure::Broken(Cause::Io(error))),
        }
    }

    async fn answer(&mut self, method: &Method, max_bytes: usize) -> io::Result<ForwardResponse> {
        let head = loop {
            let head = self.head().await?;
            // What comes before the answer (RFC 9110 section 15.2) says nothing here.
            if !head.status.is_informational() || head.status == StatusCode::SWITCHING_PROTOCOLS {
                break head;
            }
        };
        let framing = Framing::of(method, &head)?;
        self.reusable &= head.keeps_open() && framing != Framing::UntilClosed;
        let (body, truncated) = self.body(framing, max_bytes).await?;
        self.reusable &= !truncated;
        Ok(ForwardResponse { status: head.status, headers: head.headers, body, truncated })
    }

    async fn head(&mut self) -> io::Result<Head> {
        let mut searched = 0;
        let length = loop {
            if let Some(length) = head_end(&self.read, searched) {
                break length;
            }
            searched = self.read.len();
            if searched > self.max_head_bytes {
                return Err(head::too_large());
            }
            self.more(READ_BYTES).await?;
        };
        // A copy, which the headers share: the buffer stays here.
        let head = Bytes::copy_from_slice(&self.read[..length]);
        self.read.advance(length);
        Head::parse(&head, self.max_head_bytes)
    }

    /// Reads more of an answer that is not at its end.
    async fn more(&mut self, expected: usize) -> io::Result<()> {
        match self.more_or_end(expected).await? {
            0 => Err(closed_early()),
            _ => Ok(()),
        }
    }

    /// Reads more of the answer, and how much; nothing at its end. What has not
    /// left of the request goes out meanwhile.
    async fn more_or_end(&mut self, expected: usize) -> io::Result<usize> {
        self.read.reserve(expected.clamp(READ_BYTES, MOST_READ_BYTES));
        poll_fn(|cx| {
            if let Poll::Ready(Err(error)) = self.unsent.poll_send(&mut self.stream, cx)
                && self.unsent.is_untouched()
            {
                return Poll::Ready(Err(error));
            }
            // The destination may have answered before it closed.
            self.poll_read(cx)
        })
        .await
    }

    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        if self.read.capacity() == self.read.len() {
            self.read.reserve(READ_BYTES);
        }
        pin!(self.stream.read_buf(&mut self.read)).poll(cx)
    }

    fn let_go_of_buffers(&mut self) {
        if self.read.capacity() > MOST_KEPT_BYTES {
            self.read = BytesMut::from(&self.read[..]);
        }
        self.unsent.let_go(MOST_KEPT_BYTES);
    }
}

fn closed_early() -> io::Error {
    io::ErrorKind::UnexpectedEof.into()
}

/// An answer that is none.
fn refused(what: &str, why: impl std::fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the answer's {what} is refused: {why}"))
}
