//! HTTP/2 on one connection, which requests share, by hyper.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use ::http::{
    Request, Response, Uri,
    uri::{Authority, Parts, Scheme},
};
use http_body_util::Full;
use hyper::{body::Incoming, client::conn::http2};

use super::{
    failure::{self, Body, Failure},
    watched::Seen,
};
use crate::forward::{
    ForwardError, ForwardResponse,
    body::collect,
    message::{HostOverride, Outgoing},
    timings::{Stage, Stopwatch},
};

/// An HTTP/2 connection, or rather a share of it: clones use the same one.
#[derive(Clone)]
pub(super) struct Http2 {
    sender: http2::SendRequest<Body>,
    authority: Authority,
    /// How many requests were put on it. The place tells one connection from another.
    requests: Arc<AtomicU32>,
    seen: Arc<Seen>,
}

impl Http2 {
    pub(super) fn new(
        sender: http2::SendRequest<Body>,
        authority: &str,
        seen: Arc<Seen>,
    ) -> Result<Self, ForwardError> {
        let authority = authority
            .parse()
            .map_err(|_| ForwardError::Unsendable("host is not an authority".to_owned()))?;
        Ok(Self { sender, authority, requests: Arc::default(), seen })
    }

    /// Whether `other` is a share of the same connection.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.requests, &other.requests)
    }

    pub(super) fn is_open(&self) -> bool {
        !self.sender.is_closed()
    }

    /// Whether more than one request was put on it.
    pub(super) fn has_others(&self) -> bool {
        self.requests.load(Ordering::Relaxed) > 1
    }

    /// Sends a request and reads the answer, its body up to `max_response_bytes`. `head` has the
    /// answer without its body while that is read.
    pub(super) async fn exchange(
        &mut self,
        outgoing: Outgoing,
        max_response_bytes: usize,
        watch: &mut Stopwatch,
        head: &mut Option<ForwardResponse>,
    ) -> Result<ForwardResponse, Failure> {
        self.requests.fetch_add(1, Ordering::Relaxed);
        let seen = self.seen.clone();
        let cause = |error| seen.cause(error);
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
                let take_back = |request: Request<Body>| {
                    let (parts, _) = request.into_parts();
                    Outgoing { method: parts.method, target, host, headers: parts.headers, body }
                };
                failure::without_answer(error, take_back, cause)
            })?;
        watch.enter(Stage::Rest);
        let (parts, body) = response.into_parts();
        let empty = ForwardResponse::empty(parts.status);
        let answer = ForwardResponse { headers: parts.headers, ..empty };
        let broken = |error| Failure::Broken(cause(error));
        answer.with_body(head, collect(body, max_response_bytes, |_| Ok(()), broken)).await
    }
}

fn authority(host: Option<&HostOverride>) -> Option<&Authority> {
    host.map(|host| &host.authority)
}
