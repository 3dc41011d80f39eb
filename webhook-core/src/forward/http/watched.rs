//! A transport that notes what an error of hyper does not say.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::tls_words;

/// What was seen on a connection.
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

    /// How TLS ended the connection, in words.
    pub(super) fn tls_failure(&self) -> Option<&str> {
        self.tls.get().map(String::as_str)
    }
}

/// A transport whose reads are noted.
#[derive(Debug)]
pub(super) struct Watched<S> {
    stream: S,
    seen: Arc<Seen>,
}

impl<S> Watched<S> {
    pub(super) fn new(stream: S) -> (Self, Arc<Seen>) {
        let seen = Arc::<Seen>::default();
        (Self { stream, seen: seen.clone() }, seen)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buf);
        match &read {
            Poll::Ready(Ok(())) if buf.filled().len() > before => {
                self.seen.has_read.store(true, Ordering::Relaxed);
            }
            Poll::Ready(Err(error)) => {
                if let Some(words) = tls_words::of(error) {
                    // The first error is the cause of the others.
                    let _ = self.seen.tls.set(words);
                }
            }
            Poll::Ready(Ok(())) | Poll::Pending => {}
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
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
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }
}
