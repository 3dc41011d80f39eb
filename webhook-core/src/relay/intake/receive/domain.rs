//! Step 1, for a request that names a reserved domain as its host.

use super::{hosts, ingest::IngestService};
use crate::error::Error;

impl IngestService {
    /// The service that receives the webhooks of one reserved domain, when
    /// `host` is one: the header `Host`, or the name that a TLS client asks for. They go to the
    /// input with the longest `path_prefix` that consists of whole segments of the path; without
    /// one the answer is 404. The service stays as the domain is now.
    ///
    /// For another host this asks the store once and then remembers it, within
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
    pub async fn domain(&self, host: &str) -> Result<Option<Self>, Error> {
        let Some(name) = hosts::host_name(host) else {
            return Ok(None);
        };
        let domain = self.receiver.domains.get(&name).await?;
        Ok(domain.map(|domain| Self { domain: Some(domain), ..self.clone() }))
    }

    /// Whether an input of the domain asks for TLS 1.3.
    #[must_use]
    pub fn requires_tls13(&self) -> bool {
        self.domain.as_ref().is_some_and(|domain| domain.requires_tls13)
    }
}
