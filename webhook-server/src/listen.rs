//! The addresses where the server listens, and their connections: how many, how long, and how
//! much header.

mod answer;
pub(crate) mod core_runtimes;
pub(crate) mod edge;
mod seat;
mod slots;
mod stream;
pub(crate) mod tls;
mod write_timeout;

use std::{net::SocketAddr, pin::pin, sync::Arc, time::Duration};

use futures_util::future::join_all;
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::conn::auto,
};
use prometheus_client::metrics::gauge::Gauge;
use rustls::ProtocolVersion;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    sync::watch,
    time::sleep,
};

use core_runtimes::{CoreRuntimes, CoreSlot};
use edge::Edge;
use seat::Seat;
use slots::{Slot, Slots};
use stream::{Linger, Transport};
use tls::Tls;

use crate::{config::Config, failure::Failure};

/// How many connections the address of the metrics has at the same time: few programs read them.
const METRICS_CONNECTIONS: usize = 32;
/// How long accepting rests when the machine is out of sockets.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
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

/// Accepts the connections of all listeners until it is dropped.
pub(crate) async fn accept(listeners: impl IntoIterator<Item = &Listener>, cores: &CoreRuntimes) {
    join_all(listeners.into_iter().map(|listener| listener.accept(cores))).await;
}

/// An address where the server listens. Its connections are HTTP/1.1 and HTTP/2 on the same port,
/// over TLS or without (h2c).
pub(crate) struct Listener {
    /// Where connections arrive.
    socket: TcpListener,
    /// What the task of each connection needs.
    common: Arc<Common>,
    /// Bounds how many connections there are, in all and from one address.
    slots: Arc<Slots>,
    /// Tells every connection that the server ends. Each connection has a receiver until its
    /// end. hyper's own graceful end does not reach the connections that hyper has not seen.
    closing: watch::Sender<()>,
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
}

impl Listener {
    /// An address for all clients; the gauge `open` counts its connections.
    pub(crate) fn new(
        socket: TcpListener,
        edge: Edge,
        tls: Option<Arc<Tls>>,
        config: &Config,
        open: Gauge,
    ) -> Self {
        let Config { listen, connection, .. } = config;
        let (all, of_one) = (listen.max_connections, connection.max_connections_per_address);
        let slots = Slots::new(all, of_one, listen.trusted_proxies.clone(), open);
        Self::with_slots(socket, edge, tls, config, slots)
    }

    /// An address for the metrics, with few connections and without TLS.
    pub(crate) fn for_metrics(socket: TcpListener, edge: Edge, config: &Config) -> Self {
        let proxies = config.listen.trusted_proxies.clone();
        let slots = Slots::new(METRICS_CONNECTIONS, usize::MAX, proxies, Gauge::default());
        Self::with_slots(socket, edge, None, config, slots)
    }

    fn with_slots(
        socket: TcpListener,
        edge: Edge,
        tls: Option<Arc<Tls>>,
        config: &Config,
        slots: Arc<Slots>,
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
        };
        Self { socket, common: Arc::new(common), slots, closing: watch::Sender::new(()) }
    }

    /// Accepts until it is dropped. A connection that finds no slot waits, and the ones
    /// after it wait in the kernel's queue.
    async fn accept(&self, cores: &CoreRuntimes) {
        loop {
            match self.socket.accept().await {
                Ok((stream, peer)) => {
                    let Some(slot) = self.slots.take(peer.ip()).await else {
                        tracing::debug!(%peer, "too many connections of one address");
                        continue;
                    };
                    let Some(place) = cores.slot() else { return };
                    self.spawn(stream, peer, slot, place);
                }
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }

    /// Refuses new connections, tells the open ones that the server ends, and waits for their end.
    pub(crate) async fn close(self) {
        let Self { socket, closing, .. } = self;
        drop(socket);
        closing.send_replace(());
        closing.closed().await;
    }

    fn spawn(&self, stream: TcpStream, peer: SocketAddr, slot: Slot, place: CoreSlot) {
        // Answers are small and complete, so waiting to fill a packet would only delay them.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, %peer, "cannot set TCP_NODELAY");
        }
        let common = Arc::clone(&self.common);
        let closing = self.closing.subscribe();
        let seat = Arc::clone(slot.seat());
        // Taken from this runtime's reactor, because it is registered anew with the reactor
        // of the core that serves it.
        let stream = stream.into_std();
        let task = place.spawn(move || async move {
            let seat = Arc::clone(slot.seat());
            let ended = match stream.and_then(TcpStream::from_std) {
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

type Ended = Result<(), Box<dyn std::error::Error + Send + Sync>>;

impl Common {
    async fn secure_and_serve(
        &self,
        stream: TcpStream,
        peer: SocketAddr,
        seat: Arc<Seat>,
        mut closing: watch::Receiver<()>,
    ) -> Ended {
        let stream = Transport::new(stream, Arc::clone(&seat), self.write_timeout, self.linger);
        let Some(tls) = &self.tls else {
            return self.serve(stream, None, peer, seat, closing).await;
        };
        let stream = tokio::select! {
            shaken = tls.handshake(stream) => shaken?,
            _ = closing.changed() => return Ok(()),
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
        mut closing: watch::Receiver<()>,
    ) -> Ended
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let service = self.edge.connection(peer.ip(), tls, Arc::clone(&seat));
        let connection = self.http.serve_connection_with_upgrades(TokioIo::new(stream), service);
        let mut connection = pin!(connection);
        let mut is_closing = false;
        let mut stalled = pin!(seat.unread_for(self.write_timeout));
        // hyper's own timeout starts once it knows the version of HTTP. A client that
        // sends nothing would stay for ever without this one.
        let mut silent = pin!(seat.silent_for(self.header_timeout));
        loop {
            tokio::select! {
                ended = &mut connection => return ended,
                _ = closing.changed(), if !is_closing => {
                    is_closing = true;
                    connection.as_mut().graceful_shutdown();
                }
                () = &mut silent => return Ok(()),
                () = &mut stalled => return Err("the peer does not read".into()),
            }
        }
    }
}
