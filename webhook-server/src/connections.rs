//! The connections of the listener: how many, how long, and how much header.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

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
    sync::{OwnedSemaphorePermit, Semaphore, watch},
    time::sleep,
};
use webhook_core::http1::{self, Http1Options, Served};

use crate::{
    config::ListenConfig,
    cores::{Cores, Place},
    front::{self, Front},
    state::AppState,
    tls::Tls,
};

/// How long accepting rests when the machine is out of sockets.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// How often a silent HTTP/2 connection is asked whether anybody is there.
const PING_INTERVAL: Duration = Duration::from_secs(30);
/// hyper's own limit, which costs no allocation.
const DEFAULT_MAX_HEADERS: usize = 100;

/// Accepts connections and serves them, HTTP/1.1 and HTTP/2 on the same port,
/// over TLS or without (h2c).
pub(crate) struct Connections {
    shared: Arc<Shared>,
    slots: Arc<Semaphore>,
    /// Dropped with this, which ends what is going on that hyper does not know of.
    closing: watch::Sender<()>,
}

/// What all connections have in common.
struct Shared {
    /// For webhooks of the usual kind.
    plain: Http1Options,
    /// For everything else.
    http: auto::Builder<TokioExecutor>,
    front: Front,
    tls: Option<Tls>,
    state: AppState,
    header_timeout: Duration,
}

impl Connections {
    pub(crate) fn new(
        config: &ListenConfig,
        front: Front,
        tls: Option<Tls>,
        state: AppState,
    ) -> Self {
        let mut http = auto::Builder::new(TokioExecutor::new());
        let header_list = u32::try_from(config.max_header_bytes).unwrap_or(u32::MAX);
        http.http1()
            .timer(TokioTimer::new())
            .header_read_timeout(config.header_timeout)
            .max_buf_size(config.max_header_bytes);
        if config.max_headers != DEFAULT_MAX_HEADERS {
            http.http1().max_headers(config.max_headers);
        }
        http.http2()
            .timer(TokioTimer::new())
            .keep_alive_interval(PING_INTERVAL)
            .keep_alive_timeout(config.header_timeout)
            .max_header_list_size(header_list);
        let mut plain = Http1Options::default();
        plain.timeout = config.header_timeout;
        plain.max_headers = config.max_headers;
        plain.max_head_bytes = plain.max_head_bytes.min(config.max_header_bytes);
        let slots = config.max_connections.min(Semaphore::MAX_PERMITS);
        let header_timeout = config.header_timeout;
        Self {
            shared: Arc::new(Shared { plain, http, front, tls, state, header_timeout }),
            slots: Arc::new(Semaphore::new(slots)),
            closing: watch::Sender::new(()),
        }
    }

    /// Accepts until it is dropped. A connection that finds no free slot waits
    /// in the kernel's queue.
    pub(crate) async fn accept(
        &self,
        listener: &TcpListener,
        cores: &Cores,
        graceful: &GracefulShutdown,
    ) {
        loop {
            let Ok(slot) = Arc::clone(&self.slots).acquire_owned().await else {
                return;
            };
            match listener.accept().await {
                Ok((stream, peer)) => {
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
        slot: OwnedSemaphorePermit,
        place: Place,
        watcher: Watcher,
    ) {
        // An answer is small and complete: nothing is gained by waiting for more.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, %peer, "cannot set TCP_NODELAY");
        }
        let shared = Arc::clone(&self.shared);
        let closing = self.closing.subscribe();
        // Its events are to come where it is served.
        let stream = stream.into_std();
        place.spawn(move || async move {
            let _slot = slot;
            shared.state.metrics().connections.inc();
            let ended = match stream.and_then(TcpStream::from_std) {
                Ok(stream) => shared.secure_and_serve(stream, peer, watcher, closing).await,
                Err(error) => Err(error.into()),
            };
            shared.state.metrics().connections.dec();
            if let Err(error) = ended {
                tracing::debug!(error, %peer, "the connection broke off");
            }
        });
    }
}

type Ended = Result<(), Box<dyn std::error::Error + Send + Sync>>;

impl Shared {
    async fn secure_and_serve(
        &self,
        stream: TcpStream,
        peer: SocketAddr,
        watcher: Watcher,
        mut closing: watch::Receiver<()>,
    ) -> Ended {
        let Some(tls) = &self.tls else {
            return self.serve(stream, None, peer, watcher, closing).await;
        };
        let stream = tokio::select! {
            shaken = tls.handshake(stream) => shaken?,
            _ = closing.changed() => return Ok(()),
        };
        let version = stream.get_ref().1.protocol_version();
        self.serve(stream, version, peer, watcher, closing).await
    }

    async fn serve<S>(
        &self,
        stream: S,
        tls: Option<ProtocolVersion>,
        peer: SocketAddr,
        watcher: Watcher,
        closing: watch::Receiver<()>,
    ) -> Ended
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let spoke = Arc::new(AtomicBool::new(false));
        let service = self.front.connection(peer.ip(), tls, Arc::clone(&spoke));
        let answer = async |request| match service.answer(request).await {
            Ok(response) => response,
        };
        let is_wanted = front::Connection::is_of_webhooks;
        // An orderly end waits for the watcher, whichever of the two serves.
        let stream = match http1::serve(stream, &self.plain, closing, is_wanted, answer).await? {
            Served::Ended => return Ok(()),
            Served::Left(stream) => stream,
        };
        let connection = self.http.serve_connection_with_upgrades(TokioIo::new(stream), service);
        let connection = watcher.watch(connection.into_owned());
        tokio::pin!(connection);
        // hyper's own timeout begins when it knows which HTTP is spoken; a
        // peer that says nothing would stay for ever.
        let ended = tokio::select! {
            ended = &mut connection => Some(ended),
            () = sleep(self.header_timeout) => None,
        };
        match ended {
            Some(ended) => ended,
            None if spoke.load(Ordering::Relaxed) => connection.await,
            None => Ok(()),
        }
    }
}
