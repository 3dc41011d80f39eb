//! TLS, when the server itself has a certificate.
//!
//! [`certificate`] is one certificate and its key, [`certificates`] all of them
//! and when they are read again; here is the handshake.

mod certificate;
mod certificates;
#[cfg(feature = "dashboard")]
mod validity;

use std::{io, sync::Arc, time::Duration};

use rustls::{
    ServerConfig, SupportedProtocolVersion,
    crypto::ring,
    server::Acceptor,
    version::{TLS12, TLS13},
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    signal::unix::{Signal, SignalKind, signal},
    sync::Semaphore,
    time::{MissedTickBehavior, interval},
};
use tokio_rustls::{LazyConfigAcceptor, server::TlsStream};
use webhook_core::relay::IngestService;

use crate::{config::TlsConfig, failure::Failure};
pub(crate) use certificates::Certificates;
use certificates::Files;

/// Does the handshakes with clients.
pub(crate) struct Tls {
    /// What handshakes choose from.
    #[cfg(feature = "dashboard")]
    certificates: Arc<Certificates>,
    /// The settings for names that allow TLS 1.2.
    from_tls12: Arc<ServerConfig>,
    /// The settings for domains that require TLS 1.3.
    from_tls13: Arc<ServerConfig>,
    /// Says what a domain requires.
    ingest: IngestService,
    /// One permit for each handshake that may be computed at the same time.
    handshakes: Semaphore,
    /// How long a handshake may take.
    timeout: Duration,
}

impl Tls {
    /// Reads the certificates, or returns none when no TLS is configured. The second value
    /// reads them again when their files change.
    ///
    /// # Errors
    /// When the server's own certificate cannot be used, or signals cannot be
    /// listened for.
    pub(crate) fn open(
        config: &TlsConfig,
        ingest: IngestService,
    ) -> Result<Option<(Self, Refresh)>, Failure> {
        let files = Files::open(config)
            .map_err(|error| Failure::caused_by("cannot use the TLS certificate", error))?;
        let Some(files) = files else { return Ok(None) };
        let certificates = files.certificates();
        let tls = Self {
            from_tls12: server_config(&[&TLS13, &TLS12], Arc::clone(&certificates))?,
            from_tls13: server_config(&[&TLS13], Arc::clone(&certificates))?,
            #[cfg(feature = "dashboard")]
            certificates,
            ingest,
            handshakes: Semaphore::new(config.max_tls_handshakes as usize),
            timeout: config.tls_handshake_timeout,
        };
        // Registered early: before that, the signal would end the process.
        let hangup = signal(SignalKind::hangup())
            .map_err(|error| Failure::io("cannot listen for SIGHUP", error))?;
        Ok(Some((tls, Refresh { files, every: config.tls_reload_interval, hangup })))
    }

    /// The certificates that are used, for those who show until when they are valid.
    #[cfg(feature = "dashboard")]
    pub(crate) fn certificates(&self) -> Arc<Certificates> {
        Arc::clone(&self.certificates)
    }

    /// Whether the certificates can be used; none are when no TLS is configured.
    pub(crate) fn check(config: &TlsConfig) -> Result<(), Failure> {
        Files::open(config)
            .map(|_| ())
            .map_err(|error| Failure::caused_by("cannot use the TLS certificate", error))
    }

    /// Does the handshake with a client, within the timeout.
    pub(crate) async fn handshake<S>(&self, tcp: S) -> io::Result<TlsStream<S>>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let late = |_| io::Error::new(io::ErrorKind::TimedOut, "the handshake took too long");
        tokio::time::timeout(self.timeout, self.shake(tcp)).await.map_err(late)?
    }

    async fn shake<S>(&self, tcp: S) -> io::Result<TlsStream<S>>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        // Waits for the first message without a permit, so that silent clients take none.
        let start = LazyConfigAcceptor::new(Acceptor::default(), tcp).await?;
        let name = start.client_hello().server_name().map(str::to_owned);
        let config = self.config(name.as_deref()).await;
        let _place = self.handshakes.acquire().await.map_err(io::Error::other)?;
        start.into_stream(config).await
    }

    /// The settings for a client that asks for this name.
    async fn config(&self, name: Option<&str>) -> Arc<ServerConfig> {
        let Some(name) = name else { return Arc::clone(&self.from_tls12) };
        let strict = match self.ingest.domain(name).await {
            Ok(domain) => domain.is_some_and(|domain| domain.requires_tls13()),
            Err(error) => {
                // The request that follows is refused unless the store answers again by then.
                tracing::warn!(%error, "cannot look a domain up for a handshake");
                false
            }
        };
        Arc::clone(if strict { &self.from_tls13 } else { &self.from_tls12 })
    }
}

/// Reads certificates again when their files change.
pub(crate) struct Refresh {
    files: Files,
    every: Duration,
    hangup: Signal,
}

impl Refresh {
    /// Looks at the files periodically and at SIGHUP. It returns only with an error.
    ///
    /// # Errors
    /// When looking at them failed by a defect.
    pub(crate) async fn run(self) -> Result<(), Failure> {
        let Self { mut files, every, mut hangup } = self;
        let mut tick = interval(every);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                _ = tick.tick() => {}
                _ = hangup.recv() => tracing::info!("SIGHUP: looking at the certificates"),
            }
            let looked = tokio::task::spawn_blocking(move || {
                files.look_again();
                files
            });
            files = looked
                .await
                .map_err(|error| Failure::caused_by("looking at the certificates failed", error))?;
        }
    }
}

fn server_config(
    versions: &[&'static SupportedProtocolVersion],
    certificates: Arc<Certificates>,
) -> Result<Arc<ServerConfig>, Failure> {
    let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(versions)
        .map_err(|error| Failure::caused_by("cannot set TLS up", error))?;
    let mut config = builder.with_no_client_auth().with_cert_resolver(certificates);
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}
