//! The addresses where the server listens, and their connections: how many, how long, and how
//! much header.

mod answer;
mod arrivals;
pub(crate) mod core_runtimes;
pub(crate) mod edge;
mod seat;
mod slots;
mod stream;
pub(crate) mod tls;
mod unreadable;
mod write_timeout;

use std::{future::pending, net::SocketAddr, pin::pin, sync::Arc, time::Duration};

use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::conn::auto,
};
use prometheus_client::metrics::{counter::Counter, gauge::Gauge};
use rustls::ProtocolVersion;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    sync::watch,
    task::yield_now,
    time::{Instant, sleep_until, timeout_at},
};

use arrivals::{Arrival, Arrivals};
use core_runtimes::CoreRuntimes;
use edge::Edge;
use seat::Seat;
use slots::{Slot, Slots};
use stream::{Linger, Transport};
use tls::Tls;
use unreadable::Explained;

use crate::{config::Config, failure::Failure};

/// How many connections the address of the metrics has at the same time: few programs read them.
const METRICS_CONNECTIONS: usize = 32;
/// For how long the connections that are open at the end may bring another request.
const LAST_REQUESTS: Duration = Duration::from_secs(1);
/// How often a silent HTTP/2 connection is asked whether anybody is there.
const PING_INTERVAL: Duration = Duration::from_secs(30);
/// How many bytes a client may send on an HTTP/2 stream before the server has read them:
/// enough for a large webhook over a slow line, few enough to keep in memory.
const STREAM_WINDOW: u32 = 256 * 1024;
/// The same for all streams of a connection.
const CONNECTION_WINDOW: u32 = 512 * 1024;
/// hyper's own limit, which costs no allocation.
const DEFAULT_MAX_HEADERS: usize = 100;

/// Listens at an address, if there is one. The result has the port as well.
pub(crate) async fn bind(
    address: Option<SocketAddr>,
    purpose: &str,
) -> Result<Option<(TcpListener, SocketAddr)>, Failure> {
    let Some(address) = address else { return Ok(None) };
    let failed = |error| Failure::io(format!("cannot listen on {address} for {purpose}"), error);
    let socket = TcpListener::bind(address).await.map_err(failed)?;
    let bound = socket.local_addr().map_err(failed)?;
    Ok(Some((socket, bound)))
}

/// An address where the server listens. Its connections are HTTP/1.1 and HTTP/2 on the same port,
/// over TLS or without (h2c).
pub(crate) struct Listener {
    /// Where connections arrive.
    arrivals: Arrivals,
    /// Serves the connections.
    host: Host,
    /// For how long the connections that are open at the end may bring another request.
    last_requests: Duration,
}

/// Serves the connections of one address.
struct Host {
    /// What the task of each connection needs.
    common: Arc<Common>,
    /// Bounds how many connections there are, in all and from one address.
    slots: Arc<Slots>,
    /// Tells every connection that the server ends, and until when requests are taken. Each
    /// connection has a receiver until its end.
    closing: watch::Sender<Option<Instant>>,
}

/// What all connections share.
struct Common {
    /// How hyper serves.
    http: auto::Builder<TokioExecutor>,
    /// Answers the requests.
    edge: Edge,
    /// The certificates, when the server itself ends TLS.
    tls: Option<Arc<Tls>>,
    /// How long a client may take to send the head of its first request.
    header_timeout: Duration,
    /// How long a client may read nothing of an answer.
    write_timeout: Duration,
    /// How long the server reads on after the last answer.
    linger: Linger,
    /// Counts the requests that hyper cannot read.
    unreadable: Counter,
}

impl Listener {
    /// An address for all clients; `open` counts its connections, and `unreadable` its requests that
    /// are no HTTP.
    pub(crate) fn new(
        socket: TcpListener,
        edge: Edge,
        tls: Option<Arc<Tls>>,
        config: &Config,
        open: Gauge,
        unreadable: Counter,
    ) -> Self {
        let Config { listen, connection, .. } = config;
        let (all, of_one) = (listen.max_connections, connection.max_connections_per_address);
        let slots = Slots::new(all, of_one, listen.trusted_proxies.clone(), open);
        Self::with_slots(socket, edge, tls, config, slots, unreadable)
    }

