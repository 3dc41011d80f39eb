//! The first to see a request: webhooks go straight to the relay, those for a
//! reserved domain as well, and everything else to the router.

use std::{convert::Infallible, net::IpAddr, pin::Pin, sync::Arc};

use axum::{
    BoxError, Router,
    body::{Body, HttpBody},
    http::{
        HeaderName, HeaderValue, Method, Request, Response, StatusCode, Version, header::CONNECTION,
    },
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
    admin::Admin,
    relay::{ClientAddr, DomainService, IngestService, TrustedProxies, host_name, requested_host},
};

use crate::{
    api::variables,
    auth,
    config::Config,
    connections::{Arriving, Budget, Exchange, Outgoing, Seat},
    error::{ApiError, text},
};

/// What input addresses start with.
const INGEST_PREFIX: &str = "/v1/webhooks/";
/// Names the request in every answer.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("request-id");

/// Makes the identifiers of requests a kind of their own.
enum AnsweredRequest {}

/// Answers the requests of all connections; a clone is a handle on the same.
#[derive(Clone, Debug)]
pub(crate) struct Front {
    ingest: IngestService,
    router: Router,
    /// Knows whose credentials are this server's.
    admin: Arc<Admin>,
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
    /// The server's own names, which are never reserved domains.
    own_names: Vec<String>,
    /// Of all headers of a request together.
    max_header_bytes: usize,
    /// For answers that wait to be read.
    sending: Budget,
}

/// Whom a request is for.
enum Meant {
    /// The input that its path names.
    Input,
    /// A reserved domain, whatever its path.
    Domain(DomainService),
    /// The management operations and the server's own pages.
    Router,
}

impl Front {
    /// Management requests will run on the runtime that this is called on.
    pub(crate) fn new(
        ingest: IngestService,
        router: Router,
        admin: Arc<Admin>,
        config: &Config,
    ) -> Self {
        let Config { listen, connection, .. } = config;
        let edge = Edge {
            secure: listen.public_url.as_deref().is_some_and(|url| url.starts_with("https://")),
            proxies: listen.trusted_proxies.clone(),
            own_names: listen.own_names(),
            max_header_bytes: listen.max_header_bytes,
            sending: Budget::new(connection.max_sending_bytes),
        };
        Self { ingest, router, admin, management: Handle::current(), edge: Arc::new(edge) }
    }

    /// The service of one connection, which speaks this version of TLS.
    pub(crate) fn connection(
        &self,
        ip: IpAddr,
        tls: Option<ProtocolVersion>,
        seat: Arc<Seat>,
    ) -> Connection {
        let secure = tls.is_some() || self.edge.secure;
        let peer = ClientAddr { ip: ip.to_canonical(), secure };
        Connection { front: self.clone(), peer, tls, seat }
    }

    /// Whom a request is for, which its host decides if that is a reserved
    /// domain. The store is asked for names that are not known yet, never for
    /// the server's own names or for an address.
    ///
    /// A request that carries a credential of this server's is never handed to a
    /// domain: its log would show the credential to the domain's account.
    async fn meant<B>(&self, request: &Request<B>) -> Result<Meant, Error>
    where
        B: Sync,
    {
        let name = requested_host(request)?.and_then(host_name);
        let name = name.filter(|name| self.edge.own_names.iter().all(|own| **own != **name));
        let domain = match name {
            Some(name) => self.ingest.domain(&name).await?,
            None => None,
        };
        let Some(domain) = domain else {
            let is_webhook = request.uri().path().starts_with(INGEST_PREFIX);
            return Ok(if is_webhook { Meant::Input } else { Meant::Router });
        };
        let candidates = auth::candidates(request.headers());
        // Boxed, because other requests have to carry it along.
        match !candidates.is_empty()
            && Box::pin(auth::any_is_known(&self.admin, candidates)).await?
        {
            true => Ok(Meant::Router),
            false => Ok(Meant::Domain(domain)),
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
        let elsewhere = match self.meant(&request).await {
            Ok(Meant::Input) => return Ok(self.ingest.receive(request).await.map(Body::new)),
            Ok(Meant::Router) => Ok(()),
            // The connection was made for another name.
            Ok(Meant::Domain(domain)) if domain.requires_tls13() && is_tls12(tls) => Err(text(
                StatusCode::MISDIRECTED_REQUEST,
                "this domain is reached over TLS 1.3 only",
            )),
            Ok(Meant::Domain(mut domain)) => return Ok(domain.call(request).await?.map(Body::new)),
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

/// The answer to what is no request for this server, whichever way it comes.
fn refusal<B>(request: &Request<B>, edge: &Edge) -> Option<Response<Body>> {
    // hyper does not measure a head that arrives in one piece.
    let of_header = |(name, value): (&HeaderName, &HeaderValue)| name.as_str().len() + value.len();
    let header_bytes: usize = request.headers().iter().map(of_header).sum();
    let mut refusal = if request.method() == Method::CONNECT {
        text(StatusCode::METHOD_NOT_ALLOWED, "the method CONNECT is not allowed here")
    } else if header_bytes > edge.max_header_bytes {
        let reason = format!("the headers are larger than {} bytes", edge.max_header_bytes);
        text(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, reason)
    } else {
        return None;
    };
    if let Ok(id) = HeaderValue::try_from(Id::<AnsweredRequest>::generate().to_string()) {
        refusal.headers_mut().insert(REQUEST_ID, id);
    }
    if request.version() < Version::HTTP_2 {
        refusal.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    Some(refusal)
}

/// Answers the requests of one connection.
#[derive(Clone, Debug)]
pub(crate) struct Connection {
    front: Front,
    peer: ClientAddr,
    tls: Option<ProtocolVersion>,
    seat: Arc<Seat>,
}

type Answering<B> = Pin<Box<dyn Future<Output = Result<Response<B>, Infallible>> + Send>>;

impl Connection {
    /// What is worth the way without hyper.
    pub(crate) fn is_of_webhooks(path: &str) -> bool {
        path.starts_with(INGEST_PREFIX)
    }

    /// The answer, which holds its part of the budget in its extensions.
    pub(crate) async fn answer<B>(&self, mut request: Request<B>) -> Response<Body>
    where
        B: HttpBody<Data = Bytes> + Send + Sync + 'static,
        B::Error: Into<BoxError> + std::fmt::Display,
    {
        let edge = &self.front.edge;
        let client = edge.proxies.client(self.peer, &mut request);
        request.extensions_mut().insert(client);
        // On the heap, as its size is that of all that may happen.
        let Ok(response) = Box::pin(self.front.clone().answer(request, self.tls)).await;
        edge.sending.charge(response)
    }
}

impl hyper::service::Service<Request<Incoming>> for Connection {
    type Response = Response<Outgoing>;
    type Error = Infallible;
    type Future = Answering<Outgoing>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        let Some(exchange) = Exchange::begin(&self.seat) else {
            // The connection is about to be cut.
            return Box::pin(std::future::pending());
        };
        if let Some(refusal) = refusal(&request, &self.front.edge) {
            self.seat.answer_early();
            return Box::pin(std::future::ready(Ok(exchange.answer(refusal))));
        }
        let connection = self.clone();
        Box::pin(async move {
            let request = request.map(|body| Arriving::new(body, &connection.seat));
            Ok(exchange.answer(connection.answer(request).await))
        })
    }
}
