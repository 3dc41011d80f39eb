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
    /// The destination says that it has not processed the request.
    Unprocessed(Cause),
    /// It ended before the first byte of an answer; the destination may have seen the request.
    Silent(Cause),
    /// It ended later.
    Broken(Cause),
    /// The request does not fit into HTTP.
    Unsendable(ForwardError),
}

/// What ended it.
pub(super) enum Cause {
    Hyper(hyper::Error),
    /// TLS ended it, in these words.
    OfTls(String),
    /// The destination closed it.
    Closed,
    /// The answer says its body's length and codes it in chunks.
    TwoLengths,
    /// The answer is a message of TLS, and the request was sent without it.
    Tls,
}

/// hyper did not get an answer. A request that it gives back has not left; `take_back`
/// makes of it what it was made of.
pub(super) fn without_answer(
    mut error: TrySendError<Request<Body>>,
    take_back: impl FnOnce(Request<Body>) -> Outgoing,
    cause: impl FnOnce(hyper::Error) -> Cause,
) -> Failure {
    let request = error.take_message();
    let error = error.into_error();
    match request {
        Some(request) => Failure::Unwritten(Box::new(take_back(request)), cause(error)),
        None if is_unprocessed(&error) => Failure::Unprocessed(Cause::Hyper(error)),
        None => Failure::Broken(cause(error)),
    }
}

/// Whether the destination says that it has not processed the request: the stream is above the
/// last one of a GOAWAY, or was refused (RFC 9113 section 8.7). h2 ends no other stream with a
/// GOAWAY of the destination.
fn is_unprocessed(error: &hyper::Error) -> bool {
    let Some(error) = error.source().and_then(|source| source.downcast_ref::<h2::Error>()) else {
        return false;
    };
    let is_refused = error.is_reset() && error.reason() == Some(h2::Reason::REFUSED_STREAM);
    error.is_remote() && (error.is_go_away() || is_refused)
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

/// The destination has not processed the request.
pub(super) fn unprocessed(cause: Cause) -> ForwardError {
    let (reason, source) = cause.told();
    ForwardError::Unprocessed { reason, source: Some(source), timings: None }
}

/// A kept connection ended before the first byte of an answer.
pub(super) fn kept_closed(cause: Cause) -> ForwardError {
    let (reason, source) = cause.told();
    ForwardError::KeptClosed { reason, source: Some(source), timings: None }
}

/// A new connection ended before the first byte of an answer. Many servers that expect TLS end a
/// request without TLS so.
pub(super) fn silent(cause: Cause, is_plain: bool) -> ForwardError {
    let may_expect_tls = is_plain && matches!(cause, Cause::Hyper(_));
    let (mut reason, source) = cause.told();
    if may_expect_tls {
        reason.push_str(MAY_EXPECT_TLS);
    }
    ForwardError::Broken { reason, source: Some(source), timings: None }
}

impl Cause {
    fn told(self) -> (String, Box<dyn StdError + Send + Sync>) {
        match self {
            Self::Hyper(error) => (describe(&error), error.into()),
            Self::OfTls(words) => (words.clone(), words.into()),
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
        if let Some(h2) = deepest.downcast_ref::<h2::Error>()
            && let Some(reason) = h2.reason()
        {
            return of_http2(h2, reason);
        }
        if let Some(io) = deepest.downcast_ref::<io::Error>() {
            return describe_io(io);
        }
        match deepest.source() {
            Some(source) => deepest = source,
            None => return deepest.to_string(),
        }
    }
}

/// What an error of HTTP/2 says. The texts of the library name its types.
fn of_http2(error: &h2::Error, reason: h2::Reason) -> String {
    let code = u32::from(reason);
    match (error.is_remote(), error.is_go_away()) {
        (true, true) => format!(
            "the destination takes no more requests on the connection (GOAWAY with code {code})"
        ),
        (true, false) if reason == h2::Reason::REFUSED_STREAM => {
            "the destination refused the request before it looked at it (REFUSED_STREAM)".to_owned()
        }
        (true, false) => {
            format!("the destination ended the request (RST_STREAM with code {code})")
        }
        (false, _) => format!("the destination broke the rules of HTTP/2 (code {code})"),
    }
}

/// An answer that is none.
fn refused(what: &str, why: impl std::fmt::Display) -> String {
    format!("the answer's {what} is refused: {why}")
}

const SPEAKS_TLS: &str =
    "the destination speaks TLS at this port: its address begins with https://";
const MAY_EXPECT_TLS: &str = "; if it speaks TLS at this port, its address begins with https://";
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
