//! One connection and the exchanges on it.

use std::{
    future::poll_fn,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll, Waker},
};

use ::http::{
    HeaderValue, Request, Response, Uri,
    header::HOST,
    uri::{Authority, Parts, Scheme},
};
use bytes::Bytes;
use http_body_util::Full;
use hyper::{
    body::Incoming,
    client::conn::{TrySendError, http1, http2},
};
use hyper_util::rt::TokioIo;

use super::stream::Stream;
use crate::forward::{
    ForwardError, ForwardResponse,
    message::{self, HostOverride, Outgoing, read_capped},
};

type Body = Full<Bytes>;
type Driver = http1::Connection<TokioIo<Stream>, Body>;

/// A connection that can take requests.
pub(super) enum Connection {
    Http1(Http1),
    Http2(Http2),
}

/// Why an exchange has no answer.
pub(super) enum Failure {
    /// The connection ended before it took the request: not a byte of it has left.
    Unwritten(Box<Outgoing>, hyper::Error),
    /// It ended later; the destination may have seen the request.
    Broken(hyper::Error),
    /// The request does not fit into HTTP.
    Unsendable(ForwardError),
}

impl Connection {
    /// Sends a request and reads the answer, its body up to `max_response_bytes`.
    pub(super) async fn exchange(
        &mut self,
        outgoing: Outgoing,
        max_response_bytes: usize,
    ) -> Result<ForwardResponse, Failure> {
        match self {
            Self::Http1(http1) => http1.exchange(outgoing, max_response_bytes).await,
            Self::Http2(http2) => http2.exchange(outgoing, max_response_bytes).await,
        }
    }
}

/// An HTTP/1.1 connection: one request at a time.
///
/// It has no task of its own. Whoever uses it also drives it, which saves two
/// switches between threads for each request, and dropping it closes it at once.
pub(super) struct Http1 {
    sender: http1::SendRequest<Body>,
    /// `None` once it has ended.
    driver: Option<Pin<Box<Driver>>>,
    host: HeaderValue,
}

impl Http1 {
    pub(super) fn new(
        sender: http1::SendRequest<Body>,
        driver: Driver,
        authority: &str,
    ) -> Result<Self, ForwardError> {
        let host = HeaderValue::try_from(authority)
            .map_err(|_| ForwardError::Unsendable("host is not a header value".to_owned()))?;
        Ok(Self { sender, driver: Some(Box::pin(driver)), host })
    }

    /// Whether the next request can be sent. Looks at the socket, so that a
    /// close by the destination is seen.
    pub(super) fn is_ready(&mut self) -> bool {
        poll_driver(&mut self.driver, &mut Context::from_waker(Waker::noop()));
        self.driver.is_some() && self.sender.is_ready()
    }

    async fn exchange(
        &mut self,
        outgoing: Outgoing,
        max_response_bytes: usize,
    ) -> Result<ForwardResponse, Failure> {
        let Outgoing { method, target, host, mut headers, body } = outgoing;
        let host_header = host.as_ref().map_or(&self.host, |host| &host.header).clone();
        message::set(&mut headers, HOST, host_header).map_err(Failure::Unsendable)?;
        let mut request = Request::new(Full::new(body.clone()));
        *request.method_mut() = method;
        *request.uri_mut() = Uri::from(target.clone());
        *request.headers_mut() = headers;

        let sending = self.sender.try_send_request(request);
        let response = driven(&mut self.driver, sending).await.map_err(|error| {
            unwritten_or_broken(error, |request| {
                let (mut parts, _) = request.into_parts();
                parts.headers.remove(HOST);
                Outgoing { method: parts.method, target, host, headers: parts.headers, body }
            })
        })?;
        let (parts, body) = response.into_parts();
        let (body, truncated) = driven(&mut self.driver, read_capped(body, max_response_bytes))
            .await
            .map_err(Failure::Broken)?;
        Ok(ForwardResponse { status: parts.status, headers: parts.headers, body, truncated })
    }
}

/// Runs `future` and the connection that it waits for.
async fn driven<F: Future>(driver: &mut Option<Pin<Box<Driver>>>, future: F) -> F::Output {
    let mut future = pin!(future);
    poll_fn(|cx| {
        // First the future, which may ask for more of the body, then the
        // connection, then what that has brought.
        if let Poll::Ready(output) = future.as_mut().poll(cx) {
            return Poll::Ready(output);
        }
        poll_driver(driver, cx);
        future.as_mut().poll(cx)
    })
    .await
}

fn poll_driver(driver: &mut Option<Pin<Box<Driver>>>, cx: &mut Context<'_>) {
    // How it ended is told to the exchange that waits for it, if there is one.
    if driver.as_mut().is_some_and(|driver| driver.as_mut().poll(cx).is_ready()) {
        *driver = None;
    }
}

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

    async fn exchange(
        &mut self,
        outgoing: Outgoing,
        max_response_bytes: usize,
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
                unwritten_or_broken(error, |request| {
                    let (parts, _) = request.into_parts();
                    Outgoing { method: parts.method, target, host, headers: parts.headers, body }
                })
            })?;
        let (parts, body) = response.into_parts();
        let (body, truncated) =
            read_capped(body, max_response_bytes).await.map_err(Failure::Broken)?;
        Ok(ForwardResponse { status: parts.status, headers: parts.headers, body, truncated })
    }
}

fn authority(host: Option<&HostOverride>) -> Option<&Authority> {
    host.map(|host| &host.authority)
}

fn unwritten_or_broken(
    mut error: TrySendError<Request<Body>>,
    take_back: impl FnOnce(Request<Body>) -> Outgoing,
) -> Failure {
    match error.take_message() {
        Some(request) => Failure::Unwritten(Box::new(take_back(request)), error.into_error()),
        None => Failure::Broken(error.into_error()),
    }
}
