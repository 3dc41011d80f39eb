//! The first to see a request: webhooks go straight to the relay, those for a
//! reserved domain as well, and everything else to the router.

use std::{convert::Infallible, net::IpAddr, pin::Pin, sync::Arc};

use axum::{
    BoxError, Router,
    body::{Body, HttpBody},
    http::{HeaderName, HeaderValue, Request, Response, StatusCode},
    response::IntoResponse,
};
use bytes::Bytes;
use hyper::body::Incoming;
use rustls::ProtocolVersion;
use tokio::runtime::Handle;
use tokio_util::task::AbortOnDropHandle;
use tower_service::Service;
use tracing::Instrument;
use webhook_core::{
    Error, Id,
    relay::{ClientAddr, DomainService, IngestService, TrustedProxies, host_name, requested_host},
};

use crate::{
    api::variables,
    config::ListenConfig,
    error::{ApiError, text},
};

/// What input addresses start with.
const INGEST_PREFIX: &str = "/v1/webhooks/";
const REQUEST_ID: HeaderName = HeaderName::from_static("request-id");

/// Makes the identifiers of requests a kind of their own.
enum AnsweredRequest {}

/// Answers the requests of all connections; a clone is a handle on the same.
#[derive(Clone, Debug)]
pub(crate) struct Front {
    ingest: IngestService,
    router: Router,
    /// Where management requests run: apart from the webhooks of the connection's core.
    management: Handle,
    edge: Arc<Edge>,
}

/// What the operator says of the way that requests come.
#[derive(Debug)]
struct Edge {
    /// Whether senders reach the server over TLS, which somebody before it ends.
    secure: bool,
    proxies: TrustedProxies,
    /// The server's own name, which is never a reserved domain.
    own_name: Option<String>,
}

impl Front {
    /// Management requests will run on the runtime that this is called on.
    pub(crate) fn new(ingest: IngestService, router: Router, config: &ListenConfig) -> Self {
        let edge = Edge {
            secure: config.public_url.as_deref().is_some_and(|url| url.starts_with("https://")),
            proxies: config.trusted_proxies.clone(),
            own_name: config.public_name(),
        };
        Self { ingest, router, management: Handle::current(), edge: Arc::new(edge) }
    }

    /// The service of one connection, which speaks this version of TLS.
    pub(crate) fn connection(
        &self,
        ip: IpAddr,
        tls: Option<ProtocolVersion>,
        seen: Arc<std::sync::atomic::AtomicBool>,
    ) -> Connection {
        let secure = tls.is_some() || self.edge.secure;
        let peer = ClientAddr { ip: ip.to_canonical(), secure };
        Connection { front: self.clone(), peer, tls, seen }
    }

    /// What receives webhooks for the host that a request names, if that is a
    /// reserved domain. The store is asked for names that are not known yet,
    /// never for the server's own name or for an address.
    async fn domain<B>(&self, request: &Request<B>) -> Result<Option<DomainService>, Error>
    where
        B: Sync,
    {
        let name = requested_host(request)?.and_then(host_name);
        match name.filter(|name| self.edge.own_name.as_deref() != Some(&**name)) {
            Some(name) => self.ingest.domain(&name).await,
            None => Ok(None),
        }
    }

    async fn answer<B>(
        self,
        request: Request<B>,
        tls: Option<ProtocolVersion>,
    ) -> Result<Response<Body>, Infallible>
    where
        B: HttpBody<Data = Bytes> + Send + Sync + 'static,
        B::Error: Into<BoxError> + std::fmt::Display,
    {
        let elsewhere = match self.domain(&request).await {
            Ok(None) if request.uri().path().starts_with(INGEST_PREFIX) => {
                return Ok(self.ingest.receive(request).await.map(Body::new));
            }
            Ok(None) => Ok(()),
            // The connection was made for another name.
            Ok(Some(domain)) if domain.requires_tls13() && is_tls12(tls) => Err(text(
                StatusCode::MISDIRECTED_REQUEST,
                "this domain is reached over TLS 1.3 only",
            )),
            Ok(Some(mut domain)) => return Ok(domain.call(request).await?.map(Body::new)),
            Err(error) => Err(ApiError::from(error).into_response()),
        };
        // The relay has identified what is a webhook.
        let id = Id::<AnsweredRequest>::generate().to_string();
        let mut response = match elsewhere {
            Ok(()) => {
                let span = tracing::info_span!("request", id);
                let managing = self.management.clone().spawn(self.manage(request).instrument(span));
                // Dropped with the request when the client hangs up.
                match AbortOnDropHandle::new(managing).await {
                    Ok(response) => response?,
                    Err(ended) => match ended.try_into_panic() {
                        Ok(panic) => std::panic::resume_unwind(panic),
                        Err(_) => text(StatusCode::SERVICE_UNAVAILABLE, "the server stops"),
                    },
                }
            }
            Err(refusal) => refusal,
        };
        if let Ok(id) = HeaderValue::try_from(id) {
            response.headers_mut().insert(REQUEST_ID, id);
        }
        Ok(response)
    }

    async fn manage<B>(mut self, mut request: Request<B>) -> Result<Response<Body>, Infallible>
    where
        B: HttpBody<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        if let Some(meant) = variables::meant(request.uri()) {
            *request.uri_mut() = meant;
        }
        self.router.call(request.map(Body::new)).await
    }
}

fn is_tls12(version: Option<ProtocolVersion>) -> bool {
    version == Some(ProtocolVersion::TLSv1_2)
}

/// Answers the requests of one connection.
#[derive(Clone, Debug)]
pub(crate) struct Connection {
    front: Front,
    peer: ClientAddr,
    tls: Option<ProtocolVersion>,
    /// Set by the first request.
    seen: Arc<std::sync::atomic::AtomicBool>,
}

type Answering = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

impl Connection {
    /// What is worth the way without hyper.
    pub(crate) fn is_of_webhooks(path: &str) -> bool {
        path.starts_with(INGEST_PREFIX)
    }

    pub(crate) fn answer<B>(&self, mut request: Request<B>) -> Answering
    where
        B: HttpBody<Data = Bytes> + Send + Sync + 'static,
        B::Error: Into<BoxError> + std::fmt::Display,
    {
        let client = self.front.edge.proxies.client(self.peer, &mut request);
        request.extensions_mut().insert(client);
        Box::pin(self.front.clone().answer(request, self.tls))
    }
}

impl hyper::service::Service<Request<Incoming>> for Connection {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Answering;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        self.seen.store(true, std::sync::atomic::Ordering::Relaxed);
        self.answer(request)
    }
}
