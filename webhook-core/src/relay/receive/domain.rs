//! Step 1, for a request that names a reserved domain as its host.

use std::{
    convert::Infallible,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body::Body;
use http_body_util::Full;
use tower_service::Service;

use super::{
    hosts,
    ingest::{IngestService, Receiver},
};
use crate::{error::Error, relay::cache::DomainRoutes};

impl IngestService {
    /// What receives webhooks for `host` (the header `Host`, or the name that a
    /// TLS client asks for), when it is a reserved domain. For another host this
    /// asks the store once and then remembers it, within
    /// [`cached_domains`](crate::relay::RelayOptions::cached_domains); for addresses and
    /// names without a dot it asks nothing.
    ///
    /// # Errors
    ///
    /// When the store fails.
    ///
    /// ```
    /// use tower_service::Service;
    /// use webhook_core::{Error, relay::{Relay, requested_host}};
    /// # use bytes::Bytes;
    /// # use http::{Request, Response};
    /// # use http_body_util::Full;
    ///
    /// /// What a server asks before anything else.
    /// async fn at_a_domain(
    ///     relay: &Relay,
    ///     request: Request<Full<Bytes>>,
    /// ) -> Result<Option<Response<Full<Bytes>>>, Error> {
    ///     let Some(host) = requested_host(&request)? else { return Ok(None) };
    ///     let Some(mut domain) = relay.ingest().domain(host).await? else { return Ok(None) };
    ///     let Ok(answer) = domain.call(request).await;
    ///     Ok(Some(answer))
    /// }
    /// ```
    pub async fn domain(&self, host: &str) -> Result<Option<DomainService>, Error> {
        let Some(name) = hosts::host_name(host) else {
            return Ok(None);
        };
        let receiver = &self.receiver;
        let domain = receiver.domains.get(&name).await?;
        Ok(domain.map(|domain| DomainService { receiver: Arc::clone(receiver), domain }))
    }
}

/// Receives the webhooks of one reserved domain (`docs/domains.md`): the input
/// with the longest `path_prefix` that consists of whole segments of the path.
/// 404 when there is none.
///
/// Otherwise as [`IngestService`]: always ready, and every refusal an answer.
/// It stays as the domain was when it was asked for.
#[derive(Clone, Debug)]
pub struct DomainService {
    receiver: Arc<Receiver>,
    domain: Arc<DomainRoutes>,
}

impl DomainService {
    /// Whether an input of the domain asks for TLS 1.3.
    #[must_use]
    pub fn requires_tls13(&self) -> bool {
        self.domain.requires_tls13
    }
}

impl<B> Service<http::Request<B>> for DomainService
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: std::fmt::Display,
{
    type Response = http::Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<B>) -> Self::Future {
        let (receiver, domain) = (Arc::clone(&self.receiver), Arc::clone(&self.domain));
        Box::pin(async move { Ok(receiver.respond(request, Some(&domain)).await) })
    }
}
