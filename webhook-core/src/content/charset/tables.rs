//! Charsets by the tables of `encoding_rs`.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use http::{HeaderMap, header::CONTENT_TYPE};
use url::form_urlencoded;

use super::utf8;

/// How far the XML declaration is looked for.
const DECLARATION_BYTES: usize = 256;

/// By the byte order mark, the `charset` of `Content-Type`, the zeros of UTF-16 without a mark
/// (RFC 4627, section 3) or the XML declaration; else UTF-8.
fn encoding_of(headers: &HeaderMap, bytes: &[u8]) -> &'static Encoding {
    if let Some((encoding, _)) = Encoding::for_bom(bytes) {
        return encoding;
    }
    let parameter = crate::content::format::parameter(headers.get(CONTENT_TYPE), "charset");
    parameter
        .and_then(|label| Encoding::for_label(&label))
        .or_else(|| match bytes {
            [0, b'{' | b'[' | b'"' | b'<', 0, ..] => Some(UTF_16BE),
            [b'{' | b'[' | b'"' | b'<', 0, _, 0, ..] => Some(UTF_16LE),
            _ => declared(bytes),
        })
        .unwrap_or(UTF_8)
}

/// The `encoding` of an XML declaration in ASCII.
fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let start = bytes.strip_prefix(b"<?xml")?;
    let start = start.get(..DECLARATION_BYTES).unwrap_or(start);
    let declaration = start.get(..memchr::memmem::find(start, b"?>")?)?;
    let at = memchr::memmem::find(declaration, b"encoding")?;
    let value = declaration.get(at + b"encoding".len()..)?.trim_ascii_start();
    let value = value.strip_prefix(b"=")?.trim_ascii_start();
    let (quote, value) = value.split_first()?;
    let label = value.get(..memchr::memchr(*quote, value)?)?;
    // A declaration that could be read is in no charset of two bytes.
    Encoding::for_label(label).map(Encoding::output_encoding)
}

/// A charset that `encoding_rs` knows.
#[derive(Clone, Copy, Debug)]
pub(in crate::content) struct Charset(&'static Encoding);

impl Charset {
    /// The charset of a body.
    pub(in crate::content) fn of(headers: &HeaderMap, bytes: &[u8]) -> Self {
        Self(encoding_of(headers, bytes))
    }

    pub(in crate::content) fn is_utf8(self) -> bool {
        self.0 == UTF_8
    }

    /// `bytes` as text without the byte order mark; U+FFFD stands for what is none.
    pub(in crate::content) fn text(self, bytes: Cow<'_, [u8]>) -> Cow<'_, str> {
        match bytes {
            bytes if self.is_utf8() => utf8(bytes),
            Cow::Borrowed(bytes) => self.0.decode_with_bom_removal(bytes).0,
            Cow::Owned(bytes) => self.0.decode_with_bom_removal(&bytes).0.into_owned().into(),
        }
    }

    /// A form in UTF-8 with the names and values of `bytes`.
    pub(in crate::content) fn form(self, bytes: Cow<'_, [u8]>) -> Cow<'_, str> {
        if self.is_utf8() || !self.0.is_ascii_compatible() {
            return self.text(bytes);
        }
        let decode = |part: &[u8]| {
            let spaced: Vec<u8> =
                part.iter().map(|byte| if *byte == b'+' { b' ' } else { *byte }).collect();
            let bytes: Vec<u8> = percent_encoding::percent_decode(&spaced).collect();
            self.0.decode_without_bom_handling(&bytes).0.into_owned()
        };
        let mut form = form_urlencoded::Serializer::new(String::new());
        for field in bytes.split(|byte| *byte == b'&').filter(|field| !field.is_empty()) {
            let (name, value) = match memchr::memchr(b'=', field) {
                Some(at) => (field.get(..at), field.get(at + 1..)),
                None => (Some(field), None),
            };
            form.append_pair(&decode(name.unwrap_or_default()), &decode(value.unwrap_or_default()));
        }
        Cow::Owned(form.finish())
    }
}
