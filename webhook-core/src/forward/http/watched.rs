//! A transport that notes what an error of hyper does not say.

use std::{
    io::{self, ErrorKind},
    pin::Pin,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
};

use bytes::{Buf, BytesMut};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::{failure::Cause, tls_words};

/// The most that is read after a write has failed.
const REST: usize = 16 << 10;

/// The bytes and the end of a connection, as far as they were seen.
#[derive(Debug, Default)]
pub(super) struct Seen {
    has_read: AtomicBool,
    tls: OnceLock<String>,
}

impl Seen {
    /// A request begins.
    pub(super) fn begin(&self) {
        self.has_read.store(false, Ordering::Relaxed);
    }

    /// Whether a byte came since the request began.
    pub(super) fn has_read(&self) -> bool {
        self.has_read.load(Ordering::Relaxed)
    }

    /// The cause of an error of hyper. hyper does not know it where TLS ended the connection: h2
    /// keeps the text of an error alone, and a write may fail before the end was read.
    pub(super) fn cause(&self, error: hyper::Error) -> Cause {
        match self.tls.get() {
            Some(words) => Cause::OfTls(words.clone()),
            None => Cause::Hyper(error),
        }
    }

    fn note(&self, read: &Poll<io::Result<()>>, bytes: usize) {
        match read {
            Poll::Ready(Ok(())) if bytes > 0 => self.has_read.store(true, Ordering::Relaxed),
            Poll::Ready(Err(error)) => {
                if let Some(words) = tls_words::of(error) {
                    // The first error is the cause of the others.
                    let _ = self.tls.set(words);
                }
            }
            Poll::Ready(Ok(())) | Poll::Pending => {}
        }
    }
}

/// A transport whose reads are noted.
#[derive(Debug)]
pub(super) struct Watched<S> {
    stream: S,
    seen: Arc<Seen>,
    /// Read when a write failed, and not handed out yet.
    rest: BytesMut,
}

impl<S> Watched<S> {
    pub(super) fn new(stream: S) -> (Self, Arc<Seen>) {
        let seen = Arc::<Seen>::default();
        (Self { stream, seen: seen.clone(), rest: BytesMut::new() }, seen)
    }
}

impl<S: AsyncRead + Unpin> Watched<S> {
    /// The result of a write. A destination that ended the connection may have sent the reason
    /// before. So its last bytes are read first. They have arrived, because no more can follow.
    fn written<T>(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        let is_over = match &written {
            Poll::Ready(Err(error)) => {
                matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset)
            }
            Poll::Ready(Ok(_)) | Poll::Pending => false,
        };
        if is_over && self.rest.is_empty() {
            let mut bytes = vec![0; REST];
            let mut buf = ReadBuf::new(&mut bytes);
            let read = Pin::new(&mut self.stream).poll_read(cx, &mut buf);
            self.seen.note(&read, buf.filled().len());
            self.rest.extend_from_slice(buf.filled());
            if read.is_pending() {
                return Poll::Pending;
            }
        }
        written
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if !self.rest.is_empty() {
            let length = self.rest.len().min(buf.remaining());
            buf.put_slice(&self.rest[..length]);
            self.rest.advance(length);
            return Poll::Ready(Ok(()));
        }
        let before = buf.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buf);
        self.seen.note(&read, buf.filled().len() - before);
        read
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.written(cx, written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(cx);
        self.written(cx, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.written(cx, written)
    }
}
