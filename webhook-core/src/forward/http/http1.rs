//! HTTP/1.1 on one connection, by hyper: one request at a time.

use std::{
    future::poll_fn,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll, Waker},
};

use ::http::{
    HeaderMap, HeaderValue, Request, Uri,
    header::{CONNECTION, CONTENT_LENGTH, HOST, TRANSFER_ENCODING},
};
use http_body_util::Full;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};

use super::{
    connect::Stream,
    failure::{self, Body, Cause, Failure},
    watched::{Seen, Watched},
};
use crate::forward::{
    ForwardError, ForwardResponse,
    body::collect,
    message::Outgoing,
    timings::{Stage, Stopwatch},
};

#[cfg(test)]
mod tests;

/// What reads and writes, or why no further request can be sent.
type Driver<S> = Result<http1::Connection<TokioIo<Watched<S>>, Body>, Ended>;

/// How a connection ended.
#[derive(Default)]
struct Ended {
    error: Option<hyper::Error>,
    /// Whether the destination answered with a message of TLS.
    in_tls: bool,
}

/// A connection. It has no task of its own: whoever uses it also drives it, and
/// dropping it closes it at once.
pub(super) struct Http1<S = Stream>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    sender: http1::SendRequest<Body>,
    driver: Driver<S>,
    /// The `Host` of requests that do not say another.
    host: HeaderValue,
    seen: Arc<Seen>,
}

impl<S> Http1<S>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    pub(super) async fn new(
        stream: S,
        authority: &str,
        max_head_bytes: usize,
    ) -> Result<Self, ForwardError> {
        let host = HeaderValue::try_from(authority)
            .map_err(|_| ForwardError::Unsendable("host is not a header value".to_owned()))?;
        let (stream, seen) = Watched::new(stream);
        let (sender, driver) = http1::Builder::new()
            // Some destinations insist on names in the form `X-Github-Event`.
            .title_case_headers(true)
            .max_buf_size(max_head_bytes)
            .handshake(TokioIo::new(stream))
            .await
            .map_err(|error| failure::never_written(Cause::Hyper(error)))?;
        Ok(Self { sender, driver: Ok(driver), host, seen })
    }

    /// Whether the next request can be sent. Looks at the socket, so that a close by
    /// the destination is seen; so is an answer that nobody asked for.
    pub(super) fn is_ready(&mut self) -> bool {
        drive(&mut self.driver, &mut Context::from_waker(Waker::noop()));
        self.driver.is_ok() && self.sender.is_ready()
    }

    /// Sends a request and reads the answer, its body up to `max_bytes`. `head` has the answer
    /// without its body while that is read.
    pub(super) async fn exchange(
        &mut self,
        outgoing: Outgoing,
        max_bytes: usize,
        watch: &mut Stopwatch,
        head: &mut Option<ForwardResponse>,
    ) -> Result<ForwardResponse, Failure> {
        let Self { sender, driver, host, seen } = self;
        drive(driver, &mut Context::from_waker(Waker::noop()));
        if let Err(ended) = driver {
            let cause = ended.error.take().map_or(Cause::Closed, |error| seen.cause(error));
            return Err(Failure::Unwritten(Box::new(outgoing), cause));
        }
        seen.begin();
        let ends = says_close(&outgoing.headers);
        let exchanged = {
            let mut exchange = pin!(exchange(sender, outgoing, host, seen, max_bytes, watch, head));
            poll_fn(|cx| {
                // What the driver has read is there for the exchange, and what the exchange
                // wants next for the driver.
                for _ in 0..2 {
                    if let Poll::Ready(done) = exchange.as_mut().poll(cx) {
                        return Poll::Ready(done);
                    }
                    drive(driver, cx);
                }
                exchange.as_mut().poll(cx)
            })
            .await
        };
        if matches!(driver, Err(Ended { in_tls: true, .. })) {
            return exchanged.map_err(|_| Failure::Broken(Cause::Tls));
        }
        let exchanged = exchanged.map_err(|failure| match failure {
            Failure::Broken(cause) if !seen.has_read() => Failure::Silent(cause),
            failure => failure,
        });
        // What is left of an answer is not read.
        let is_cut = exchanged.as_ref().is_ok_and(|response| response.truncated);
        if is_cut || ends {
            *driver = Err(Ended::default());
        }
        exchanged
    }
}

/// Whether an answer begins as an alert or a handshake of TLS 1.
fn is_tls(answer: &[u8]) -> bool {
    matches!(answer, [0x15 | 0x16, 0x03, ..])
}

/// Reads and writes as much as there is.
fn drive<S>(driver: &mut Driver<S>, cx: &mut Context<'_>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    if let Ok(connection) = driver
        && let Poll::Ready(ended) = Pin::new(connection).poll(cx)
    {
        let over = std::mem::replace(driver, Err(Ended::default()));
        let in_tls = over.is_ok_and(|connection| is_tls(&connection.into_parts().read_buf));
        *driver = Err(Ended { error: ended.err(), in_tls });
    }
}

async fn exchange(
    sender: &mut http1::SendRequest<Body>,
    outgoing: Outgoing,
    host: &HeaderValue,
    seen: &Seen,
    max_bytes: usize,
    watch: &mut Stopwatch,
    head: &mut Option<ForwardResponse>,
) -> Result<ForwardResponse, Failure> {
    let Outgoing { method, target, host: other_host, headers, body } = outgoing;
    let mut request = Request::new(Full::new(body.clone()));
    *request.method_mut() = method;
    *request.uri_mut() = Uri::from(target.clone());
    let sent = request.headers_mut();
    sent.reserve(headers.len() + 1);
    // First, where it is looked for (RFC 9110 section 7.2).
    sent.insert(HOST, other_host.as_ref().map_or(host, |other| &other.header).clone());
    sent.extend(headers);

    let response = sender.try_send_request(request).await.map_err(|error| {
        let take_back = |request: Request<Body>| {
            let (parts, _) = request.into_parts();
            let mut headers = HeaderMap::with_capacity(parts.headers.len());
            // The first is `Host`.
            headers.extend(parts.headers.into_iter().skip(1));
            Outgoing { method: parts.method, target, host: other_host, headers, body }
        };
        failure::without_answer(error, take_back, |error| seen.cause(error))
    })?;
    watch.enter(Stage::Rest);
    let (parts, body) = response.into_parts();
    // hyper believes the coding; whoever was on the way may have believed the length.
    if [TRANSFER_ENCODING, CONTENT_LENGTH].iter().all(|name| parts.headers.contains_key(name)) {
        return Err(Failure::Broken(Cause::TwoLengths));
    }
    let answer = ForwardResponse { headers: parts.headers, ..ForwardResponse::empty(parts.status) };
    let broken = |error| Failure::Broken(seen.cause(error));
    answer.with_body(head, collect(body, max_bytes, |_| Ok(()), broken)).await
}

/// Whether the connection ends with the message.
fn says_close(headers: &HeaderMap) -> bool {
    let lists = headers.get_all(CONNECTION).iter().filter_map(|list| list.to_str().ok());
    lists.flat_map(|list| list.split(',')).any(|each| each.trim().eq_ignore_ascii_case("close"))
}