    /// An address for the metrics, with few connections and without TLS.
    pub(crate) fn for_metrics(socket: TcpListener, edge: Edge, config: &Config) -> Self {
        let proxies = config.listen.trusted_proxies.clone();
        let slots = Slots::new(METRICS_CONNECTIONS, usize::MAX, proxies, Gauge::default());
        Self::with_slots(socket, edge, None, config, slots, Counter::default())
    }

    fn with_slots(
        socket: TcpListener,
        edge: Edge,
        tls: Option<Arc<Tls>>,
        config: &Config,
        slots: Arc<Slots>,
        unreadable: Counter,
    ) -> Self {
        let Config { listen, connection, .. } = config;
        let common = Common {
            http: http(config),
            edge,
            tls,
            header_timeout: listen.header_timeout,
            write_timeout: connection.write_timeout,
            linger: Linger {
                timeout: connection.linger_timeout,
                max_bytes: connection.max_linger_bytes,
            },
            unreadable,
        };
        let closing = watch::Sender::new(None);
        Self {
            arrivals: Arrivals::at(socket),
            host: Host { common: Arc::new(common), slots, closing },
            // Some of the time is left to the requests that are being answered.
            last_requests: LAST_REQUESTS.min(listen.shutdown_timeout / 4),
        }
    }

    /// Serves connections until it is dropped.
    pub(crate) async fn serve(&mut self, cores: &CoreRuntimes) {
        self.accept(cores, pending()).await;
    }

    /// Serves connections until `end`. Then it refuses new ones, and waits for the end of the others:
    /// of those that are open, and of those that are in the kernel's queue.
    ///
    /// The open connections end after the address is closed. Otherwise a client that connects again
    /// could come to a queue that the server does not read any more.
    pub(crate) async fn serve_until(mut self, cores: &CoreRuntimes, end: impl Future<Output = ()>) {
        let unserved = self.accept(cores, end).await;
        let Self { arrivals, host, last_requests } = self;
        let unserved = unserved.into_iter().chain(arrivals.close());
        let until = Instant::now() + last_requests;
        host.closing.send_replace(Some(until));
        let serving = async {
            for (stream, peer) in unserved {
                let slot = host.slots.take(peer.ip()).await;
                host.spawn(stream, peer, slot, cores);
            }
        };
        if timeout_at(until, serving).await.is_err() {
            tracing::warn!("some connections found no place before the end");
        }
        host.closing.closed().await;
    }

    /// Accepts until `end`. A connection that finds no slot waits, and the ones after it wait in
    /// the kernel's queue. The result is the one that waits at the end.
    async fn accept(
        &mut self,
        cores: &CoreRuntimes,
        end: impl Future<Output = ()>,
    ) -> Option<Arrival> {
        let mut end = pin!(end);
        loop {
            let (stream, peer) = tokio::select! {
                arrival = self.arrivals.next() => arrival,
                () = &mut end => return None,
            };
            let slot = tokio::select! {
                biased;
                slot = self.host.slots.take(peer.ip()) => slot,
                () = &mut end => return Some((stream, peer)),
            };
            self.host.spawn(stream, peer, slot, cores);
        }
    }
}

impl Host {
    /// Serves a connection in its slot, unless it has none.
    fn spawn(
        &self,
        stream: std::net::TcpStream,
        peer: SocketAddr,
        slot: Option<Slot>,
        cores: &CoreRuntimes,
    ) {
        let Some(slot) = slot else {
            return tracing::debug!(%peer, "too many connections of one address");
        };
        let Some(place) = cores.slot() else { return };
        // Answers are small and complete, so waiting to fill a packet would only delay them.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, %peer, "cannot set TCP_NODELAY");
        }
        let common = Arc::clone(&self.common);
        let closing = self.closing.subscribe();
        let seat = Arc::clone(slot.seat());
        let task = place.spawn(move || async move {
            let seat = Arc::clone(slot.seat());
            let ended = match TcpStream::from_std(stream) {
                Ok(stream) => common.secure_and_serve(stream, peer, seat, closing).await,
                Err(error) => Err(error.into()),
            };
            if let Err(error) = ended {
                tracing::debug!(error, %peer, "the connection broke off");
            }
            drop(slot);
        });
        seat.served_by(task);
    }
}

