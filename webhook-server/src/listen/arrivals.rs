//! The connections that arrive at an address.

use std::{
    io,
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use tokio::{
    net::TcpListener,
    time::{Instant, sleep},
};

/// A connection, and who opened it.
pub(super) type Arrival = (TcpStream, SocketAddr);

/// How long accepting rests when the machine is out of sockets.
const PAUSE: Duration = Duration::from_millis(50);
/// The least time between two lines of the log that say that connections cannot be accepted.
const SAID_EVERY: Duration = Duration::from_secs(5);
/// How many connections are taken at most from the kernel's queue when the address is closed. The
/// queue holds fewer.
const LAST: usize = 2_048;

/// An address where connections arrive.
pub(super) struct Arrivals {
    socket: TcpListener,
    failures: Failures,
}

/// Connections that could not be accepted.
#[derive(Debug, Default)]
struct Failures {
    /// When the log said last that there were some.
    said_at: Option<Instant>,
    /// How many there were since then.
    unsaid: u64,
}

impl Arrivals {
    pub(super) fn at(socket: TcpListener) -> Self {
        Self { socket, failures: Failures::default() }
    }

    /// The next connection. Dropping the future loses none.
    pub(super) async fn next(&mut self) -> Arrival {
        loop {
            let arrived = self.socket.accept().await;
            // The reactor of the core that serves the connection gets it later.
            match arrived.and_then(|(stream, peer)| Ok((stream.into_std()?, peer))) {
                Ok(arrival) => return arrival,
                Err(error) => {
                    if let Some(count) = self.failures.count() {
                        tracing::warn!(count, %error, "cannot accept connections");
                    }
                    sleep(PAUSE).await;
                }
            }
        }
    }

    /// Refuses new connections. The result is the connections that wait in the kernel's queue. The
    /// kernel would reset them.
    pub(super) fn close(self) -> Vec<Arrival> {
        let Ok(socket) = self.socket.into_std() else { return Vec::new() };
        let mut arrivals = Vec::new();
        while arrivals.len() < LAST {
            match socket.accept() {
                Ok((stream, peer)) if stream.set_nonblocking(true).is_ok() => {
                    arrivals.push((stream, peer));
                }
                // This connection is broken, and the next one need not be.
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                Err(_) => break,
            }
        }
        arrivals
    }
}

impl Failures {
    /// Counts one more. The result is the number that the log should say now, if any.
    fn count(&mut self) -> Option<u64> {
        self.unsaid += 1;
        if self.said_at.is_some_and(|said_at| said_at.elapsed() < SAID_EVERY) {
            return None;
        }
        self.said_at = Some(Instant::now());
        Some(std::mem::take(&mut self.unsaid))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn failures_are_said_at_once_and_then_summed_up() {
        let mut failures = Failures::default();
        let mut said = Vec::new();
        for _ in 0..=200 {
            said.extend(failures.count());
            sleep(PAUSE).await;
        }
        assert_eq!(said, [1, 100, 100]);
    }

    #[tokio::test]
    async fn what_waits_when_the_address_is_closed_is_handed_out() {
        let socket = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = socket.local_addr().expect("an address");
        let arrivals = Arrivals::at(socket);
        let mut clients = Vec::new();
        for _ in 0..20 {
            clients.push(TcpStream::connect(address).expect("there is a queue"));
        }
        let waiting = arrivals.close();
        assert_eq!(waiting.len(), 20);
        assert!(TcpStream::connect(address).is_err(), "nobody listens any more");
        drop(waiting);
        for client in clients {
            client.set_nonblocking(true).expect("it can be set");
            let mut client = tokio::net::TcpStream::from_std(client).expect("a stream");
            assert_eq!(client.read(&mut [0]).await.expect("no reset"), 0);
        }
    }
}
