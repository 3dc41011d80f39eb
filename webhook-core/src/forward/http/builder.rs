//! What can be set about an [`HttpForwarder`], with its defaults.

use std::{sync::Arc, time::Duration};

use ::http::HeaderValue;
use rustls::pki_types::{CertificateDer, pem::PemObject};

use super::{
    HttpForwarder,
    connect::{Connector, Limits},
    pool::{Pool, PoolLimits},
    resolve::{Resolve, SystemResolver},
    tls,
};
use crate::guard::AddressGuard;

/// Makes an [`HttpForwarder`].
#[derive(Debug)]
pub struct HttpForwarderBuilder {
    guard: AddressGuard,
    resolver: Option<Arc<dyn Resolve>>,
    roots: Vec<CertificateDer<'static>>,
    limits: Limits,
    pool: PoolLimits,
    user_agent: Option<HeaderValue>,
}

/// Text that holds no usable root certificate.
#[derive(Debug, thiserror::Error)]
#[error("root certificates: {reason}")]
pub struct InvalidCertificate {
    reason: String,
}

impl HttpForwarderBuilder {
    pub(super) fn new() -> Self {
        Self {
            guard: AddressGuard::public_only(),
            resolver: None,
            roots: Vec::new(),
            limits: Limits {
                connect_timeout: Duration::from_secs(10),
                max_response_header_bytes: 64 * 1024,
            },
            pool: PoolLimits {
                idle_timeout: Duration::from_secs(4),
                max_idle_per_host: 128,
                max_idle: 1024,
            },
            // The library's name, whichever of its crates sends: destinations know it.
            user_agent: Some(HeaderValue::from_static(concat!(
                "webhook-core/",
                env!("CARGO_PKG_VERSION")
            ))),
        }
    }

    /// Which addresses may be connected to; by default the public ones.
    #[must_use]
    pub fn guard(mut self, guard: AddressGuard) -> Self {
        self.guard = guard;
        self
    }

    /// How names become addresses; by default as the operating system does it.
    #[must_use]
    pub fn resolver(mut self, resolver: Arc<dyn Resolve>) -> Self {
        self.resolver = Some(resolver);
        self
    }

    /// Trusts the certificates in `pem`, besides the operating system's.
    ///
    /// # Errors
    /// When there is no certificate in it, or one that cannot be read.
    pub fn add_root_certificates(mut self, pem: &[u8]) -> Result<Self, InvalidCertificate> {
        let before = self.roots.len();
        for certificate in CertificateDer::pem_slice_iter(pem) {
            let certificate = certificate
                .map_err(|error| InvalidCertificate { reason: error.to_string() })
                .and_then(|der| {
                    tls::check_root(&der)
                        .map(|()| der)
                        .map_err(|error| InvalidCertificate { reason: error.to_string() })
                })?;
            self.roots.push(certificate);
        }
        if self.roots.len() == before {
            return Err(InvalidCertificate { reason: "no certificate in the PEM text".to_owned() });
        }
        Ok(self)
    }

    /// How long resolving, connecting and the TLS handshake may take together;
    /// 10 s by default. The request's own deadline counts, too.
    #[must_use]
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.limits.connect_timeout = timeout;
        self
    }

    /// How many bytes an answer's headers may have; 64 KiB by default, at least 8 KiB.
    #[must_use]
    pub fn max_response_header_bytes(mut self, bytes: usize) -> Self {
        self.limits.max_response_header_bytes = bytes.max(8 * 1024);
        self
    }

    /// How long an unused connection is kept; 4 s by default (see the
    /// [module](super)). Zero keeps none.
    #[must_use]
    pub fn pool_idle_timeout(mut self, timeout: Duration) -> Self {
        self.pool.idle_timeout = timeout;
        self
    }

    /// How many unused connections are kept for each destination; 128 by default, which
    /// is how many deliveries an output has out at once.
    #[must_use]
    pub fn pool_max_idle_per_host(mut self, connections: usize) -> Self {
        self.pool.max_idle_per_host = connections;
        self
    }

    /// How many unused connections are kept in all; 1024 by default, counted
    /// separately for verified and unverified destinations.
    #[must_use]
    pub fn pool_max_idle(mut self, connections: usize) -> Self {
        self.pool.max_idle = connections;
        self
    }

    /// The `User-Agent` of requests that have none; `None` sends none.
    #[must_use]
    pub fn user_agent(mut self, user_agent: Option<HeaderValue>) -> Self {
        self.user_agent = user_agent;
        self
    }

    /// The forwarder. Reads the operating system's root certificates, which blocks for some
    /// milliseconds; where there are none, Mozilla's are used.
    #[must_use]
    pub fn build(self) -> HttpForwarder {
        let Self { guard, resolver, roots, limits, pool, user_agent } = self;
        let resolver = resolver.unwrap_or_else(|| Arc::new(SystemResolver::default()));
        HttpForwarder {
            connector: Connector::new(guard, resolver, tls::Tls::new(roots), limits),
            verified: Pool::new(pool),
            unverified: Pool::new(pool),
            user_agent,
        }
    }
}
