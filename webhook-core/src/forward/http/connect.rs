//! From a URL to a connection: resolve, guard, TCP, TLS, HTTP.

use std::{
    fmt,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use ::http::Uri;
use futures_util::{StreamExt, TryFutureExt, stream::FuturesUnordered};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    time::{sleep, timeout},
};
use tokio_rustls::client::TlsStream;
use tokio_util::either::Either;
use url::{Host, Position, Url};

use super::{
    HttpForwarder,
    failure::{self, Cause},
    http1::Http1,
    http2::Http2,
    pool::{Connection, Protocol},
    resolve::Resolve,
    tls::{Protocols, Tls},
    watched::Watched,
};
use crate::{
    forward::{
        ForwardError, message,
        timings::{Stage, Stopwatch},
    },
    guard::{AddressGuard, RefusedAddress},
};

/// When the next address is tried beside one that does not answer (RFC 8305 §5).
const ATTEMPT_DELAY: Duration = Duration::from_millis(250);

/// How many addresses of one name are tried.
const MAX_ADDRESSES: usize = 8;

#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) connect_timeout: Duration,
    pub(super) max_response_header_bytes: usize,
}

/// A transport, plain or encrypted.
pub(super) type Stream = Either<TcpStream, Box<TlsStream<TcpStream>>>;

/// Opens connections.
#[derive(Clone)]
pub(super) struct Connector {
    guard: Arc<AddressGuard>,
    resolver: Arc<dyn Resolve>,
    tls: Tls,
    limits: Limits,
}

impl fmt::Debug for Connector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connector")
            .field("guard", &self.guard)
            .field("resolver", &self.resolver)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

impl Connector {
    pub(super) fn new(
        guard: AddressGuard,
        resolver: Arc<dyn Resolve>,
        tls: Tls,
        limits: Limits,
    ) -> Self {
        Self { guard: Arc::new(guard), resolver, tls, limits }
    }

    /// A new connection to `destination`, a scheme and authority, within the connect timeout.
    pub(super) async fn connect(
        &self,
        destination: &str,
        verify: bool,
        watch: &mut Stopwatch,
    ) -> Result<Connection, ForwardError> {
        self.in_time(async {
            let url = parse(destination)?;
            let (stream, address) = self.open(&url, verify, Protocols::Http, watch).await?;
            let authority = &url[Position::BeforeHost..Position::AfterPort];
            let protocol = self.speak(authority, stream).await?;
            Ok(Connection { protocol, address })
        })
        .await
    }

    /// The same up to the point where HTTP/1.1 begins, which is left to the caller.
    pub(super) async fn connect_http1(
        &self,
        destination: &str,
        verify: bool,
    ) -> Result<Stream, ForwardError> {
        self.in_time(async {
            let (url, watch) = (parse(destination)?, &mut Stopwatch::start());
            Ok(self.open(&url, verify, Protocols::Http1, watch).await?.0)
        })
        .await
    }

    async fn in_time<T>(
        &self,
        connecting: impl Future<Output = Result<T, ForwardError>>,
    ) -> Result<T, ForwardError> {
        let patience = self.limits.connect_timeout;
        timeout(patience, connecting)
            .await
            .unwrap_or_else(|_| Err(failure::no_connection_within(patience)))
    }

    async fn open(
        &self,
        url: &Url,
        verify: bool,
        protocols: Protocols,
        watch: &mut Stopwatch,
    ) -> Result<(Stream, SocketAddr), ForwardError> {
        let (Some(host), Some(port)) = (url.host(), url.port_or_known_default()) else {
            return Err(ForwardError::Unsendable("host is missing".to_owned()));
        };
        if matches!(host, Host::Domain(_)) {
            watch.enter(Stage::Resolve);
        }
        let addresses = self.addresses(&host).await?;
        watch.enter(Stage::Connect);
        let (tcp, address) = open(&addresses, port, watch).await?;
        // Small writes that wait for an ACK cost 40 ms; without the option it still works.
        let _ = tcp.set_nodelay(true);
        let stream = match url.scheme() {
            "https" => {
                watch.enter(Stage::Tls);
                let tls = self.tls.handshake(&host, verify, protocols, tcp).await?;
                Either::Right(Box::new(tls))
            }
            _ => Either::Left(tcp),
        };
        Ok((stream, address))
    }

