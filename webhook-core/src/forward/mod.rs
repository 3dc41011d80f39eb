//! Sending one request to a destination.
//!
//! A [`Forwarder`] sends one request and returns the answer. [`http::HttpForwarder`]
//! does so over HTTP/1.1 and HTTP/2, [`ServiceForwarder`] into a tower service of the
//! same process. The relay decides what is sent and when it is tried again.
//!
//! | feature | what it adds |
//! |---|---|
//! | `http` | the HTTP forwarder: hyper, and TLS by rustls |
//! | `test-util` | a forwarder that plays a script |

use std::{fmt, time::Duration};

use ::http::{HeaderMap, Method, StatusCode, Uri};
use async_trait::async_trait;
use bytes::Bytes;

use self::body::Collected;

pub mod body;
pub mod history;
#[cfg(feature = "http")]
pub mod http;
mod message;
pub mod path;
#[cfg(any(test, feature = "test-util"))]
mod scripted;
mod service;
mod timings;

#[cfg(any(test, feature = "test-util"))]
pub use scripted::{Answer, CheckedOnDrop, ScriptedForwarder};
pub use service::ServiceForwarder;
pub use timings::Timings;

/// Sends requests: those of deliveries and those that functions make.
///
/// Implement it to deliver by other means than HTTP, or wrap one to observe it.
/// The contract: one request for each call and no retry inside, because there
/// is one retry mechanism and it is the relay's; `timeout` bounds connecting,
/// headers and body together; what the destination sends beyond
/// `max_response_bytes` is not read.
///
/// ```
/// use webhook_core::forward::{ForwardError, ForwardRequest, ForwardResponse, Forwarder};
///
/// /// Prints what would leave.
/// #[derive(Debug)]
/// struct Printer;
///
/// #[async_trait::async_trait]
/// impl Forwarder for Printer {
///     async fn forward(&self, request: ForwardRequest) -> Result<ForwardResponse, ForwardError> {
///         println!("{} {}", request.method, request.url);
///         Ok(ForwardResponse::empty(http::StatusCode::OK))
///     }
/// }
/// ```
#[async_trait]
pub trait Forwarder: Send + Sync + fmt::Debug {
    /// Sends `request` and returns the destination's answer, whatever its status.
    async fn forward(&self, request: ForwardRequest) -> Result<ForwardResponse, ForwardError>;
}

/// A request to a destination.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ForwardRequest {
    /// The method.
    pub method: Method,
    /// Where to: absolute, `http` or `https`. Path and query are sent as they are.
    pub url: Uri,
    /// The headers, sent as they are. `Host` is made from `url` when it is
    /// absent, `Content-Length` always from `body`.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
    /// How long connecting, headers and body may take together.
    pub timeout: Duration,
    /// Whether the destination's certificate is verified.
    pub tls_verification: bool,
    /// How much of the answer's body is read.
    pub max_response_bytes: usize,
    /// Whether it goes over a new connection, although there may be a kept one.
    pub new_connection: bool,
}

impl ForwardRequest {
    /// A request without headers and body, whose answer may take 30 seconds and is
    /// read up to 64 KiB.
    #[must_use]
    pub fn new(method: Method, url: Uri) -> Self {
        Self {
            method,
            url,
            headers: HeaderMap::new(),
            body: Bytes::new(),
            timeout: Duration::from_secs(30),
            tls_verification: true,
            max_response_bytes: 64 << 10,
            new_connection: false,
        }
    }
}

/// A destination's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ForwardResponse {
    /// Its status.
    pub status: StatusCode,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body, cut at `max_response_bytes`.
    pub body: Bytes,
    /// Whether the body was longer than that.
    pub truncated: bool,
    /// Where the time went.
    pub timings: Timings,
}

impl ForwardResponse {
    /// An answer of this status without headers and body, which can be set.
    #[must_use]
    pub fn empty(status: StatusCode) -> Self {
        Self {
            status,
            headers: HeaderMap::new(),
            body: Bytes::new(),
            truncated: false,
            timings: Timings::default(),
        }
    }

