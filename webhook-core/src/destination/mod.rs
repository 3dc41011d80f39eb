//! Where deliveries go: a kind of destination for each scheme of a URL.
//!
//! The forwarder takes `http` and `https`. A [`Destination`] takes the URLs of other schemes.
//! Order, retries, circuits, pauses, history and credentials are the relay's, and are the same
//! for every kind.
//!
//! ```
//! use webhook_core::destination::{Answer, Deadline, Destination, Outgoing, SendError};
//!
//! /// Prints each webhook: `stdout://orders`.
//! #[derive(Debug)]
//! struct Stdout;
//!
//! #[async_trait::async_trait]
//! impl Destination for Stdout {
//!     fn schemes(&self) -> &[&str] {
//!         &["stdout"]
//!     }
//!
//!     async fn send(&self, outgoing: Outgoing, _: Deadline) -> Result<Answer, SendError> {
//!         println!("{} {:?}", outgoing.url, outgoing.body);
//!         Ok(Answer::Ack { detail: "printed".into() })
//!     }
//! }
//! ```

use std::{fmt, time::Duration};

use ::http::{HeaderMap, Method, StatusCode, Uri};
use async_trait::async_trait;
use bytes::Bytes;
use tokio::time::Instant;
pub use url::Url;

mod http;
mod registry;

pub(crate) use self::{http::HttpDestination, registry::Destinations};
pub use crate::forward::history::FailureKind;
use crate::{
    forward::{ForwardError, ForwardResponse, Timings},
    id::DeliveryId,
};

/// Takes the webhooks of outputs whose URLs have one of its schemes.
#[async_trait]
pub trait Destination: Send + Sync + fmt::Debug {
    /// The schemes, such as `queue`; upper and lower case are the same.
    fn schemes(&self) -> &[&str];

    /// Checks a URL before an output with it is saved. It has a host and no password. The error
    /// is the reason that the caller reads.
    fn check(&self, url: &Url) -> Result<(), String> {
        let _ = url;
        Ok(())
    }

    /// Sends once, without a retry inside. The relay drops the future when the deadline passes.
    async fn send(&self, outgoing: Outgoing, deadline: Deadline) -> Result<Answer, SendError>;
}

/// A webhook on its way to a destination, signed and authenticated.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outgoing {
    /// The delivery, the same in each of its attempts.
    pub delivery: DeliveryId,
    /// The method.
    pub method: Method,
    /// The URL of the output, with the path and the query of the webhook.
    pub url: Uri,
    /// The headers of the webhook and of the output.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
    /// Whether the destination's certificate is verified.
    pub tls_verification: bool,
    /// How many bytes of an answer the relay keeps.
    pub max_response_bytes: usize,
    /// Whether it goes over a new connection, because a kept one has just ended.
    pub new_connection: bool,
}

/// The end of an attempt.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    timeout: Duration,
    began: Instant,
}

impl Deadline {
    /// The moment `timeout` from now.
    #[must_use]
    pub fn after(timeout: Duration) -> Self {
        Self { timeout, began: Instant::now() }
    }

    /// The time until then. A part of a millisecond counts as a whole one.
    #[must_use]
    pub fn remaining(&self) -> Duration {
        let millis = self.began.elapsed().as_millis();
        self.timeout.saturating_sub(Duration::from_millis(millis as u64))
    }
}

/// The answer of a destination.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "most answers are HTTP responses, without a box")]
#[non_exhaustive]
pub enum Answer {
    /// An HTTP response, whatever its status.
    Http(ForwardResponse),
    /// The destination took the webhook. The log shows `detail` as the body of the answer.
    Ack {
        /// Such as an identifier that the destination gave.
        detail: Bytes,
    },
    /// The destination did not take the webhook. Circuits and pauses count it as a failure.
    Nack {
        /// The error of the log.
        reason: String,
        /// Whether the relay tries again, by the schedule of the output.
        retryable: bool,
    },
}

impl Answer {
    /// The status of an HTTP response.
    #[must_use]
    pub fn status(&self) -> Option<StatusCode> {
        match self {
            Self::Http(response) => Some(response.status),
            Self::Ack { .. } | Self::Nack { .. } => None,
        }
    }
}

/// Whether the destination may have seen a webhook that it did not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// No part of it was sent.
    No,
    /// A part of it, or all of it, may have been sent.
    Maybe,
}

/// The error of an attempt without an answer.
#[derive(Debug, thiserror::Error)]
#[error("{reason}")]
#[non_exhaustive]
pub struct SendError {
    /// Whether the destination may have seen the webhook.
    pub sent: Sent,
    /// The kind of failure. After `Refused` and `Unsendable` the delivery fails. After `Unprocessed`
    /// and `KeptClosed` the relay sends again immediately, which is no other attempt: up to eight
    /// times after `Unprocessed`, once after `KeptClosed`. After any other kind it tries again.
    pub kind: FailureKind,
    /// The error of the log.
    pub reason: String,
    /// The cause.
    pub source: Option<Box<dyn std::error::Error + Send + Sync>>,
    /// How long each part of the attempt took, if that is known.
    pub timings: Option<Box<Timings>>,
    /// The head of an HTTP answer whose body did not end.
    pub head: Option<Box<ForwardResponse>>,
}

impl SendError {
    /// An error without a cause and timings, which can be set.
    #[must_use]
    pub fn new(sent: Sent, kind: FailureKind, reason: impl Into<String>) -> Self {
        Self { sent, kind, reason: reason.into(), source: None, timings: None, head: None }
    }

    pub(crate) fn is_retryable(&self) -> bool {
        !matches!(self.kind, FailureKind::Refused | FailureKind::Unsendable)
    }
}

impl From<ForwardError> for SendError {
    fn from(error: ForwardError) -> Self {
        if let ForwardError::Incomplete { head, cause } = error {
            return Self { head: Some(head), ..Self::from(*cause) };
        }
        let sent = if error.may_have_been_sent() { Sent::Maybe } else { Sent::No };
        let timings = error.timings().copied().map(Box::new);
        let new = Self::new(sent, FailureKind::of(&error), error.to_string());
        Self { timings, source: Some(error.into()), ..new }
    }
}
