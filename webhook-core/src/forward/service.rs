//! Delivering into the process itself.

use std::{fmt, future::poll_fn};

use ::http::{
    HeaderValue, Request, Response,
    header::HOST,
    uri::{Authority, Uri},
};
use async_trait::async_trait;
use bytes::Bytes;
use http_body::Body;
use http_body_util::Full;
use tokio::time::timeout_at;
use tower_service::Service;

use super::{
    ForwardError, ForwardRequest, ForwardResponse, Forwarder,
    message::{self, Outgoing},
};
use crate::forward::{
    body::collect,
    timings::{Stage, Stopwatch},
};

type Source = Box<dyn std::error::Error + Send + Sync>;

/// Forwards into a tower service, such as an axum `Router`, instead of over the network.
///
/// The service sees what a server would see: the path and query as the URI
/// and the destination's authority as `Host`. It is cloned for each request.
/// The deadline covers its readiness, its answer and the answer's body; when
/// it passes, the service's future is dropped. Whatever host the URL names,
/// the service gets the request: there is no address to guard.
///
/// ```
/// use std::convert::Infallible;
///
/// use bytes::Bytes;
/// use http_body_util::Full;
/// use webhook_core::forward::{Forwarder, ServiceForwarder};
///
/// # #[derive(Clone)] struct Echo;
/// # impl tower_service::Service<http::Request<Full<Bytes>>> for Echo {
/// #     type Response = http::Response<Full<Bytes>>;
/// #     type Error = Infallible;
/// #     type Future = std::future::Ready<Result<Self::Response, Infallible>>;
/// #     fn poll_ready(
/// #         &mut self,
/// #         _: &mut std::task::Context<'_>,
/// #     ) -> std::task::Poll<Result<(), Infallible>> {
/// #         std::task::Poll::Ready(Ok(()))
/// #     }
/// #     fn call(&mut self, request: http::Request<Full<Bytes>>) -> Self::Future {
/// #         std::future::ready(Ok(http::Response::new(request.into_body())))
/// #     }
/// # }
/// let forwarder: Box<dyn Forwarder> = Box::new(ServiceForwarder::new(Echo));
/// ```
#[derive(Clone)]
pub struct ServiceForwarder<S> {
    service: S,
}

impl<S> ServiceForwarder<S> {
    /// A forwarder into `service`.
    pub const fn new(service: S) -> Self {
        Self { service }
    }
}

impl<S> fmt::Debug for ServiceForwarder<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServiceForwarder").finish_non_exhaustive()
    }
}

#[async_trait]
impl<S, B> Forwarder for ServiceForwarder<S>
where
    S: Service<Request<Full<Bytes>>, Response = Response<B>> + Clone + Send + Sync,
    S::Error: Into<Source> + Send,
    S::Future: Send,
    B: Body<Data = Bytes> + Send,
    B::Error: Into<Source> + Send,
{
    async fn forward(&self, request: ForwardRequest) -> Result<ForwardResponse, ForwardError> {
        let ForwardRequest { method, url, headers, body, timeout, max_response_bytes, .. } =
            request;
        let deadline = message::deadline(timeout);
        message::destination(&url)?;
        let request = in_process(&url, Outgoing::new(method, &url, headers, body)?)?;
        let mut service = self.service.clone();
        let mut watch = Stopwatch::start();
        watch.enter(Stage::FirstByte);
        let mut head = None;
        let exchange = async {
            poll_fn(|cx| service.poll_ready(cx)).await.map_err(|error| broken(error.into()))?;
            let response = service.call(request).await.map_err(|error| broken(error.into()))?;
            watch.enter(Stage::Rest);
            let (parts, body) = response.into_parts();
            let broken = |error: B::Error| broken(error.into());
            let empty = ForwardResponse::empty(parts.status);
            let answer = ForwardResponse { headers: parts.headers, ..empty };
            let collecting = collect(body, max_response_bytes, |_| Ok(()), broken);
            answer.with_body(&mut head, collecting).await
        };
        let late = ForwardError::Timeout { after: timeout, timings: None };
        let outcome = timeout_at(deadline, exchange).await.unwrap_or(Err(late));
        watch.told(outcome.map_err(|error| error.after(head)))
    }
}

fn in_process(url: &Uri, outgoing: Outgoing) -> Result<Request<Full<Bytes>>, ForwardError> {
    let Outgoing { method, target, host, mut headers, body } = outgoing;
    let host = match host {
        Some(host) => host.header,
        None => HeaderValue::from_str(url.authority().map(Authority::as_str).unwrap_or_default())
            .map_err(|_| ForwardError::Unsendable("host is not a header value".to_owned()))?,
    };
    message::set(&mut headers, HOST, host)?;
    let mut request = Request::new(Full::new(body));
    *request.method_mut() = method;
    *request.uri_mut() = Uri::from(target);
    *request.headers_mut() = headers;
    Ok(request)
}

fn broken(source: Source) -> ForwardError {
    ForwardError::Broken { reason: source.to_string(), source: Some(source), timings: None }
}

#[cfg(test)]
mod tests;
