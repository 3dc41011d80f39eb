//! The connections of the listener: how many, how long, and how much header.

mod answer;
pub(crate) mod core_runtimes;
pub(crate) mod edge;
mod seat;
mod slots;
mod stream;
pub(crate) mod tls;
mod write_timeout;

use std::{net::SocketAddr, pin::pin, sync::Arc, time::Duration};

use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::{
        conn::auto,
        graceful::{GracefulShutdown, Watcher},
    },
};
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

use crate::{config::Config, state::AppState};

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

/// Accepts connections and serves them, HTTP/1.1 and HTTP/2 on the same port,
/// over TLS or without (h2c).
pub(crate) struct Connections {
    /// What the task of each connection needs.
    common: Arc<Common>,
    /// Bounds how many connections there are, in all and from one address.
    slots: Arc<Slots>,
    /// Tells every connection, when this is dropped, that the server ends. hyper's own
    /// graceful end does not reach those that hyper has not seen.
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

impl Connections {
    pub(crate) fn new(
        config: &Config,
        edge: Edge,
        tls: Option<Arc<Tls>>,
        state: &AppState,
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
        let slots = Slots::new(
            listen.max_connections,
            connection.max_connections_per_address,
            listen.trusted_proxies.clone(),
            state.metrics().connections.clone(),
        );
        Self { common: Arc::new(common), slots, closing: watch::Sender::new(()) }
    }

    /// Accepts until it is dropped. A connection that finds no slot waits, and the ones
    /// after it wait in the kernel's queue.
    pub(crate) async fn accept(
        &self,
        listener: &TcpListener,
        cores: &CoreRuntimes,
        graceful: &GracefulShutdown,
    ) {
        loop {
            match listener.accept().await {
                Ok((stream, peer)) => {
                    let Some(slot) = self.slots.take(peer.ip()).await else {
                        tracing::debug!(%peer, "too many connections of one address");
                        continue;
                    };
                    let Some(place) = cores.slot() else { return };
                    self.spawn(stream, peer, slot, place, graceful.watcher());
                }
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }

    fn spawn(
        &self,
        stream: TcpStream,
        peer: SocketAddr,
        slot: Slot,
        place: CoreSlot,
        watcher: Watcher,
    ) {
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
            // The server's orderly end waits until both are dropped.
            drop((watcher, slot));
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
