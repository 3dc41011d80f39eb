//! The format of a body.

use std::borrow::Cow;

use http::{HeaderMap, HeaderValue, header::CONTENT_TYPE};

/// What a body is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// One value of JSON.
    Json,
    /// A value of JSON in each line.
    JsonLines,
    /// An XML document.
    Xml,
    /// `application/x-www-form-urlencoded`.
    Form,
    /// `multipart/form-data`.
    Multipart,
}

impl Format {
    /// What `Content-Type` says, or else what the first byte looks like.
    pub(super) fn of(headers: &HeaderMap, bytes: &[u8]) -> Option<Self> {
        // The marks of UTF-8 and UTF-16, and the other half of a character of UTF-16.
        let first = bytes.iter().copied().find(|byte| {
            !byte.is_ascii_whitespace() && !matches!(byte, 0 | 0xef | 0xbb | 0xbf | 0xfe | 0xff)
        })?;
        let content_type = headers.get(CONTENT_TYPE).map(essence);
        match content_type.as_deref() {
            // A form never starts with one of these, which it would have to escape.
            Some(b"application/x-www-form-urlencoded") if !matches!(first, b'{' | b'[' | b'<') => {
                return Some(Self::Form);
            }
            Some(b"application/json" | b"text/json") => return Some(Self::Json),
            Some(
                b"application/x-ndjson"
                | b"application/ndjson"
                | b"application/jsonl"
                | b"application/x-jsonlines"
                | b"application/jsonlines",
            ) => return Some(Self::JsonLines),
            Some(b"application/xml" | b"text/xml") => return Some(Self::Xml),
            Some(kind) if kind.ends_with(b"+json") => return Some(Self::Json),
            Some(kind) if kind.ends_with(b"+xml") => return Some(Self::Xml),
            Some(b"multipart/form-data") => return Some(Self::Multipart),
            Some(kind) if kind.starts_with(b"multipart/") => return None,
            _ => {}
        }
        match first {
            b'{' | b'[' | b'"' => Some(Self::Json),
            b'<' => Some(Self::Xml),
            _ => content_type.is_none().then_some(Self::Form),
        }
    }
}

/// The media type of a `Content-Type` without its parameters, in lower case.
pub(super) fn essence(value: &HeaderValue) -> Vec<u8> {
    let kind = value.as_bytes().split(|byte| *byte == b';').next().unwrap_or_default();
    kind.trim_ascii().to_ascii_lowercase()
}

/// A parameter of a header's value, without its quotes.
pub(super) fn parameter<'v>(value: Option<&'v HeaderValue>, name: &str) -> Option<Cow<'v, [u8]>> {
    let mut rest = value?.as_bytes();
    rest = rest.get(memchr::memchr(b';', rest)?..)?;
    while let Some(start) = rest.strip_prefix(b";") {
        let (key, after) =
            start.split_at(memchr::memchr2(b'=', b';', start).unwrap_or(start.len()));
        let Some(after) = after.strip_prefix(b"=") else {
            rest = after;
            continue;
        };
        let after = after.trim_ascii_start();
        let (value, left) = match after.strip_prefix(b"\"") {
            Some(quoted) => unquoted(quoted),
            None => {
                let end = memchr::memchr(b';', after).unwrap_or(after.len());
                let (value, left) = after.split_at(end);
                (Cow::Borrowed(value.trim_ascii()), left)
            }
        };
        if key.trim_ascii().eq_ignore_ascii_case(name.as_bytes()) {
            return Some(value);
        }
        rest = left;
    }
    None
}

/// The text before a closing quote, and what follows up to the next semicolon.
fn unquoted(quoted: &[u8]) -> (Cow<'_, [u8]>, &[u8]) {
    let (mut value, mut bytes) = (Vec::new(), quoted.iter().enumerate());
    let mut end = quoted.len();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'"' => {
                end = at + 1;
                break;
            }
            b'\\' => value.extend(bytes.next().map(|(_, byte)| *byte)),
            byte => value.push(*byte),
        }
    }
    let after = quoted.get(end..).unwrap_or_default();
    let next = memchr::memchr(b';', after).unwrap_or(after.len());
    (Cow::Owned(value), after.get(next..).unwrap_or_default())
}