/// hyper's settings.
fn http(config: &Config) -> auto::Builder<TokioExecutor> {
    let Config { listen, connection, .. } = config;
    let mut http = auto::Builder::new(TokioExecutor::new());
    http.http1()
        .timer(TokioTimer::new())
        .header_read_timeout(listen.header_timeout)
        // Who has sent all may close its half and wait for the answer; and a webhook whose
        // sender hangs up is stored.
        .half_close(true)
        .max_buf_size(listen.max_header_bytes);
    if listen.max_headers != DEFAULT_MAX_HEADERS {
        http.http1().max_headers(listen.max_headers);
    }
    http.http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(PING_INTERVAL)
        .keep_alive_timeout(listen.header_timeout)
        .max_header_list_size(u32::try_from(listen.max_header_bytes).unwrap_or(u32::MAX))
        .max_concurrent_streams(connection.max_streams)
        .max_send_buf_size(connection.max_stream_buffer_bytes.min(u32::MAX as usize))
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW);
    http
}

/// Says until when requests are taken, once the server ends.
type Closing = watch::Receiver<Option<Instant>>;

/// Returns when no request is taken any more.
async fn over(closing: &mut Closing) {
    let until = closing.wait_for(Option::is_some).await.ok().and_then(|until| *until);
    if let Some(until) = until {
        sleep_until(until).await;
    }
}

/// Returns when hyper is to end the connection, which closes it while it is idle.
///
/// Before that moment each answer over HTTP/1.1 says `Connection: close`, so that the client sends
/// nothing after it. A connection over HTTP/2 may end immediately: its client is told which of its
/// requests are answered.
async fn last_request(seat: &Seat, closing: &mut Closing) {
    let _ = closing.wait_for(Option::is_some).await;
    seat.close_after_answer();
    if !seat.speaks_http2() {
        over(closing).await;
        // The kernel is asked once more whether a request has arrived.
        yield_now().await;
    }
}

type Ended = Result<(), Box<dyn std::error::Error + Send + Sync>>;

impl Common {
    async fn secure_and_serve(
        &self,
        stream: TcpStream,
        peer: SocketAddr,
        seat: Arc<Seat>,
        mut closing: Closing,
    ) -> Ended {
        let stream = Transport::new(stream, Arc::clone(&seat), self.write_timeout, self.linger);
        let Some(tls) = &self.tls else {
            return self.serve(stream, None, peer, seat, closing).await;
        };
        let stream = tokio::select! {
            shaken = tls.handshake(stream) => shaken?,
            () = over(&mut closing) => return Ok(()),
        };
        let version = stream.get_ref().1.protocol_version();
        self.serve(stream, version, peer, seat, closing).await
    }

    async fn serve<S>(
        &self,
        stream: S,
        tls: Option<ProtocolVersion>,
        peer: SocketAddr,
        seat: Arc<Seat>,
        mut closing: Closing,
    ) -> Ended
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let service = self.edge.connection(peer.ip(), tls, Arc::clone(&seat));
        let stream = TokioIo::new(Explained::new(stream, self.unreadable.clone()));
        let connection = self.http.serve_connection_with_upgrades(stream, service);
        let mut connection = pin!(connection);
        let mut last_request = pin!(last_request(&seat, &mut closing));
        let mut is_closing = false;
        let mut stalled = pin!(seat.unread_for(self.write_timeout));
        // hyper's own timeout starts once it knows the version of HTTP. A client that
        // sends nothing would stay for ever without this one.
        let mut silent = pin!(seat.silent_for(self.header_timeout));
        loop {
            tokio::select! {
                // A request that has arrived comes before the end.
                biased;
                ended = &mut connection => return ended,
                () = &mut last_request, if !is_closing => {
                    is_closing = true;
                    connection.as_mut().graceful_shutdown();
                }
                () = &mut silent => return Ok(()),
                () = &mut stalled => return Err("the peer does not read".into()),
            }
        }
    }
}