    /// The addresses of `host`, all of which the guard allows.
    ///
    /// One that is refused refuses the host: a name that mixes public and
    /// private addresses is how DNS rebinding looks, and skipping the private
    /// ones would let an attacker choose when they come first.
    async fn addresses(&self, host: &Host<&str>) -> Result<Vec<IpAddr>, ForwardError> {
        let refused = |error: RefusedAddress| {
            ForwardError::Refused(match host {
                // What a name of the operator's network means is not for a customer.
                Host::Domain(name) => {
                    let (address, range) = (error.address(), error.range());
                    tracing::info!(name, %address, range, "a destination was refused");
                    format!("{name} resolves to an address that is not allowed")
                }
                _ => error.to_string(),
            })
        };
        let addresses = match host {
            Host::Ipv4(v4) => vec![IpAddr::V4(*v4)],
            Host::Ipv6(v6) => vec![IpAddr::V6(*v6)],
            Host::Domain(name) => {
                self.resolver.resolve(name).await.map_err(|error| ForwardError::Connect {
                    reason: format!("dns: cannot resolve {name}: {error}"),
                    source: Some(error.into()),
                    timings: None,
                })?
            }
        };
        if addresses.is_empty() {
            let reason = format!("dns: {host} has no address");
            return Err(ForwardError::Connect { reason, source: None, timings: None });
        }
        addresses.iter().try_for_each(|address| self.guard.check(*address)).map_err(refused)?;
        Ok(addresses)
    }

    async fn speak(&self, authority: &str, stream: Stream) -> Result<Protocol, ForwardError> {
        let max_header_bytes = self.limits.max_response_header_bytes;
        if let Either::Right(tls) = &stream
            && tls.get_ref().1.alpn_protocol() == Some(b"h2")
        {
            let list_bytes = u32::try_from(max_header_bytes).unwrap_or(u32::MAX);
            let (stream, seen) = Watched::new(stream);
            let (sender, driver) = hyper::client::conn::http2::Builder::new(TokioExecutor::new())
                .timer(TokioTimer::new())
                .initial_stream_window_size(256 * 1024)
                .initial_connection_window_size(1024 * 1024)
                .max_header_list_size(list_bytes)
                .handshake(TokioIo::new(stream))
                .await
                .map_err(|error| failure::never_written(Cause::Hyper(error)))?;
            // Ends when the last sender is gone; its error reaches those who wait for an answer.
            tokio::spawn(async move { drop(driver.await) });
            return Http2::new(sender, authority, seen).map(Protocol::Http2);
        }
        Http1::new(stream, authority, max_header_bytes).await.map(Box::new).map(Protocol::Http1)
    }
}

impl HttpForwarder {
    /// A connection for a protocol that begins as a request over HTTP/1.1, such as
    /// WebSocket. It is resolved, guarded and encrypted as a request's would be, within
    /// the connect timeout, and belongs to the caller: it does not come from the pool
    /// and does not go there. Of `url` only scheme, host and port count.
    ///
    /// # Errors
    /// [`ForwardError::Unsendable`], [`ForwardError::Refused`] or [`ForwardError::Connect`].
    pub async fn connect_http1(
        &self,
        url: &Uri,
        tls_verification: bool,
    ) -> Result<impl AsyncRead + AsyncWrite + Send + Unpin + use<>, ForwardError> {
        let destination = message::destination(url)?;
        self.connector.connect_http1(&destination, tls_verification).await
    }
}

/// Addresses in any spelling (`0x7f.1`) and international names become plain here.
fn parse(destination: &str) -> Result<Url, ForwardError> {
    destination.parse().map_err(|error| ForwardError::Unsendable(format!("host: {error}")))
}

/// Connects to the first of `addresses` that answers: families take turns, and
/// the next one is tried when one fails or is slow (RFC 8305).
async fn open(
    addresses: &[IpAddr],
    port: u16,
    watch: &mut Stopwatch,
) -> Result<(TcpStream, SocketAddr), ForwardError> {
    let mut waiting = in_turns(addresses).take(MAX_ADDRESSES).map(|ip| SocketAddr::new(ip, port));
    let mut attempts = FuturesUnordered::new();
    let mut first_error = None;
    let mut next = waiting.next();
    if let Some(address) = next {
        watch.goes_to(address, false);
    }
    loop {
        if let Some(address) = next.take() {
            attempts.push(TcpStream::connect(address).map_ok(move |tcp| (tcp, address)));
        }
        tokio::select! {
            outcome = attempts.next() => match outcome {
                Some(Ok(opened)) => {
                    watch.goes_to(opened.1, false);
                    return Ok(opened);
                }
                Some(Err(error)) => {
                    first_error.get_or_insert(error);
                }
                None => {
                    let error = first_error.unwrap_or_else(|| std::io::ErrorKind::NotFound.into());
                    return Err(failure::connect(error));
                }
            },
            () = sleep(ATTEMPT_DELAY), if waiting.len() > 0 => {}
        }
        next = waiting.next();
    }
}

/// The addresses with the families taking turns, beginning with the first one's.
fn in_turns(addresses: &[IpAddr]) -> std::vec::IntoIter<IpAddr> {
    let first_is_v6 = addresses.first().is_some_and(IpAddr::is_ipv6);
    let (mut preferred, mut other): (Vec<_>, Vec<_>) =
        addresses.iter().copied().partition(|ip| ip.is_ipv6() == first_is_v6);
    preferred.reverse();
    other.reverse();
    let mut turns = Vec::with_capacity(addresses.len());
    while let Some(ip) = preferred.pop() {
        turns.push(ip);
        turns.extend(other.pop());
    }
    turns.extend(other.into_iter().rev());
    turns.into_iter()
}
