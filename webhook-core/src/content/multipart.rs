//! Bodies of `multipart/form-data` (RFC 7578).

use std::{borrow::Cow, collections::BTreeMap};

use http::{
    HeaderMap, HeaderName, HeaderValue,
    header::{CONTENT_DISPOSITION, CONTENT_TYPE},
};
use serde_json::value::{RawValue, to_raw_value};

use super::{Content, Format, Unreadable, charset::Charset, form::Values, format::parameter};

/// How many parts are read.
const MAX_PARTS: usize = 1_000;
/// How many headers of a part are read.
const MAX_PART_HEADERS: usize = 16;

/// An object with the parts by their names. A part of JSON is its value, another one its text.
/// Files that are no JSON are left out, and of a repeated name all parts are a list.
pub(super) fn to_json(headers: &HeaderMap, body: &[u8]) -> Result<String, Unreadable> {
    let boundary = parameter(headers.get(CONTENT_TYPE), "boundary")
        .filter(|boundary| !boundary.is_empty())
        .ok_or_else(|| {
            Unreadable::new("the body is multipart, and Content-Type names no boundary")
        })?;
    let delimiter = [b"--", &*boundary].concat();
    let mut fields = BTreeMap::<String, Values<Box<RawValue>>>::new();
    let parts = Parts { rest: body, delimiter: &delimiter };
    for part in parts.take(MAX_PARTS) {
        if let Some((name, value)) = field(part) {
            fields.entry(name).or_default().0.push(value);
        }
    }
    if fields.is_empty() && memchr::memmem::find(body, &delimiter).is_none() {
        return Err(Unreadable::new("the body is multipart, and its boundary is not in it"));
    }
    serde_json::to_string(&fields).map_err(|error| Unreadable::new(error.to_string()))
}

/// The bytes between two delimiters, one after the other.
struct Parts<'b> {
    rest: &'b [u8],
    delimiter: &'b [u8],
}

impl<'b> Iterator for Parts<'b> {
    type Item = &'b [u8];

    fn next(&mut self) -> Option<&'b [u8]> {
        let start = memchr::memmem::find(self.rest, self.delimiter)? + self.delimiter.len();
        let part = self.rest.get(start..)?;
        // `--` behind a delimiter ends the body.
        let part = part.strip_prefix(b"\r\n").or_else(|| part.strip_prefix(b"\n"))?;
        let end = memchr::memmem::find(part, self.delimiter)?;
        self.rest = part.get(end..)?;
        let part = part.get(..end)?;
        Some(part.strip_suffix(b"\r\n").or_else(|| part.strip_suffix(b"\n")).unwrap_or(part))
    }
}

/// The name and the value of a part; none for a file, and for a part without a name.
fn field(part: &[u8]) -> Option<(String, Box<RawValue>)> {
    let mut headers = HeaderMap::new();
    let mut rest = part;
    for _ in 0..MAX_PART_HEADERS {
        let (line, after) = rest.split_at(memchr::memchr(b'\n', rest)? + 1);
        rest = after;
        let line = line.trim_ascii();
        if line.is_empty() {
            break;
        }
        let (name, value) = line.split_at(memchr::memchr(b':', line)?);
        let name = HeaderName::from_bytes(name.trim_ascii()).ok()?;
        let value = value.get(1..).unwrap_or_default().trim_ascii();
        headers.insert(name, HeaderValue::from_bytes(value).ok()?);
    }
    let disposition = headers.get(CONTENT_DISPOSITION);
    let name = String::from_utf8_lossy(&parameter(disposition, "name")?).into_owned();
    let content = Content { headers: &headers, bytes: Cow::Borrowed(rest) };
    let is_json = headers.contains_key(CONTENT_TYPE) && content.format() == Some(Format::Json);
    let text = Charset::of(&headers, rest).text(Cow::Borrowed(rest));
    let value = match is_json.then(|| serde_json::from_str::<Box<RawValue>>(&text)) {
        Some(Ok(value)) => value,
        _ if parameter(disposition, "filename").is_some() => return None,
        _ => to_raw_value(&*text).ok()?,
    };
    Some((name, value))
}
