//! The transport of a connection, below TLS and HTTP.

use std::{
    io::{self, IoSlice},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Sleep, sleep},
};

use super::{seat::Seat, write_timeout::WriteTimeout};

/// How much is read at once to be thrown away.
const CHUNK: usize = 8 * 1024;

/// How the server reads on after it has ended a connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Linger {
    /// For how long; zero not at all.
    pub(super) timeout: Duration,
    /// How many bytes at most.
    pub(super) max_bytes: usize,
}

/// A stream that tells its [`Seat`] when it waits for the client, and fails when the client
/// does not read.
///
/// After the end it reads on for a moment if the client may still be sending. A kernel
/// resets a connection that is closed with unread bytes, and the client would lose the
/// answer that it has not read yet.
#[derive(Debug)]
pub(super) struct Transport<S> {
    /// The stream below.
    stream: WriteTimeout<S>,
    /// Told when the connection waits for the client.
    seat: Arc<Seat>,
    /// How long it reads on.
    linger: Linger,
    /// How far it has been closed.
    end: End,
}

/// How far a [`Transport`] has been closed.
#[derive(Debug)]
enum End {
    /// It is open.
    Open,
    /// The client has been told that nothing more comes.
    Told,
    /// The client goes on sending: read until then, and at most this many bytes more.
    Lingering(Pin<Box<Sleep>>, usize),
}

impl<S> Transport<S> {
    pub(super) fn new(stream: S, seat: Arc<Seat>, write_timeout: Duration, linger: Linger) -> Self {
        let stream = WriteTimeout::new(stream, write_timeout);
        Self { stream, seat, linger, end: End::Open }
    }
}

impl<S: AsyncRead + Unpin> Transport<S> {
    /// Reads until the client closes or the bounds of [`Linger`] are reached.
    fn poll_linger(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            let mut chunk = [0; CHUNK];
            let mut chunk = ReadBuf::new(&mut chunk);
            let read = Pin::new(&mut self.stream).poll_read(cx, &mut chunk);
            let sent = chunk.filled().len();
            if read.is_ready() && sent == 0 {
                return Poll::Ready(());
            }
            if let End::Told = self.end {
                let may_send = sent > 0 || self.seat.has_answered_early();
                if !may_send || self.linger.timeout.is_zero() {
                    return Poll::Ready(());
                }
                let until = Box::pin(sleep(self.linger.timeout));
                self.end = End::Lingering(until, self.linger.max_bytes);
            }
            let End::Lingering(until, left) = &mut self.end else { return Poll::Ready(()) };
            match left.checked_sub(sent) {
                Some(rest) => *left = rest,
                None => return Poll::Ready(()),
            }
            if sent == 0 {
                return until.as_mut().poll(cx);
            }
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Transport<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if let End::Open = self.end {
            ready!(Pin::new(&mut self.stream).poll_shutdown(cx))?;
            self.end = End::Told;
        }
        self.poll_linger(cx).map(Ok)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Transport<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.stream).poll_read(cx, buf);
        if read.is_pending() {
            self.seat.wait();
        }
        read
    }
}

#[cfg(test)]
mod tests {
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex},
        time::Instant,
    };

    use super::*;

    const LINGER: Linger = Linger { timeout: Duration::from_secs(5), max_bytes: 100_000 };

    fn transport(linger: Linger) -> (DuplexStream, Transport<DuplexStream>) {
        let (client, server) = duplex(1_000);
        let seat = Arc::new(Seat::new(Instant::now()));
        (client, Transport::new(server, seat, Duration::from_secs(30), linger))
    }

    /// How long the end takes of a connection over which this much has been sent
    /// that nobody read, and more comes; and how much the client could send.
    async fn end(linger: Linger, early: bool, sent: usize, more: usize) -> (Duration, usize) {
        let (mut client, mut server) = transport(linger);
        if early {
            server.seat.answer_early();
        }
        client.write_all(&vec![0; sent]).await.expect("there is room");
        let client = tokio::spawn(async move {
            let mut count = sent;
            while count < sent + more {
                match client.write(&[0; 500]).await {
                    Ok(written) => count += written,
                    Err(_) => break,
                }
            }
            let mut answer = String::new();
            client.read_to_string(&mut answer).await.expect("the answer comes");
            assert_eq!(answer, "too large");
            (count, client)
        });
        let started = Instant::now();
        server.write_all(b"too large").await.expect("there is room");
        server.shutdown().await.expect("it ends");
        let took = started.elapsed();
        drop(server);
        (took, client.await.expect("no panic").0)
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_still_sent_is_read_for_a_bounded_time_and_in_bounded_number() {
        let five = Duration::from_secs(5);
        assert_eq!(end(LINGER, true, 0, 50_000).await, (five, 50_000));
        assert_eq!(end(LINGER, false, 500, 50_000).await, (five, 50_500));
        assert_eq!(end(LINGER, true, 0, 0).await, (five, 0));
        let (took, sent) = end(LINGER, true, 0, usize::MAX / 2).await;
        assert_eq!(took, Duration::ZERO);
        assert!((100_000..110_000).contains(&sent), "{sent}");
    }

    #[tokio::test(start_paused = true)]
    async fn who_has_sent_all_is_not_waited_for() {
        assert_eq!(end(LINGER, false, 0, 0).await, (Duration::ZERO, 0));
        let at_once = Linger { timeout: Duration::ZERO, ..LINGER };
        assert_eq!(end(at_once, true, 500, 0).await, (Duration::ZERO, 500));
        // It closes as soon as it has the answer.
        let (mut client, mut server) = transport(LINGER);
        server.seat.answer_early();
        let started = Instant::now();
        let closing = async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            client.shutdown().await
        };
        let (ended, closed) = tokio::join!(server.shutdown(), closing);
        ended.expect("it ends");
        closed.expect("it closes");
        assert_eq!(started.elapsed().as_secs(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_is_idle_while_the_peer_is_waited_for_and_no_request_is_in_hand() {
        let (mut client, mut server) = transport(LINGER);
        let seat = Arc::clone(&server.seat);
        let second = Duration::from_secs(1);
        tokio::time::sleep(second).await;
        assert!(seat.idle().is_some_and(|(_, age)| age.as_millis() >= 990));
        client.write_all(b"a").await.expect("there is room");
        server.read_u8().await.expect("a byte");
        assert!(seat.idle().is_some_and(|(_, age)| age.as_millis() >= 990), "a byte is no request");
        assert!(seat.begin());
        assert_eq!(seat.idle(), None);
        assert!(tokio::time::timeout(second, server.read_u8()).await.is_err());
        assert!(seat.idle().is_some_and(|(_, age)| age.as_millis() >= 990));
        // Brought by hyper, which reads on beside it.
        assert!(seat.begin());
        let number = seat.take();
        assert!(tokio::time::timeout(second, server.read_u8()).await.is_err());
        assert_eq!(seat.idle(), None);
        seat.finish(number);
        assert!(seat.idle().is_some());
    }
}
