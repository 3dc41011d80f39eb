//! TLS: whom to trust, and what a failed handshake means.

use std::sync::Arc;

use rustls::{
    ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
    client::{
        WebPkiServerVerifier,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
        verify_server_name,
    },
    crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature},
    pki_types::{CertificateDer, ServerName, UnixTime},
    server::ParsedCertificate,
};
use tokio::net::TcpStream;
use tokio_rustls::{TlsConnector, client::TlsStream};
use url::Host;

use super::tls_words;
use crate::forward::ForwardError;

/// The two ways to speak TLS. They share no session, so that one made without
/// verification is never resumed with it.
#[derive(Clone)]
pub(super) struct Tls {
    verifying: TlsConnector,
    trusting_all: TlsConnector,
}

/// What a connection is for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Protocols {
    /// Requests, over HTTP/2 where the destination speaks it.
    Http,
    /// What begins as HTTP/1.1 and goes on as something else.
    Http1,
}

impl Tls {
    pub(super) fn new(extra_roots: Vec<CertificateDer<'static>>) -> Self {
        let mut roots = RootCertStore::empty();
        let system = rustls_native_certs::load_native_certs();
        let (usable, _) = roots.add_parsable_certificates(system.certs);
        if usable == 0 {
            tracing::warn!("no root certificates on this system; using Mozilla's");
            roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
        }
        roots.add_parsable_certificates(extra_roots.iter().cloned());
        let chains = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider());
        let chains = chains.build().expect("there are roots, and no lists of revoked certificates");
        let verifier = Arc::new(Verifier { chains, named: extra_roots });
        Self {
            verifying: connector(|builder| {
                builder.dangerous().with_custom_certificate_verifier(verifier)
            }),
            trusting_all: connector(|builder| {
                builder.dangerous().with_custom_certificate_verifier(Arc::new(TrustAll))
            }),
        }
    }

    pub(super) async fn handshake(
        &self,
        host: &Host<&str>,
        verify: bool,
        protocols: Protocols,
        tcp: TcpStream,
    ) -> Result<TlsStream<TcpStream>, ForwardError> {
        let name = match host {
            Host::Domain(name) => {
                let name = name.strip_suffix('.').unwrap_or(name);
                ServerName::try_from((*name).to_owned()).map_err(|_| {
                    ForwardError::Unsendable(format!("{name} cannot be the name of a TLS server"))
                })?
            }
            Host::Ipv4(v4) => ServerName::IpAddress(std::net::IpAddr::V4(*v4).into()),
            Host::Ipv6(v6) => ServerName::IpAddress(std::net::IpAddr::V6(*v6).into()),
        };
        let connector = if verify { &self.verifying } else { &self.trusting_all };
        let connected = match protocols {
            Protocols::Http => connector.connect(name, tcp).await,
            Protocols::Http1 => {
                connector.with_alpn(vec![b"http/1.1".to_vec()]).connect(name, tcp).await
            }
        };
        connected.map_err(|error| ForwardError::Connect {
            reason: tls_words::of_handshake(&error),
            source: Some(error.into()),
            timings: None,
        })
    }
}

/// Whether `certificate` can be a trust anchor.
pub(super) fn check_root(certificate: &CertificateDer<'_>) -> Result<(), Error> {
    RootCertStore::empty().add(certificate.clone())
}

type Builder<State> = rustls::ConfigBuilder<ClientConfig, State>;

fn connector(
    trust: impl FnOnce(Builder<rustls::WantsVerifier>) -> Builder<rustls::client::WantsClientCert>,
) -> TlsConnector {
    let builder = ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .expect("ring has cipher suites for TLS 1.2 and 1.3");
    let mut config = trust(builder).with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    TlsConnector::from(Arc::new(config))
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

/// Verifies the chain of a destination's certificate up to a root.
///
/// A certificate that `openssl req -x509` makes is its own authority, and no chain may end with an
/// authority's certificate. One that the operator has named is trusted all the same.
#[derive(Debug)]
struct Verifier {
    chains: Arc<WebPkiServerVerifier>,
    /// The certificates that are trusted besides those of the operating system.
    named: Vec<CertificateDer<'static>>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verified = self.chains.verify_server_cert(certificate, intermediates, name, ocsp, now);
        match verified {
            // The dates were looked at before.
            Err(error)
                if tls_words::is_own_authority(&error)
                    && self.named.iter().any(|named| named == certificate) =>
            {
                verify_server_name(&ParsedCertificate::try_from(certificate)?, name)?;
                Ok(ServerCertVerified::assertion())
            }
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.chains.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.chains.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.chains.supported_verify_schemes()
    }
}

/// Takes any certificate, for outputs whose `tls_verification` is off. The
/// handshake's signatures are still checked, so that the peer has that
/// certificate's key.
#[derive(Debug)]
struct TrustAll;

impl ServerCertVerifier for TrustAll {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = ring::default_provider().signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, &algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = ring::default_provider().signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, &algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        ring::default_provider().signature_verification_algorithms.supported_schemes()
    }
}
