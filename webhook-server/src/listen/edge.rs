//! Decides whom a request is for: webhooks go straight to the relay, requests for a
//! reserved domain as well, and everything else goes to the router.

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
    Error, Id, Webhooks,
    relay::{ClientAddr, IngestService, TrustedProxies, host_name, requested_host},
};

use super::{
    answer::{Arriving, ByteSemaphore, Exchange, Outgoing},
    seat::Seat,
};
use crate::{
    api::{
        auth,
        error::{ApiError, REQUEST_ID, text},
        variables,
    },
    config::Config,
    telemetry::otel::Tracer,
};

/// The path under which inputs receive webhooks.
const INGEST_PREFIX: &str = "/v1/webhooks/";
/// The same as a pattern, by which traces are told apart.
const INGEST_ROUTE: &str = "/v1/webhooks/{input}";

/// The kind of the identifiers of management requests.
enum AnsweredRequest {}

/// Answers the requests of all connections. A clone shares everything.
#[derive(Clone, Debug)]
pub(crate) struct Edge {
    /// Receives webhooks.
    ingest: IngestService,
    /// Answers management requests and serves the server's own pages.
    router: Router,
    /// Says whether a credential belongs to an account of this server.
    webhooks: Webhooks,
    /// The runtime of management requests, so that they take no time from the webhooks
    /// of the core that serves the connection.
    management: Handle,
    /// Makes spans of webhooks that are received.
    tracer: Tracer,
    /// What the configuration says.
    options: Arc<EdgeOptions>,
    /// Whether there is nothing here but pages: no input and no domain.
    only_pages: bool,
}

/// What the configuration says about requests before they are routed.
#[derive(Debug)]
struct EdgeOptions {
    /// Whether the public URL is `https`: then something in front of the server ends
    /// TLS, and plain connections count as secure.
    secure: bool,
    /// Whose `X-Forwarded-*` headers say who the sender is.
    proxies: TrustedProxies,
    /// The server's own host names. They are never looked up as reserved domains.
    own_names: Vec<String>,
    /// The bound on the bytes of all headers of a request together.
    max_header_bytes: usize,
    /// The memory for answers that wait until their clients read them.
    sending: ByteSemaphore,
    /// Whether the dashboard has the same origin as the inputs.
    #[cfg(feature = "dashboard")]
    sandboxes: bool,
}

/// Whom a request is for.
enum Target {
    /// The input that the path names.
    Input,
    /// A reserved domain, whatever the path.
    Domain(IngestService),
    /// The management operations and the server's own pages.
    Router,
}

impl Edge {
    /// Must be called on the runtime that is to run management requests.
    pub(crate) fn new(
        webhooks: Webhooks,
        router: Router,
        config: &Config,
        tracer: &Tracer,
    ) -> Self {
        let Config { listen, connection, .. } = config;
        let options = EdgeOptions {
            secure: listen.public_url.as_deref().is_some_and(|url| url.starts_with("https://")),
            proxies: listen.trusted_proxies.clone(),
            own_names: listen.own_names(),
            max_header_bytes: listen.max_header_bytes,
            sending: ByteSemaphore::new(connection.max_sending_bytes),
            #[cfg(feature = "dashboard")]
            sandboxes: crate::dashboard::shares_origin(config),
        };
        let (ingest, management) = (webhooks.ingest(), Handle::current());
        let (tracer, options) = (tracer.clone(), Arc::new(options));
        Self { ingest, router, webhooks, management, tracer, options, only_pages: false }
    }

    /// The same for an address that has only pages.
    pub(crate) fn only_pages(self) -> Self {
        Self { only_pages: true, ..self }
    }

    /// The service for one connection; `tls` is the version when the server ends TLS.
    pub(crate) fn connection(
        &self,
        ip: IpAddr,
        tls: Option<ProtocolVersion>,
        seat: Arc<Seat>,
    ) -> Connection {
        let secure = tls.is_some() || self.options.secure;
        let peer = ClientAddr { ip: ip.to_canonical(), secure };
        Connection { edge: self.clone(), peer, tls, seat }
    }

    /// Finds out whom a request is for. A host that is a reserved domain decides it;
    /// otherwise the path does. The store is asked only about names that are not cached,
    /// never about the server's own names or addresses.
    ///
    /// A request with a credential of this server never goes to a domain, because the
    /// domain's account would see the credential in its log.
    async fn target<B>(&self, request: &Request<B>) -> Result<Target, Error>
    where
        B: Sync,
    {
        if self.only_pages {
            return Ok(Target::Router);
        }
        let name = requested_host(request)?.and_then(host_name);
        let name = name.filter(|name| self.options.own_names.iter().all(|own| **own != **name));
        let domain = match name {
            Some(name) => self.ingest.domain(&name).await?,
            None => None,
        };
        let Some(domain) = domain else {
            let is_webhook = request.uri().path().starts_with(INGEST_PREFIX);
            return Ok(if is_webhook { Target::Input } else { Target::Router });
        };
        let candidates = auth::candidates(request.headers());
        // Boxed, because otherwise every request's future would have room for it.
        match !candidates.is_empty()
            && Box::pin(auth::any_is_known(self.webhooks.admin(), candidates)).await?
        {
            true => Ok(Target::Router),
            false => Ok(Target::Domain(domain)),
        }
    }

