//! What of a request has not left yet.

use std::{
    io::{self, IoSlice},
    pin::Pin,
    task::{Context, Poll, ready},
};

use ::http::HeaderValue;
use bytes::Bytes;
use tokio::io::AsyncWrite;

use super::head;
use crate::forward::message::Outgoing;

/// A body up to this is copied behind the head: cheaper than naming two pieces.
const COPIED_BYTES: usize = 4 * 1024;

/// A request on its way out.
#[derive(Debug, Default)]
pub(super) struct Unsent {
    /// The head, and a short body behind it.
    first: Vec<u8>,
    /// A longer body.
    rest: Bytes,
    /// How much of both has been taken by the stream.
    sent: usize,
    flushed: bool,
    /// The stream takes no more.
    failed: bool,
}

impl Unsent {
    pub(super) fn set(&mut self, outgoing: &Outgoing, host: &HeaderValue) {
        self.first.clear();
        head::write(&mut self.first, outgoing, host);
        self.rest = if outgoing.body.len() <= COPIED_BYTES {
            self.first.extend_from_slice(&outgoing.body);
            Bytes::new()
        } else {
            outgoing.body.clone()
        };
        (self.sent, self.flushed, self.failed) = (0, false, false);
    }

    /// Whether no byte has left.
    pub(super) fn is_untouched(&self) -> bool {
        self.sent == 0
    }

    /// Whether every byte has left.
    pub(super) fn is_sent(&self) -> bool {
        self.flushed
    }

    /// Sends as much as the stream takes. After an error it sends nothing.
    pub(super) fn poll_send<S: AsyncWrite + Unpin>(
        &mut self,
        stream: &mut S,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        if self.flushed || self.failed {
            return Poll::Ready(Ok(()));
        }
        let sent = self.poll_send_on(Pin::new(stream), cx);
        self.failed = matches!(sent, Poll::Ready(Err(_)));
        sent
    }

    fn poll_send_on<S: AsyncWrite>(
        &mut self,
        mut stream: Pin<&mut S>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        while self.sent < self.first.len() + self.rest.len() {
            let taken = match self.first.get(self.sent..).filter(|first| !first.is_empty()) {
                Some(first) if self.rest.is_empty() => stream.as_mut().poll_write(cx, first),
                Some(first) => {
                    let both = [IoSlice::new(first), IoSlice::new(&self.rest)];
                    stream.as_mut().poll_write_vectored(cx, &both)
                }
                None => stream.as_mut().poll_write(cx, &self.rest[self.sent - self.first.len()..]),
            };
            match ready!(taken)? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                bytes => self.sent += bytes,
            }
        }
        ready!(stream.poll_flush(cx))?;
        self.flushed = true;
        Poll::Ready(Ok(()))
    }

    /// Lets go of the body, and of a large buffer.
    pub(super) fn let_go(&mut self, most_kept: usize) {
        self.rest = Bytes::new();
        if self.first.capacity() > most_kept {
            self.first = Vec::new();
        }
    }
}
