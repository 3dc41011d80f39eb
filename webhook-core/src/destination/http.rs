//! HTTP, by a forwarder.

use std::sync::Arc;

use async_trait::async_trait;

use super::{Answer, Deadline, Destination, Outgoing, SendError, Url};
use crate::{
    forward::{ForwardError, ForwardRequest, ForwardResponse, Forwarder},
    guard::AddressGuard,
};

pub(super) const SCHEMES: [&str; 2] = ["http", "https"];

#[derive(Clone, Debug)]
pub(crate) struct HttpDestination {
    pub(crate) forwarder: Arc<dyn Forwarder>,
    guard: AddressGuard,
}

impl HttpDestination {
    /// Without a forwarder it checks URLs and sends nothing.
    pub(crate) fn new(forwarder: Option<Arc<dyn Forwarder>>, guard: AddressGuard) -> Self {
        Self { forwarder: forwarder.unwrap_or_else(|| Arc::new(Nowhere)), guard }
    }

    /// Sends without the boxed future of the trait.
    pub(super) async fn forward(
        &self,
        outgoing: Outgoing,
        deadline: Deadline,
    ) -> Result<Answer, SendError> {
        let Outgoing {
            delivery: _,
            method,
            url,
            headers,
            body,
            tls_verification,
            max_response_bytes,
            new_connection,
        } = outgoing;
        let mut request = ForwardRequest::new(method, url);
        (request.headers, request.body) = (headers, body);
        request.timeout = deadline.remaining();
        request.tls_verification = tls_verification;
        request.max_response_bytes = max_response_bytes;
        request.new_connection = new_connection;
        Ok(Answer::Http(self.forwarder.forward(request).await?))
    }
}

#[async_trait]
impl Destination for HttpDestination {
    fn schemes(&self) -> &[&str] {
        &SCHEMES
    }

    fn check(&self, url: &Url) -> Result<(), String> {
        self.guard.check_url(url).map_err(|error| error.to_string())
    }

    async fn send(&self, outgoing: Outgoing, deadline: Deadline) -> Result<Answer, SendError> {
        self.forward(outgoing, deadline).await
    }
}

/// The forwarder of a relay that was given none.
#[derive(Debug)]
struct Nowhere;

#[async_trait]
impl Forwarder for Nowhere {
    async fn forward(&self, _: ForwardRequest) -> Result<ForwardResponse, ForwardError> {
        let reason = "there is no forwarder".to_owned();
        Err(ForwardError::Connect { reason, source: None, timings: None })
    }
}
