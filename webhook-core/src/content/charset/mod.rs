//! The charset of a body.

#[cfg(feature = "charsets")]
mod tables;

use std::borrow::Cow;

#[cfg(not(feature = "charsets"))]
use http::HeaderMap;
use http::HeaderValue;

#[cfg(feature = "charsets")]
pub(super) use tables::Charset;

/// The one charset that a program knows without the feature `charsets`: every body is read as UTF-8.
#[cfg(not(feature = "charsets"))]
#[derive(Clone, Copy, Debug)]
pub(super) struct Charset;

#[cfg(not(feature = "charsets"))]
impl Charset {
    pub(super) const fn of(_: &HeaderMap, _: &[u8]) -> Self {
        Self
    }

    pub(super) const fn is_utf8(self) -> bool {
        true
    }

    pub(super) fn text(self, bytes: Cow<'_, [u8]>) -> Cow<'_, str> {
        utf8(bytes)
    }

    pub(super) fn form(self, bytes: Cow<'_, [u8]>) -> Cow<'_, str> {
        utf8(bytes)
    }
}

/// `bytes` as text without the byte order mark; U+FFFD stands for what is none.
fn utf8(bytes: Cow<'_, [u8]>) -> Cow<'_, str> {
    const MARK: &[u8] = b"\xef\xbb\xbf";
    match bytes {
        Cow::Borrowed(bytes) => String::from_utf8_lossy(bytes.strip_prefix(MARK).unwrap_or(bytes)),
        Cow::Owned(bytes) if bytes.starts_with(MARK) => {
            utf8(Cow::Borrowed(&bytes)).into_owned().into()
        }
        Cow::Owned(bytes) => match String::from_utf8(bytes) {
            Ok(text) => Cow::Owned(text),
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned().into(),
        },
    }
}

/// A `Content-Type` that says UTF-8; none when its text is no header's value.
pub(crate) fn in_utf8(content_type: &HeaderValue) -> Option<HeaderValue> {
    let parts = content_type.as_bytes().split(|byte| *byte == b';');
    let mut kept: Vec<&[u8]> = Vec::new();
    for part in parts {
        let name = part.split(|byte| *byte == b'=').next().unwrap_or_default();
        if !name.trim_ascii().eq_ignore_ascii_case(b"charset") {
            kept.push(part.trim_ascii());
        }
    }
    kept.push(b"charset=utf-8");
    HeaderValue::from_bytes(&kept.join(&b"; "[..])).ok()
}
