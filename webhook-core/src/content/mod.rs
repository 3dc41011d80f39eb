//! The content of a body, as a reader understands it: decompressed, as text in UTF-8, as data.
//!
//! Rules, keys of deduplication, searches, functions and pages read bodies here, so that they agree.
//! The relay stores, forwards and verifies the bytes as they were received.
//!
//! ```
//! # #[cfg(feature = "charsets")] {
//! use http::{HeaderMap, HeaderValue, header::CONTENT_TYPE};
//! use webhook_core::content::Document;
//!
//! let latin = HeaderValue::from_static("application/x-www-form-urlencoded; charset=windows-1252");
//! let headers = HeaderMap::from_iter([(CONTENT_TYPE, latin)]);
//! let document = Document::read(&headers, b"a=caf%E9")?.expect("it is a form");
//! assert_eq!(document.to_json().as_deref(), Some(r#"{"a":"café"}"#));
//!
//! let none = Document::read(&headers, br#"{"a":1,"b":}"#).expect_err("it is neither");
//! assert_eq!(none.to_string(), "the body is not JSON: line 1, column 12: expected value");
//! # }
//! # Ok::<(), webhook_core::content::Unreadable>(())
//! ```
//!
//! # How a body is read
//!
//! 1. `Content-Encoding` is undone: `gzip`, `deflate` and `br`, with the feature `compression`, up
//!    to [`MAX_CONTENT_BYTES`].
//! 2. With the feature `charsets`, the bytes become text by the byte order mark, else by the `charset` of `Content-Type`, else by
//!    the XML declaration, else as UTF-8. Bytes that are none become U+FFFD. In a form, each
//!    name and value is decoded after its percent signs.
//! 3. The format is JSON, a form, XML, `multipart/form-data` or JSON in lines, as `Content-Type` says; when that
//!    says none of them, by the first byte: `{`, `[` or `"` is JSON, `<` is XML, and anything else is a
//!    form if there is no `Content-Type` at all. A body that claims to be a form and starts with
//!    `{`, `[` or `<` is none, which is what `curl -d` sends.
//! 4. A form with the single field `payload` that holds JSON is that JSON: GitHub and Slack send such forms.

mod charset;
mod compression;
mod document;
pub(crate) mod form;
mod format;
mod multipart;
#[cfg(test)]
mod tests;
#[cfg(feature = "xml")]
mod xml;

use std::borrow::Cow;

use http::HeaderMap;

use self::charset::Charset;

pub(crate) use charset::in_utf8;
pub use document::{Document, json_in};
pub(crate) use format::Format;

/// How many bytes a compressed body may have when it is decompressed.
pub const MAX_CONTENT_BYTES: usize = 8 << 20;

/// Why a body cannot be read, in words for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unreadable(String);

impl Unreadable {
    fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}

/// A body that is decompressed.
#[derive(Clone, Debug)]
pub(crate) struct Content<'a> {
    headers: &'a HeaderMap,
    bytes: Cow<'a, [u8]>,
}

impl<'a> Content<'a> {
    /// Undoes the `Content-Encoding` of a request or an answer.
    ///
    /// # Errors
    ///
    /// [`Unreadable`] for another encoding, for bytes that are not of it, and for more than
    /// [`MAX_CONTENT_BYTES`].
    pub(crate) fn of(headers: &'a HeaderMap, body: &'a [u8]) -> Result<Self, Unreadable> {
        Ok(Self { headers, bytes: compression::undo(headers, body)? })
    }

    /// Its format, as the headers say or as the first byte looks.
    pub(crate) fn format(&self) -> Option<Format> {
        Format::of(self.headers, &self.bytes)
    }

    /// Its text in UTF-8. The values of a form in another charset are encoded again.
    fn text(self) -> Cow<'a, str> {
        let charset = Charset::of(self.headers, &self.bytes);
        match self.format() {
            Some(Format::Form) => charset.form(self.bytes),
            _ => charset.text(self.bytes),
        }
    }
}

/// The content of a body whose bytes are something else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// The content.
    pub bytes: Vec<u8>,
    /// Whether the body is in another charset than UTF-8, which the content is in.
    pub(crate) is_recoded: bool,
}

/// The content of a body that is compressed, or whose headers or first bytes name another charset
/// than UTF-8. None for another body, and for one that cannot be read.
#[must_use]
pub fn decoded(headers: &HeaderMap, body: &[u8]) -> Option<Decoded> {
    let content = Content::of(headers, body).ok()?;
    if !Charset::of(headers, &content.bytes).is_utf8() {
        let bytes = content.text().into_owned().into_bytes();
        return Some(Decoded { bytes, is_recoded: true });
    }
    match content.bytes {
        Cow::Borrowed(_) => None,
        Cow::Owned(bytes) => Some(Decoded { bytes, is_recoded: false }),
    }
}
