//! The heads of answers.

use std::{
    io::Write,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use http::{
    Method, StatusCode,
    header::{CONNECTION, CONTENT_LENGTH, DATE, TRANSFER_ENCODING},
    response::Parts,
};
use httpdate::HttpDate;

/// Room that is kept from one answer to the next.
const KEPT: usize = 4 * 1024;

/// Writes one head after the other.
#[derive(Debug, Default)]
pub(super) struct Head {
    pub(super) bytes: Vec<u8>,
    date: Date,
}

impl Head {
    /// Replaces what is there by the head of an answer with such a body. Says
    /// whether the body follows.
    ///
    /// What the answer itself says of its framing and its connection is left
    /// out: only here it is known.
    #[allow(
        clippy::disallowed_methods,
        reason = "`Date` is the time of the machine (RFC 9110 section 6.6.1)"
    )]
    pub(super) fn write(
        &mut self,
        method: &Method,
        parts: &Parts,
        body_bytes: usize,
        close: bool,
    ) -> bool {
        self.bytes.clear();
        self.bytes.shrink_to(KEPT);
        // Another answer would have to follow an interim one.
        let is_final = !parts.status.is_informational();
        let status = if is_final { parts.status } else { StatusCode::INTERNAL_SERVER_ERROR };
        let body_bytes = if is_final { body_bytes } else { 0 };

        let reason = status.canonical_reason().unwrap_or_default();
        self.put(&[b"HTTP/1.1 ", status.as_str().as_bytes(), b" ", reason.as_bytes(), b"\r\n"]);
        for (name, value) in &parts.headers {
            if ![CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING].contains(name) {
                self.put(&[name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"]);
            }
        }
        // These have no body, and so no length (RFC 9110 sections 15.3.5 and 15.4.5).
        let bodiless = [StatusCode::NO_CONTENT, StatusCode::NOT_MODIFIED].contains(&status);
        if !bodiless {
            // Writing to a vector does not fail.
            let _ = write!(self.bytes, "content-length: {body_bytes}\r\n");
        }
        if !parts.headers.contains_key(DATE) {
            let date = self.date.of(SystemTime::now());
            self.bytes.extend_from_slice(b"date: ");
            self.bytes.extend_from_slice(date);
            self.bytes.extend_from_slice(b"\r\n");
        }
        if close {
            self.put(&[b"connection: close\r\n"]);
        }
        self.put(&[b"\r\n"]);
        !bodiless && is_final && method != Method::HEAD
    }

    fn put(&mut self, parts: &[&[u8]]) {
        parts.iter().for_each(|part| self.bytes.extend_from_slice(part));
    }
}

/// The date as it was last written.
#[derive(Debug, Default)]
struct Date {
    second: u64,
    text: Vec<u8>,
}

impl Date {
    fn of(&mut self, now: SystemTime) -> &[u8] {
        let second = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        if self.text.is_empty() || self.second != second {
            self.second = second;
            self.text.clear();
            let date = HttpDate::from(UNIX_EPOCH + Duration::from_secs(second));
            let _ = write!(self.text, "{date}");
        }
        &self.text
    }
}
