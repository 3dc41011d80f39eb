//! A destination that speaks TLS with a certificate of its own making.

use std::{
    convert::Infallible,
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use ::http::{HeaderMap, Method, Request, Response, Uri, Version};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{body::Incoming, service::service_fn};
use hyper_util::{
    rt::{TokioExecutor, TokioIo},
    server::conn::auto,
};
use rcgen::{BasicConstraints, CertificateParams, CertifiedKey, IsCa, KeyPair};
use rustls::{
    RootCertStore, ServerConfig, SupportedProtocolVersion,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    server::WebPkiClientVerifier,
};
use tokio::{net::TcpListener, task::JoinHandle};
use tokio_rustls::TlsAcceptor;

#[derive(Debug)]
pub(super) struct TlsServer {
    pub(super) address: SocketAddr,
    pub(super) certificate_pem: String,
    accepted: Arc<AtomicUsize>,
    received: Arc<Mutex<Vec<Received>>>,
    serving: JoinHandle<()>,
}

#[derive(Clone, Debug)]
pub(super) struct Received {
    pub(super) version: Version,
    pub(super) method: Method,
    pub(super) uri: Uri,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

/// A certificate, and its key.
#[derive(Debug)]
pub(super) struct Identity {
    pub(super) certificate: CertificateDer<'static>,
    pub(super) key: PrivateKeyDer<'static>,
    pub(super) pem: String,
}

impl From<CertifiedKey<KeyPair>> for Identity {
    fn from(CertifiedKey { cert, signing_key }: CertifiedKey<KeyPair>) -> Self {
        let key = PrivateKeyDer::Pkcs8(signing_key.serialize_der().into());
        Self { certificate: cert.der().clone(), key, pem: cert.pem() }
    }
}

impl Identity {
    /// What `openssl req -x509` makes; none where there is no openssl.
    pub(super) fn of_openssl() -> Option<Self> {
        let made = std::process::Command::new("openssl")
            .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"])
            .args(["-nodes", "-days", "2", "-subj", "/CN=localhost"])
            .args(["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "-", "-out", "-"])
            .output();
        let made = match made {
            Ok(made) if made.status.success() => made.stdout,
            _ => {
                println!("skipped: openssl makes no certificate on this machine");
                return None;
            }
        };
        Some(Self {
            certificate: CertificateDer::from_pem_slice(&made).expect("a certificate"),
            key: PrivateKeyDer::from_pem_slice(&made).expect("a key"),
            pem: String::from_utf8(made).expect("text"),
        })
    }
}

/// Accepts TLS with this certificate.
pub(super) fn acceptor(identity: Identity, alpn: &[&str]) -> TlsAcceptor {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("ring has cipher suites for TLS 1.2 and 1.3");
    let mut config = builder
        .with_no_client_auth()
        .with_single_cert(vec![identity.certificate], identity.key)
        .expect("a usable certificate");
    config.alpn_protocols = alpn.iter().map(|protocol| protocol.as_bytes().to_vec()).collect();
    TlsAcceptor::from(Arc::new(config))
}

pub(super) fn self_signed(names: &[&str]) -> CertifiedKey<KeyPair> {
    certified(
        CertificateParams::new(names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>())
            .expect("names"),
    )
}

pub(super) fn expired() -> CertifiedKey<KeyPair> {
    let mut params = CertificateParams::new(["127.0.0.1".to_owned()]).expect("names");
    params.not_after = rcgen::date_time_ymd(2020, 1, 1);
    certified(params)
}

/// A certificate that is its own authority, as `openssl req -x509` makes it.
pub(super) fn own_authority() -> CertifiedKey<KeyPair> {
    let mut params = CertificateParams::new(["127.0.0.1".to_owned()]).expect("names");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    certified(params)
}

fn certified(params: CertificateParams) -> CertifiedKey<KeyPair> {
    let signing_key = KeyPair::generate().expect("a key");
    let cert = params.self_signed(&signing_key).expect("a certificate");
    CertifiedKey { cert, signing_key }
}

impl TlsServer {
    /// Echoes bodies; the path `/hang` is never answered.
    pub(super) async fn start(identity: impl Into<Identity>, alpn: &[&str]) -> Self {
        Self::serve(identity.into(), alpn, rustls::ALL_VERSIONS, false).await
    }

    /// The same for clients that show a certificate of this server's authority.
    pub(super) async fn wanting_certificates(
        version: &'static SupportedProtocolVersion,
        alpn: &[&str],
    ) -> Self {
        Self::serve(own_authority().into(), alpn, &[version], true).await
    }

    async fn serve(
        identity: Identity,
        alpn: &[&str],
        versions: &[&'static SupportedProtocolVersion],
        wants_certificates: bool,
    ) -> Self {
        let Identity { certificate, key, pem: certificate_pem } = identity;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut roots = RootCertStore::empty();
        roots.add(certificate.clone()).expect("a root");
        let clients = WebPkiClientVerifier::builder_with_provider(roots.into(), provider.clone());
        let clients = clients.build().expect("there is a root");
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(versions)
            .and_then(|builder| {
                let builder = match wants_certificates {
                    true => builder.with_client_cert_verifier(clients),
                    false => builder.with_no_client_auth(),
                };
                builder.with_single_cert(vec![certificate], key)
            })
            .expect("a usable certificate");
        config.alpn_protocols = alpn.iter().map(|protocol| protocol.as_bytes().to_vec()).collect();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("bound");
        let accepted = Arc::new(AtomicUsize::new(0));
        let received = Arc::new(Mutex::new(Vec::new()));
        let (counter, records) = (accepted.clone(), received.clone());
        let serving = tokio::spawn(async move {
            while let Ok((tcp, _)) = listener.accept().await {
                counter.fetch_add(1, Ordering::SeqCst);
                let (acceptor, records) = (acceptor.clone(), records.clone());
                tokio::spawn(async move {
                    let tls = match acceptor.accept(tcp).await {
                        Ok(tls) => tls,
                        // What the client has sent is not read: a reset follows the alert.
                        Err(_) => return,
                    };
                    let service = service_fn(move |request| echo(request, records.clone()));
                    let server = auto::Builder::new(TokioExecutor::new());
                    let _ = server.serve_connection(TokioIo::new(tls), service).await;
                });
            }
        });
        Self { address, certificate_pem, accepted, received, serving }
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("https://{}{path}", self.address)
    }

    pub(super) fn accepted(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }

    pub(super) fn received(&self) -> Vec<Received> {
        self.received.lock().expect("not poisoned").clone()
    }
}

impl Drop for TlsServer {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn echo(
    request: Request<Incoming>,
    records: Arc<Mutex<Vec<Received>>>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (parts, body) = request.into_parts();
    let body = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    let hangs = parts.uri.path() == "/hang";
    records.lock().expect("not poisoned").push(Received {
        version: parts.version,
        method: parts.method,
        uri: parts.uri,
        headers: parts.headers,
        body: body.clone(),
    });
    if hangs {
        std::future::pending::<()>().await;
    }
    Ok(Response::new(Full::new(body)))
}