    /// The answer with its body when that has been read. Until then it is in `head`, where it
    /// stays when the body does not end.
    pub(crate) async fn with_body<E>(
        self,
        head: &mut Option<Self>,
        collecting: impl Future<Output = Result<Collected, E>>,
    ) -> Result<Self, E> {
        let answer = head.insert(self);
        let Collected { bytes, truncated } = collecting.await?;
        (answer.body, answer.truncated) = (bytes, truncated);
        Ok(head.take().expect("it was put there above"))
    }
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ForwardError {
    /// The destination's address may not be connected to (see [`guard`](crate::guard)); trying again is pointless.
    #[error("destination refused: {0}")]
    Refused(String),
    /// The request cannot be sent as it is; trying again is pointless.
    #[error("request cannot be sent: {0}")]
    Unsendable(String),
    /// The request has not got its signature or its credentials, so nothing was sent.
    #[error("credentials: {0}")]
    Credentials(String),
    /// No connection came about, so the destination has seen nothing.
    #[error("connection failed: {reason}")]
    Connect {
        /// What failed, for people.
        reason: String,
        /// The cause.
        #[source]
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
        /// Where the time went, as far as the forwarder says it.
        timings: Option<Box<Timings>>,
    },
    /// The deadline passed; the destination may have seen the request.
    #[error("no complete answer within {} ms", after.as_millis())]
    Timeout {
        /// The timeout of the request.
        after: Duration,
        /// Where the time went, as far as the forwarder says it.
        timings: Option<Box<Timings>>,
    },
    /// The exchange broke off; the destination may have seen the request.
    #[error("exchange broke off: {reason}")]
    Broken {
        /// What failed, for people.
        reason: String,
        /// The cause.
        #[source]
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
        /// Where the time went, as far as the forwarder says it.
        timings: Option<Box<Timings>>,
    },
    /// The destination says that it has not processed the request (RFC 9113 section 8.7). It may
    /// be sent again immediately, on another connection.
    #[error("not processed: {reason}")]
    Unprocessed {
        /// The words of the destination, for people.
        reason: String,
        /// The cause.
        #[source]
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
        /// Where the time went, as far as the forwarder says it.
        timings: Option<Box<Timings>>,
    },
    /// A kept connection ended before the first byte of an answer. Destinations close connections
    /// that were idle for some time, so the request may be sent again immediately, on a new
    /// connection (RFC 9112 section 9.3.1); the destination may have seen it all the same.
    #[error("exchange broke off: {reason}")]
    KeptClosed {
        /// What failed, for people.
        reason: String,
        /// The cause.
        #[source]
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
        /// Where the time went, as far as the forwarder says it.
        timings: Option<Box<Timings>>,
    },
    /// The head of an answer came, and its body did not end.
    #[error("{cause}")]
    Incomplete {
        /// The answer, without a body.
        head: Box<ForwardResponse>,
        /// [`Timeout`](Self::Timeout) or [`Broken`](Self::Broken).
        cause: Box<ForwardError>,
    },
}

impl ForwardError {
    /// The same error with where the time went, if it is one of those that take some.
    #[must_use]
    pub fn timed(mut self, taken: Timings) -> Self {
        match &mut self {
            Self::Connect { timings, .. }
            | Self::Timeout { timings, .. }
            | Self::Broken { timings, .. }
            | Self::Unprocessed { timings, .. }
            | Self::KeptClosed { timings, .. } => *timings = Some(Box::new(taken)),
            Self::Incomplete { head, cause } => {
                head.timings = taken;
                if let Self::Timeout { timings, .. } | Self::Broken { timings, .. } = &mut **cause {
                    *timings = Some(Box::new(taken));
                }
            }
            Self::Refused(_) | Self::Unsendable(_) | Self::Credentials(_) => {}
        }
        self
    }

    /// The same error after the head of an answer, if that had come.
    pub(crate) fn after(self, head: Option<ForwardResponse>) -> Self {
        match head {
            Some(head) => Self::Incomplete { head: Box::new(head), cause: Box::new(self) },
            None => self,
        }
    }

    /// Where the time went, as far as the forwarder says it.
    #[must_use]
    pub fn timings(&self) -> Option<&Timings> {
        match self {
            Self::Connect { timings, .. }
            | Self::Timeout { timings, .. }
            | Self::Broken { timings, .. }
            | Self::Unprocessed { timings, .. }
            | Self::KeptClosed { timings, .. } => timings.as_deref(),
            Self::Incomplete { cause, .. } => cause.timings(),
            Self::Refused(_) | Self::Unsendable(_) | Self::Credentials(_) => None,
        }
    }

    /// Whether another try could end differently.
    #[must_use]
    pub const fn is_retryable(&self) -> bool {
        !matches!(self, Self::Refused(_) | Self::Unsendable(_))
    }

    /// Whether the destination may have seen any of the request.
    #[must_use]
    pub const fn may_have_been_sent(&self) -> bool {
        match self {
            Self::Timeout { .. }
            | Self::Broken { .. }
            | Self::KeptClosed { .. }
            | Self::Incomplete { .. } => true,
            Self::Refused(_)
            | Self::Unsendable(_)
            | Self::Credentials(_)
            | Self::Connect { .. }
            | Self::Unprocessed { .. } => false,
        }
    }
}
