//! What went wrong, in words for people and in kinds for the relay.

use std::{error::Error as StdError, io, time::Duration};

use super::connection::Cause;
use crate::forward::ForwardError;

/// The deadline passed while there was no connection yet.
pub(super) fn no_connection_within(timeout: Duration) -> ForwardError {
    ForwardError::Connect {
        reason: format!("no connection within {} ms", timeout.as_millis()),
        source: None,
    }
}

/// A connection could not be opened.
pub(super) fn connect(error: io::Error) -> ForwardError {
    ForwardError::Connect { reason: describe_io(&error), source: Some(error.into()) }
}

/// A new connection ended before it took the request.
pub(super) fn never_written(cause: Cause) -> ForwardError {
    let (reason, source) = cause.told();
    ForwardError::Connect { reason, source: Some(source) }
}

/// The exchange failed after the request was, or may have been, written.
pub(super) fn broken(cause: Cause) -> ForwardError {
    let (reason, source) = cause.told();
    ForwardError::Broken { reason, source: Some(source) }
}

impl Cause {
    fn told(self) -> (String, Box<dyn StdError + Send + Sync>) {
        match self {
            Self::Io(error) => (describe_io(&error), error.into()),
            Self::Http2(error) => (describe(&error), error.into()),
        }
    }
}

fn describe(error: &hyper::Error) -> String {
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

const CLOSED_EARLY: &str = "the destination closed the connection before its answer was complete";

fn describe_io(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => "connection refused".to_owned(),
        io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => {
            "connection reset by the destination".to_owned()
        }
        io::ErrorKind::UnexpectedEof => CLOSED_EARLY.to_owned(),
        io::ErrorKind::TimedOut => "connection timed out".to_owned(),
        io::ErrorKind::HostUnreachable => "host unreachable".to_owned(),
        io::ErrorKind::NetworkUnreachable => "network unreachable".to_owned(),
        _ => error.to_string(),
    }
}
