//! HTTP/1.1 on one connection, by hyper: one request at a time.

use std::{
    future::poll_fn,
    pin::{Pin, pin},
    task::{Context, Poll, Waker},
};

use ::http::{HeaderValue, Request, Uri, header::HOST};
use bytes::Bytes;
use http_body_util::Full;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;

use super::{
    connection::{Cause, Failure},
    failure,
    stream::Stream,
};
use crate::{
    body::{Collected, collect},
    forward::{ForwardError, ForwardResponse, message::Outgoing},
};

type Body = Full<Bytes>;

/// A connection. It has no task of its own: whoever uses it also drives it, and
/// dropping it closes it at once.
pub(super) struct Plain {
    sender: http1::SendRequest<Body>,
    driver: http1::Connection<TokioIo<Stream>, Body>,
    ended: bool,
    host: HeaderValue,
}

impl Plain {
    pub(super) async fn new(
        stream: Stream,
        authority: &str,
        max_head_bytes: usize,
    ) -> Result<Self, ForwardError> {
        let host = HeaderValue::try_from(authority)
            .map_err(|_| ForwardError::Unsendable("host is not a header value".to_owned()))?;
        let (sender, driver) = http1::Builder::new()
            .title_case_headers(true)
            .max_buf_size(max_head_bytes)
            .handshake(TokioIo::new(stream))
            .await
            .map_err(|error| failure::never_written(Cause::Http2(error)))?;
        Ok(Self { sender, driver, ended: false, host })
    }

    /// Whether the next request can be sent. Looks at the socket, so that a close by
    /// the destination is seen.
    pub(super) fn is_ready(&mut self) -> bool {
        let mut cx = Context::from_waker(Waker::noop());
        self.ended = self.ended || Pin::new(&mut self.driver).poll(&mut cx).is_ready();
        !self.ended && self.sender.is_ready()
    }

    pub(super) async fn exchange(
        &mut self,
        outgoing: Outgoing,
        max_response_bytes: usize,
    ) -> Result<ForwardResponse, Failure> {
        let Self { sender, driver, ended, host } = self;
        let mut exchange = pin!(exchange(sender, outgoing, host, max_response_bytes));
        poll_fn(|cx| {
            // What one of them does, the other one goes on with.
            for _ in 0..2 {
                if let Poll::Ready(done) = exchange.as_mut().poll(cx) {
                    return Poll::Ready(done);
                }
                *ended = *ended || Pin::new(&mut *driver).poll(cx).is_ready();
            }
            exchange.as_mut().poll(cx)
        })
        .await
    }
}

async fn exchange(
    sender: &mut http1::SendRequest<Body>,
    outgoing: Outgoing,
    own_host: &HeaderValue,
    max_response_bytes: usize,
) -> Result<ForwardResponse, Failure> {
    if let Err(error) = sender.ready().await {
        return Err(Failure::Unwritten(Box::new(outgoing), Cause::Http2(error)));
    }
    let Outgoing { method, target, host, mut headers, body } = outgoing;
    let value = host.as_ref().map_or(own_host, |host| &host.header).clone();
    headers.insert(HOST, value);
    let mut request = Request::new(Full::new(body.clone()));
    *request.method_mut() = method;
    *request.uri_mut() = Uri::from(target.clone());
    *request.headers_mut() = headers;
    let response = match sender.try_send_request(request).await {
        Ok(response) => response,
        Err(mut error) => {
            return Err(match error.take_message() {
                Some(request) => {
                    let (mut parts, _) = request.into_parts();
                    parts.headers.remove(HOST);
                    let (method, headers) = (parts.method, parts.headers);
                    let outgoing = Outgoing { method, target, host, headers, body };
                    Failure::Unwritten(Box::new(outgoing), Cause::Http2(error.into_error()))
                }
                None => Failure::Broken(Cause::Http2(error.into_error())),
            });
        }
    };
    let (parts, body) = response.into_parts();
    let broken = |error| Failure::Broken(Cause::Http2(error));
    let Collected { bytes: body, truncated } =
        collect(body, max_response_bytes, |_| Ok(()), broken).await?;
    Ok(ForwardResponse { status: parts.status, headers: parts.headers, body, truncated })
}
