//! Forwarding over HTTP/1.1 and HTTP/2, with TLS by rustls.
//!
//! Both are hyper's, connection by connection, and no ready-made client, for what
//! such a client cannot do: no resend that nobody asked for, an error that says
//! whether the destination can have seen the request, a `Host` that differs from
//! the address, and no task or lock more than the hot path needs.
//!
//! # Idle connections
//!
//! A destination may close an idle connection at the moment when a request is
//! put on it, and the destination may have read that request. The error is
//! [`ForwardError::KeptClosed`], after which the relay sends again on a new
//! connection ([`ForwardRequest::new_connection`]). Three things make it
//! rare. A connection is asked whether the destination has closed it before it
//! is used. It is kept for less time than common servers do (5 s in Node,
//! Apache and uvicorn), and for less than the destination's own `Keep-Alive:
//! timeout=` says. And a request that is still unwritten when the connection
//! turns out to be closed goes out on a new one: no byte of it had left, so
//! this is no second attempt.
//!
//! A destination that speaks HTTP/2 says which requests it has not processed.
//! They end with [`ForwardError::Unprocessed`], and the relay sends them again.

use std::fmt;

use async_trait::async_trait;
use tokio::time::timeout_at;

use super::{
    ForwardError, ForwardRequest, ForwardResponse, Forwarder,
    message::{self, Outgoing},
    timings::{Stage, Stopwatch},
};

mod builder;
mod connect;
mod failure;
mod http1;
mod http2;
mod pool;
mod resolve;
#[cfg(test)]
pub(crate) mod tests;
mod tls;
mod tls_words;
mod watched;

pub use builder::{HttpForwarderBuilder, InvalidCertificate};
pub use failure::describe_io;
pub use resolve::{Resolve, SystemResolver};

use connect::Connector;
use failure::Failure;
use pool::Pool;

/// Forwards over HTTP/1.1 and, where a TLS destination offers it, HTTP/2.
///
/// Connections are kept for reuse, verified and unverified ones
/// (`tls_verification`) strictly apart. Every address that a host resolves to
/// must pass the [guard](crate::guard) each time a connection is made; a
/// request on a kept connection goes where the guard let it.
///
/// One deadline, the request's `timeout`, covers connecting, headers and body.
/// When it passes before there is a connection the error is
/// [`ForwardError::Connect`], because then the destination has seen nothing.
///
/// A destination's redirects are not followed, its cookies not kept, its
/// bodies not decompressed, and proxies of the environment are not used. On
/// HTTP/1.1 header names are sent in the form `X-Github-Event`. `User-Agent`
/// is added when the request has none. `CONNECT` and URLs with credentials
/// are [`ForwardError::Unsendable`].
///
/// Bounds: see [`HttpForwarderBuilder`]; answers have at most 100 headers on
/// HTTP/1.1. Past `max_response_bytes` an HTTP/1.1 connection is closed and an
/// HTTP/2 stream reset.
///
/// Cloning is cheap, and clones share the connections.
///
/// ```no_run
/// use webhook_core::forward::{ForwardRequest, Forwarder, http::HttpForwarder};
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let forwarder = HttpForwarder::builder().build();
/// let url = "https://example.com/hook".parse()?;
/// let mut request = ForwardRequest::new(http::Method::POST, url);
/// request.body = "{}".into();
/// let response = forwarder.forward(request).await?;
/// println!("{}", response.status);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct HttpForwarder {
    connector: Connector,
    /// Connections whose peer is who its certificate says, and plain ones.
    verified: Pool,
    unverified: Pool,
    user_agent: Option<::http::HeaderValue>,
}

impl HttpForwarder {
    /// Starts with the defaults: public destinations only, the system's resolver and roots.
    #[must_use]
    pub fn builder() -> HttpForwarderBuilder {
        HttpForwarderBuilder::new()
    }
}

impl fmt::Debug for HttpForwarder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpForwarder").field("connector", &self.connector).finish_non_exhaustive()
    }
}

#[async_trait]
impl Forwarder for HttpForwarder {
    async fn forward(&self, request: ForwardRequest) -> Result<ForwardResponse, ForwardError> {
        let mut watch = Stopwatch::start();
        let outcome = self.send(request, &mut watch).await;
        watch.told(outcome)
    }
}

impl HttpForwarder {
    async fn send(
        &self,
        request: ForwardRequest,
        watch: &mut Stopwatch,
    ) -> Result<ForwardResponse, ForwardError> {
        let ForwardRequest {
            method,
            url,
            headers,
            body,
            timeout,
            tls_verification,
            max_response_bytes,
            new_connection,
        } = request;
        let deadline = message::deadline(timeout);
        let destination = &*message::destination(&url)?;
        let mut outgoing = Outgoing::new(method, &url, headers, body)?;
        if let Some(user_agent) = &self.user_agent
            && !outgoing.headers.contains_key(::http::header::USER_AGENT)
        {
            let name = ::http::header::USER_AGENT;
            message::set(&mut outgoing.headers, name, user_agent.clone())?;
        }

        let pool = if tls_verification { &self.verified } else { &self.unverified };
        let mut kept = if new_connection { None } else { pool.take(destination) };
        loop {
            let is_new = kept.is_none();
            let mut connection = match kept.take() {
                Some(connection) => {
                    watch.goes_to(connection.address, true);
                    connection
                }
                None => {
                    // Boxed: connecting is rare and its future large.
                    let connecting =
                        Box::pin(self.connector.connect(destination, tls_verification, watch));
                    let connection = timeout_at(deadline, connecting)
                        .await
                        .unwrap_or_else(|_| Err(failure::no_connection_within(timeout)))?;
                    pool.share(destination, &connection);
                    connection
                }
            };
            watch.enter(Stage::FirstByte);
            let mut head = None;
            let exchange = connection.exchange(outgoing, max_response_bytes, watch, &mut head);
            match timeout_at(deadline, exchange).await {
                Ok(Ok(response)) => {
                    pool.put_back(destination, connection, &response);
                    return Ok(response);
                }
                Ok(Err(Failure::Unwritten(unwritten, _))) if !is_new || connection.has_others() => {
                    pool.forget(destination, &connection);
                    watch.begin_again();
                    outgoing = *unwritten;
                }
                Ok(Err(Failure::Unwritten(_, error))) => {
                    pool.forget(destination, &connection);
                    return Err(failure::never_written(error));
                }
                Ok(Err(Failure::Unprocessed(error))) => {
                    pool.forget(destination, &connection);
                    return Err(failure::unprocessed(error));
                }
                Ok(Err(Failure::Silent(error))) if is_new => {
                    return Err(failure::silent(error, destination.starts_with("http://")));
                }
                Ok(Err(Failure::Silent(error))) => return Err(failure::kept_closed(error)),
                Ok(Err(Failure::Broken(error))) => {
                    pool.forget(destination, &connection);
                    return Err(failure::broken(error).after(head));
                }
                Ok(Err(Failure::Unsendable(error))) => return Err(error),
                Err(_) => {
                    // Silence on a shared connection may mean that it is dead.
                    pool.forget(destination, &connection);
                    let late = ForwardError::Timeout { after: timeout, timings: None };
                    return Err(late.after(head));
                }
            }
        }
    }
}
