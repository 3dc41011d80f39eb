//! The first to see a request: webhooks go straight to the relay, everything
//! else to the router.

use std::{convert::Infallible, net::IpAddr, pin::Pin, sync::Arc};

use axum::{
    Router,
    body::Body,
    http::{HeaderName, HeaderValue, Request, Response},
};
use hyper::body::Incoming;
use tower_service::Service;
use tracing::Instrument;
use webhook_core::{
    Id,
    relay::{ClientAddr, IngestService},
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
    /// Whether senders reach the server over TLS, which somebody before it ends.
    secure: bool,
}

impl Front {
    pub(crate) fn new(ingest: IngestService, router: Router, secure: bool) -> Self {
        Self { ingest, router, secure }
    }

    /// The service of one connection.
    pub(crate) fn connection(
        &self,
        ip: IpAddr,
        seen: Arc<std::sync::atomic::AtomicBool>,
    ) -> Connection {
        let client = ClientAddr { ip: ip.to_canonical(), secure: self.secure };
        Connection { front: self.clone(), client, seen }
    }
}

/// Answers the requests of one connection.
#[derive(Clone, Debug)]
pub(crate) struct Connection {
    front: Front,
    client: ClientAddr,
    /// Set by the first request.
    seen: Arc<std::sync::atomic::AtomicBool>,
}

impl hyper::service::Service<Request<Incoming>> for Connection {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn call(&self, mut request: Request<Incoming>) -> Self::Future {
        self.seen.store(true, std::sync::atomic::Ordering::Relaxed);
        let id = Id::<AnsweredRequest>::generate().to_string();
        let Front { mut ingest, mut router, secure: _ } = self.front.clone();
        request.extensions_mut().insert(self.client);
        let span = tracing::info_span!("request", id);
        let answer = async move {
            let mut response = if request.uri().path().starts_with(INGEST_PREFIX) {
                ingest.call(request).await?.map(Body::new)
            } else {
                router.call(request.map(Body::new)).await?
            };
            // A destination's own, passed on to a waiting sender, stays.
            if let Ok(id) = HeaderValue::try_from(id) {
                response.headers_mut().entry(REQUEST_ID).or_insert(id);
            }
            Ok(response)
        };
        Box::pin(answer.instrument(span))
    }
}