    async fn answer<B>(
        self,
        mut request: Request<B>,
        tls: Option<ProtocolVersion>,
    ) -> Result<Response<Body>, Infallible>
    where
        B: HttpBody<Data = Bytes> + Send + Sync + 'static,
        B::Error: Into<BoxError> + std::fmt::Display,
    {
        let elsewhere = match self.target(&request).await {
            Ok(Target::Input) => {
                keep_sessions_out(&mut request);
                let receiving = self.tracer.receiving(Some(INGEST_ROUTE), &request);
                let answering = self.ingest.receive(request).instrument(receiving.log_span());
                let response = answering.await.map(Body::new);
                receiving.answered(&response);
                return Ok(self.contained(response, true));
            }
            Ok(Target::Router) => Ok(()),
            // The client may connect again for this name, with TLS 1.3.
            Ok(Target::Domain(domain)) if domain.requires_tls13() && is_tls12(tls) => Err(text(
                StatusCode::MISDIRECTED_REQUEST,
                "this domain is reached over TLS 1.3 only",
            )),
            Ok(Target::Domain(mut domain)) => {
                keep_sessions_out(&mut request);
                let receiving = self.tracer.receiving(None, &request);
                let answering = domain.call(request).instrument(receiving.log_span());
                let response = answering.await?.map(Body::new);
                receiving.answered(&response);
                return Ok(self.contained(response, false));
            }
            Err(error) => Err(ApiError::from(error).into_response()),
        };
        // The relay gives identifiers to webhooks; all other requests get theirs here.
        let id = Id::<AnsweredRequest>::generate().to_string();
        let mut response = match elsewhere {
            Ok(()) => {
                let span = tracing::info_span!("request", id);
                let managing = self.management.clone().spawn(self.manage(request).instrument(span));
                // A client that hangs up drops this, which cancels the operation.
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

    /// The answer of an input, so that it can do nothing at the dashboard's origin, which is the
    /// answer's own unless it is of a domain.
    #[cfg(feature = "dashboard")]
    fn contained(&self, mut response: Response<Body>, own_host: bool) -> Response<Body> {
        webhook_dashboard::strip_set_session(response.headers_mut());
        let sandboxed = own_host && self.options.sandboxes;
        if sandboxed { crate::dashboard::sandbox(response) } else { response }
    }

    #[cfg(not(feature = "dashboard"))]
    fn contained(&self, response: Response<Body>, _own_host: bool) -> Response<Body> {
        response
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

/// Takes the session of who is signed in to the dashboard off a webhook: browsers send
/// cookies to all ports of a host.
fn keep_sessions_out<B>(request: &mut Request<B>) {
    #[cfg(feature = "dashboard")]
    webhook_dashboard::strip_session(request.headers_mut());
    #[cfg(not(feature = "dashboard"))]
    let _ = request;
}

fn is_tls12(version: Option<ProtocolVersion>) -> bool {
    version == Some(ProtocolVersion::TLSv1_2)
}

/// Refuses `CONNECT` and headers over the bound, whomever the request is for.
fn refusal<B>(request: &Request<B>, options: &EdgeOptions) -> Option<Response<Body>> {
    // hyper's own bound does not count a head that arrives in one read.
    let of_header = |(name, value): (&HeaderName, &HeaderValue)| name.as_str().len() + value.len();
    let header_bytes: usize = request.headers().iter().map(of_header).sum();
    let mut refusal = if request.method() == Method::CONNECT {
        text(StatusCode::METHOD_NOT_ALLOWED, "the method CONNECT is not allowed here")
    } else if header_bytes > options.max_header_bytes {
        let reason = format!("the headers are larger than {} bytes", options.max_header_bytes);
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
    /// What all connections share.
    edge: Edge,
    /// The other end of the connection: the sender, or a proxy in front of it.
    peer: ClientAddr,
    /// The version of TLS, when the server itself ends it.
    tls: Option<ProtocolVersion>,
    /// What the connection is doing at the moment.
    seat: Arc<Seat>,
}

type Answering<B> = Pin<Box<dyn Future<Output = Result<Response<B>, Infallible>> + Send>>;

impl Connection {
    /// Answers a request. The answer keeps its share of the memory for answers in its
    /// extensions until it is dropped.
    async fn answer<B>(&self, mut request: Request<B>) -> Response<Body>
    where
        B: HttpBody<Data = Bytes> + Send + Sync + 'static,
        B::Error: Into<BoxError> + std::fmt::Display,
    {
        let options = &self.edge.options;
        let client = options.proxies.client(self.peer, &mut request);
        request.extensions_mut().insert(client);
        // Boxed, because the future has room for every way that a request can go.
        let Ok(response) = Box::pin(self.edge.clone().answer(request, self.tls)).await;
        options.sending.charge(response)
    }
}

impl hyper::service::Service<Request<Incoming>> for Connection {
    type Response = Response<Outgoing>;
    type Error = Infallible;
    type Future = Answering<Outgoing>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        let Some(exchange) = Exchange::begin(&self.seat) else {
            // The connection is about to be closed to make room for another one.
            return Box::pin(std::future::pending());
        };
        if let Some(refusal) = refusal(&request, &self.edge.options) {
            self.seat.answer_early();
            return Box::pin(std::future::ready(Ok(exchange.answer(refusal))));
        }
        let is_http2 = request.version() == Version::HTTP_2;
        if is_http2 {
            self.seat.speak_http2();
        }
        let connection = self.clone();
        Box::pin(async move {
            let request = request.map(|body| Arriving::new(body, &connection.seat));
            let mut response = connection.answer(request).await;
            // An upgrade has a connection of its own.
            if connection.seat.closes_after_answer()
                && !is_http2
                && response.status() != StatusCode::SWITCHING_PROTOCOLS
            {
                response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            }
            Ok(exchange.answer(response))
        })
    }
}
