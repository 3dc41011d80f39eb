//! What scripts may set of their request and of its answer.

use http::{HeaderMap, HeaderName, HeaderValue};
use percent_encoding::{AsciiSet, CONTROLS, percent_encode};

/// The longest path, query or header that a script may set, in bytes.
pub(crate) const MAX_TEXT_BYTES: usize = 64 << 10;

/// Headers that a script may leave; beyond that no server takes the request.
pub(crate) const MAX_HEADERS: usize = 1_000;

/// Bytes that the query of a request line cannot have.
pub(crate) const NOT_IN_QUERY: &AsciiSet = &CONTROLS.add(b' ').add(b'#');

/// Bytes that the path of a request line cannot have.
pub(crate) const NOT_IN_PATH: &AsciiSet = &NOT_IN_QUERY.add(b'?');

/// Percent-encodes the bytes of `set`, unless the text gets too long.
pub(crate) fn encoded(text: &[u8], set: &'static AsciiSet) -> Option<String> {
    let mut out = String::with_capacity(text.len().min(MAX_TEXT_BYTES));
    for part in percent_encode(text, set) {
        if out.len() + part.len() > MAX_TEXT_BYTES {
            return None;
        }
        out.push_str(part);
    }
    Some(out)
}

/// Sets a header; `false` when there are too many.
pub(crate) fn set_header(headers: &mut HeaderMap, name: HeaderName, value: HeaderValue) -> bool {
    let full = headers.len() >= MAX_HEADERS && !headers.contains_key(&name);
    !full && headers.try_insert(name, value).is_ok()
}
