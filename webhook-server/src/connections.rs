//! The connections of the listener: how many, how long, and how much header.

mod answer;
mod seat;
mod slots;
mod stream;

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
use webhook_core::http1::{self, Http1Options, Served};

pub(crate) use answer::{Arriving, Budget, Exchange, Outgoing, Shared};
pub(crate) use seat::Seat;
use slots::{Slot, Slots};
use stream::{Linger, Transport};

use crate::{
    config::Config,
    cores::{Cores, Place},
    front::{self, Front},
    state::AppState,
    tls::Tls,
};

/// How long accepting rests when the machine is out of sockets.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// How often a silent HTTP/2 connection is asked whether anybody is there.
const PING_INTERVAL: Duration = Duration::from_secs(30);
/// What a client may send over HTTP/2 that nobody has read yet: enough for a
/// large webhook from the other side of the world, little enough to be held.
const STREAM_WINDOW: u32 = 256 * 1024;
/// The same for all streams of a connection.
const CONNECTION_WINDOW: u32 = 512 * 1024;
/// hyper's own limit, which costs no allocation.
const DEFAULT_MAX_HEADERS: usize = 100;

/// Accepts connections and serves them, HTTP/1.1 and HTTP/2 on the same port,
/// over TLS or without (h2c).
pub(crate) struct Connections {
    common: Arc<Common>,
    slots: Arc<Slots>,
    /// Dropped with this, which ends what is going on that hyper does not know of.
    closing: watch::Sender<()>,
}

/// What all connections have in common.
struct Common {
    /// For webhooks of the usual kind.
    plain: Http1Options,
    /// For everything else.
    http: auto::Builder<TokioExecutor>,
    front: Front,
    tls: Option<Tls>,
    header_timeout: Duration,
    write_timeout: Duration,
    linger: Linger,
}

impl Connections {
    pub(crate) fn new(config: &Config, front: Front, tls: Option<Tls>, state: &AppState) -> Self {
        let Config { listen, connection, .. } = config;
        let mut plain = Http1Options::default();
        plain.timeout = listen.header_timeout;
        plain.max_headers = listen.max_headers;
        plain.max_head_bytes = plain.max_head_bytes.min(listen.max_header_bytes);
        let common = Common {
            plain,
            http: http(config),
            front,
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

    /// Accepts until it is dropped. A connection that finds no slot waits, and
    /// behind it the others in the kernel's queue.
    pub(crate) async fn accept(
        &self,
        listener: &TcpListener,
        cores: &Cores,
        graceful: &GracefulShutdown,
    ) {
        loop {
            match listener.accept().await {
                Ok((stream, peer)) => {
                    let Some(slot) = self.slots.take(peer.ip()).await else {
                        tracing::debug!(%peer, "too many connections of one address");
                        continue;
                    };
                    let Some(place) = cores.place() else { return };
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
        place: Place,
        watcher: Watcher,
    ) {
        // An answer is small and complete: nothing is gained by waiting for more.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, %peer, "cannot set TCP_NODELAY");
        }
        let common = Arc::clone(&self.common);
        let closing = self.closing.subscribe();
        let seat = Arc::clone(slot.seat());
        // Its events are to come where it is served.
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
            // An orderly end of the server waits for both.
            drop((watcher, slot));
        });
        seat.served_by(task);
    }
}

/// How hyper serves.
fn http(config: &Config) -> auto::Builder<TokioExecutor> {
    let Config { listen, connection, .. } = config;
    let mut http = auto::Builder::new(TokioExecutor::new());
    http.http1()
        .timer(TokioTimer::new())
        .header_read_timeout(listen.header_timeout)
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
        let service = self.front.connection(peer.ip(), tls, Arc::clone(&seat));
        let answer = async |request| {
            if !seat.begin() {
                // It is about to be cut.
                return std::future::pending().await;
            }
            service.answer(request).await
        };
        let is_wanted = front::Connection::is_of_webhooks;
        let ending = closing.clone();
        let stream = match http1::serve(stream, &self.plain, ending, is_wanted, answer).await? {
            Served::Ended => return Ok(()),
            Served::Left(stream) => stream,
        };
        let connection = self.http.serve_connection_with_upgrades(TokioIo::new(stream), service);
        let mut connection = pin!(connection);
        let mut is_closing = false;
        let mut stalled = pin!(seat.unread_for(self.write_timeout));
        // hyper's own timeout begins when it knows which HTTP is spoken; a
        // peer that says nothing would stay for ever.
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
