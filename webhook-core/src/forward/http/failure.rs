//! What went wrong, in words for people and in kinds for the relay.

use std::{error::Error as StdError, io, time::Duration};

use ::http::Request;
use bytes::Bytes;
use http_body_util::Full;
use hyper::client::conn::TrySendError;

use super::tls_words;
use crate::forward::{ForwardError, message::Outgoing};

/// What hyper sends.
pub(super) type Body = Full<Bytes>;

/// Why an exchange has no answer.
pub(super) enum Failure {
    /// The connection ended before it took the request: not a byte of it has left.
    Unwritten(Box<Outgoing>, Cause),
    /// It ended later; the destination may have seen the request.
    Broken(Cause),
    /// The request does not fit into HTTP.
    Unsendable(ForwardError),
}

/// What ended it.
pub(super) enum Cause {
    Hyper(hyper::Error),
    /// The destination closed it.
    Closed,
    /// The answer says its body's length and codes it in chunks.
    TwoLengths,
    /// The answer is a message of TLS, and the request was sent without it.
    Tls,
}

/// hyper did not get an answer. A request that it gives back has not left; `take_back`
/// makes of it what it was made of.
pub(super) fn unwritten_or_broken(
    mut error: TrySendError<Request<Body>>,
    take_back: impl FnOnce(Request<Body>) -> Outgoing,
) -> Failure {
    match error.take_message() {
        Some(request) => {
            Failure::Unwritten(Box::new(take_back(request)), Cause::Hyper(error.into_error()))
        }
        None => Failure::Broken(Cause::Hyper(error.into_error())),
    }
}

/// The deadline passed while there was no connection yet.
pub(super) fn no_connection_within(timeout: Duration) -> ForwardError {
    ForwardError::Connect {
        reason: format!("no connection within {} ms", timeout.as_millis()),
        source: None,
        timings: None,
    }
}

/// A connection could not be opened.
pub(super) fn connect(error: io::Error) -> ForwardError {
    ForwardError::Connect { reason: describe_io(&error), source: Some(error.into()), timings: None }
}

/// A new connection ended before it took the request.
pub(super) fn never_written(cause: Cause) -> ForwardError {
    let (reason, source) = cause.told();
    ForwardError::Connect { reason, source: Some(source), timings: None }
}

/// The exchange failed after the request was, or may have been, written.
pub(super) fn broken(cause: Cause) -> ForwardError {
    let (reason, source) = cause.told();
    ForwardError::Broken { reason, source: Some(source), timings: None }
}

impl Cause {
    fn told(self) -> (String, Box<dyn StdError + Send + Sync>) {
        match self {
            Self::Hyper(error) => (describe(&error), error.into()),
            Self::Closed => (CLOSED_EARLY.to_owned(), CLOSED_EARLY.into()),
            Self::TwoLengths => {
                let reason = refused("head", "unexpected transfer-encoding");
                (reason.clone(), reason.into())
            }
            Self::Tls => (SPEAKS_TLS.to_owned(), SPEAKS_TLS.into()),
        }
    }
}

fn describe(error: &hyper::Error) -> String {
    if error.is_parse() {
        return refused("head", error);
    }
    if error.is_incomplete_message() {
        return CLOSED_EARLY.to_owned();
    }
    let mut deepest: &dyn StdError = error;
    loop {
        if let Some(io) = deepest.downcast_ref::<io::Error>() {
            return describe_io(io);
        }
        match deepest.source() {
            Some(source) => deepest = source,
            None => return deepest.to_string(),
        }
    }
}

/// An answer that is none.
fn refused(what: &str, why: impl std::fmt::Display) -> String {
    format!("the answer's {what} is refused: {why}")
}

const SPEAKS_TLS: &str =
    "the destination speaks TLS at this port: its address begins with https://";
const CLOSED_EARLY: &str = "the destination closed the connection before its answer was complete";

/// What went wrong with a connection, in words, also where TLS ended it.
#[must_use]
pub fn describe_io(error: &io::Error) -> String {
    if let Some(words) = tls_words::of(error) {
        return words;
    }
    match error.kind() {
        io::ErrorKind::ConnectionRefused => "connection refused".to_owned(),
        io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => {
            "connection reset by the destination".to_owned()
        }
        io::ErrorKind::UnexpectedEof => CLOSED_EARLY.to_owned(),
        // What hyper makes of chunks that are none.
        io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => refused("body", error),
        io::ErrorKind::TimedOut => "connection timed out".to_owned(),
        io::ErrorKind::HostUnreachable => "host unreachable".to_owned(),
        io::ErrorKind::NetworkUnreachable => "network unreachable".to_owned(),
        _ => error.to_string(),
    }
}
