//! HTTP/2 on one connection, which requests share, by hyper.

use std::sync::Arc;

use ::http::{
    Request, Response, Uri,
    uri::{Authority, Parts, Scheme},
};
use http_body_util::Full;
use hyper::{body::Incoming, client::conn::http2};

use super::failure::{self, Body, Cause, Failure};
use crate::forward::{
    ForwardError, ForwardResponse,
    body::{Collected, collect},
    message::{HostOverride, Outgoing},
    timings::{Stage, Stopwatch},
};

/// An HTTP/2 connection, or rather a share of it: clones use the same one.
#[derive(Clone)]
pub(super) struct Http2 {
    sender: http2::SendRequest<Body>,
    authority: Authority,
    /// Tells one connection from another.
    identity: Arc<()>,
}

impl Http2 {
    pub(super) fn new(
        sender: http2::SendRequest<Body>,
        authority: &str,
    ) -> Result<Self, ForwardError> {
        let authority = authority
            .parse()
            .map_err(|_| ForwardError::Unsendable("host is not an authority".to_owned()))?;
        Ok(Self { sender, authority, identity: Arc::default() })
    }

    /// Whether `other` is a share of the same connection.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.identity, &other.identity)
    }

    pub(super) fn is_open(&self) -> bool {
        !self.sender.is_closed()
    }

    /// Sends a request and reads the answer, its body up to `max_response_bytes`.
    pub(super) async fn exchange(
        &mut self,
        outgoing: Outgoing,
        max_response_bytes: usize,
        watch: &mut Stopwatch,
    ) -> Result<ForwardResponse, Failure> {
        let Outgoing { method, target, host, headers, body } = outgoing;
        let mut uri = Parts::default();
        uri.scheme = Some(Scheme::HTTPS);
        uri.authority = Some(authority(host.as_ref()).unwrap_or(&self.authority).clone());
        uri.path_and_query = Some(target.clone());
        let uri = Uri::from_parts(uri)
            .map_err(|error| Failure::Unsendable(ForwardError::Unsendable(error.to_string())))?;
        let mut request = Request::new(Full::new(body.clone()));
        *request.method_mut() = method;
        *request.uri_mut() = uri;
        *request.headers_mut() = headers;

        let response: Response<Incoming> =
            self.sender.try_send_request(request).await.map_err(|error| {
                failure::unwritten_or_broken(error, |request| {
                    let (parts, _) = request.into_parts();
                    Outgoing { method: parts.method, target, host, headers: parts.headers, body }
                })
            })?;
        watch.enter(Stage::Rest);
        let (parts, body) = response.into_parts();
        let broken = |error| Failure::Broken(Cause::Hyper(error));
        let Collected { bytes: body, truncated } =
            collect(body, max_response_bytes, |_| Ok(()), broken).await?;
        let answer = ForwardResponse::empty(parts.status);
        Ok(ForwardResponse { headers: parts.headers, body, truncated, ..answer })
    }
}

fn authority(host: Option<&HostOverride>) -> Option<&Authority> {
    host.map(|host| &host.authority)
}
