//! The charset of a body.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use http::{HeaderMap, HeaderValue, header::CONTENT_TYPE};
use url::form_urlencoded;

/// How far the XML declaration is looked for.
const DECLARATION_BYTES: usize = 256;

/// By the byte order mark, the `charset` of `Content-Type`, the zeros of UTF-16 without a mark
/// (RFC 4627, section 3) or the XML declaration; else UTF-8.
pub(super) fn of(headers: &HeaderMap, bytes: &[u8]) -> &'static Encoding {
    if let Some((encoding, _)) = Encoding::for_bom(bytes) {
        return encoding;
    }
    let parameter = super::format::parameter(headers.get(CONTENT_TYPE), "charset");
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

/// `bytes` as text without the byte order mark; U+FFFD stands for what is none.
pub(super) fn text<'a>(bytes: Cow<'a, [u8]>, charset: &'static Encoding) -> Cow<'a, str> {
    match bytes {
        Cow::Borrowed(bytes) => charset.decode_with_bom_removal(bytes).0,
        Cow::Owned(bytes) => {
            if charset == UTF_8 && !bytes.starts_with(b"\xef\xbb\xbf") {
                match String::from_utf8(bytes) {
                    Ok(text) => return Cow::Owned(text),
                    Err(error) => {
                        return Cow::Owned(String::from_utf8_lossy(error.as_bytes()).into_owned());
                    }
                }
            }
            Cow::Owned(charset.decode_with_bom_removal(&bytes).0.into_owned())
        }
    }
}

/// A form in UTF-8 with the names and values of `bytes`, which are in `charset`.
pub(super) fn form<'a>(bytes: Cow<'a, [u8]>, charset: &'static Encoding) -> Cow<'a, str> {
    if charset == UTF_8 {
        return text(bytes, charset);
    }
    let decode = |part: &[u8]| {
        let spaced: Vec<u8> =
            part.iter().map(|byte| if *byte == b'+' { b' ' } else { *byte }).collect();
        let bytes: Vec<u8> = percent_encoding::percent_decode(&spaced).collect();
        charset.decode_without_bom_handling(&bytes).0.into_owned()
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
