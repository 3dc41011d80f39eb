//! Writes that do not wait for ever.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Sleep, sleep},
};

/// A stream whose writes fail with [`TimedOut`](io::ErrorKind::TimedOut) when
/// the peer has taken no byte for so long: one that sends requests and reads no
/// answers is cut off.
///
/// Wrap the transport itself, below TLS. A write that does not wait costs
/// nothing.
#[derive(Debug)]
pub(super) struct WriteTimeout<S> {
    stream: S,
    timeout: Duration,
    /// Since a write began to wait.
    waiting: Option<Pin<Box<Sleep>>>,
}

impl<S> WriteTimeout<S> {
    /// Lets each write wait for so long.
    pub(super) fn new(stream: S, timeout: Duration) -> Self {
        Self { stream, timeout, waiting: None }
    }

    fn within(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        if written.is_ready() {
            self.waiting = None;
            return written;
        }
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(sleep(self.timeout)));
        let late = || io::Error::new(io::ErrorKind::TimedOut, "the peer does not read");
        waiting.as_mut().poll(cx).map(|()| Err(late()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WriteTimeout<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.within(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.within(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WriteTimeout<S> {
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
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt, duplex},
        time::Instant,
    };

    use super::*;

    /// Writes more than fits to a peer that reads `reads` times a byte each 20 s.
    async fn unread(reads: u64) -> (Duration, io::Error) {
        let (mut client, server) = duplex(64);
        let mut stream = WriteTimeout::new(server, Duration::from_secs(30));
        let started = Instant::now();
        let reading = async {
            for _ in 0..reads {
                tokio::time::sleep(Duration::from_secs(20)).await;
                client.read_u8().await.expect("more of the answer");
            }
        };
        let (written, ()) = tokio::join!(stream.write_all(&[b'a'; 1000]), reading);
        (started.elapsed(), written.expect_err("it is cut off"))
    }

    #[tokio::test(start_paused = true)]
    async fn who_does_not_read_is_cut_off_and_who_reads_slowly_is_not() {
        for reads in [0, 1, 10] {
            let (elapsed, error) = unread(reads).await;
            assert_eq!(error.kind(), io::ErrorKind::TimedOut, "{error}");
            assert_eq!(elapsed.as_secs(), 20 * reads + 30, "30 s from the last byte");
        }
    }
}
