//! The one error of the library: what a caller can act on, and the cause for the log.

use std::{error::Error as StdError, fmt::Display, time::Duration};

use http::StatusCode;

type Source = Box<dyn StdError + Send + Sync>;

/// What a caller can do about an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The request is wrong; the message names the field.
    Invalid,
    /// The credentials are missing or wrong.
    Unauthorized,
    /// The plan does not include another one of these.
    PaymentRequired,
    /// It belongs to somebody else, or lies outside the credential's scope.
    Forbidden,
    /// It does not exist.
    NotFound,
    /// It clashes with what is stored: a duplicate name, not empty, in use, taken.
    Conflict,
    /// The body is over its limit.
    TooLarge,
    /// The caller took too long to send its request.
    Timeout,
    /// A queue that belongs to the caller is full; try again later.
    Busy,
    /// Refused by the operator's policy.
    Refused,
    /// A webhook has passed too many relays, which none of them may try again.
    Loop,
    /// A part that the operation needs was not given: a store, or the forwarder.
    Unsupported,
    /// The store or a worker pool cannot keep up or cannot be reached; try again later.
    Unavailable,
    /// A defect or a broken store. The cause is for the log, not for the caller.
    Internal,
}

impl ErrorKind {
    /// The status that an HTTP interface answers with: the one table of it. Two
    /// interfaces differ from it, each in one place. To the sender of a webhook a
    /// conflict is 429, because it may come again; and where something is made, a
    /// missing part of it is 400.
    #[must_use]
    pub const fn status(self) -> StatusCode {
        match self {
            Self::Invalid => StatusCode::BAD_REQUEST,
            Self::Unauthorized => StatusCode::UNAUTHORIZED,
            Self::PaymentRequired => StatusCode::PAYMENT_REQUIRED,
            Self::Forbidden => StatusCode::FORBIDDEN,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::Timeout => StatusCode::REQUEST_TIMEOUT,
            Self::Conflict => StatusCode::PRECONDITION_FAILED,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Busy => StatusCode::TOO_MANY_REQUESTS,
            Self::Refused => StatusCode::UNAVAILABLE_FOR_LEGAL_REASONS,
            Self::Loop => StatusCode::LOOP_DETECTED,
            Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            Self::Unsupported => StatusCode::NOT_IMPLEMENTED,
            Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

/// Why an operation failed.
///
/// `Display` is for the caller: it says what is wrong and which field, and for
/// [`ErrorKind::Internal`] and [`ErrorKind::Unavailable`] nothing about the
/// inside. [`source`](StdError::source) is for the log.
///
/// ```
/// use webhook_core::{Error, ErrorKind};
///
/// let error = Error::invalid("timeout", "must be between 0 and 180 seconds");
/// assert_eq!(error.kind(), ErrorKind::Invalid);
/// assert_eq!(error.to_string(), "timeout: must be between 0 and 180 seconds");
/// ```
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    kind: ErrorKind,
    message: String,
    retry_after: Option<Duration>,
    source: Option<Source>,
}

impl Error {
    /// An error of `kind` with a message for the caller.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), retry_after: None, source: None }
    }

    /// The request is wrong at `field`.
    pub fn invalid(field: &str, reason: impl std::fmt::Display) -> Self {
        Self::new(ErrorKind::Invalid, format!("{field}: {reason}"))
    }

    /// There is no such `what` (`"bucket"`, `"output"`).
    #[must_use]
    pub fn not_found(what: &str) -> Self {
        Self::new(ErrorKind::NotFound, format!("{what} not found"))
    }

    /// It clashes with what is stored.
    pub fn conflict(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Conflict, message)
    }

    /// Something cannot keep up or cannot be reached; worth another try after `retry_after`.
    pub fn unavailable(message: impl Into<String>, retry_after: Duration) -> Self {
        Self { retry_after: Some(retry_after), ..Self::new(ErrorKind::Unavailable, message) }
    }

    /// A queue of the caller's own is full; worth another try after `retry_after`.
    pub fn busy(message: impl Into<String>, retry_after: Duration) -> Self {
        Self { retry_after: Some(retry_after), ..Self::new(ErrorKind::Busy, message) }
    }

    /// A failure whose cause only the log may see.
    pub fn internal(source: impl Into<Source>) -> Self {
        Self::new(ErrorKind::Internal, "internal error").caused_by(source)
    }

    /// Adds the cause for the log.
    #[must_use]
    pub fn caused_by(mut self, source: impl Into<Source>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// The same error as another kind, for an operation whose interface gives it another status.
    #[must_use]
    pub fn with_kind(mut self, kind: ErrorKind) -> Self {
        self.kind = kind;
        self
    }

    /// What a caller can do about it.
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// When another try makes sense.
    #[must_use]
    pub const fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }
}

/// Refuses a request as [`Invalid`](ErrorKind::Invalid), with its field and the reason, when
/// `is_invalid`. The reason is written out only then.
pub(crate) fn invalid_if(is_invalid: bool, field: &str, reason: impl Display) -> Result<(), Error> {
    match is_invalid {
        true => Err(Error::invalid(field, reason)),
        false => Ok(()),
    }
}
