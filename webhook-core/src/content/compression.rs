//! Undoing `Content-Encoding`.

use std::borrow::Cow;

use http::{HeaderMap, header::CONTENT_ENCODING};

use super::Unreadable;

/// How many encodings one after the other are undone.
const MAX_ENCODINGS: usize = 3;

/// The bytes of `body` without the encodings that the headers name.
pub(super) fn undo<'a>(headers: &HeaderMap, body: &'a [u8]) -> Result<Cow<'a, [u8]>, Unreadable> {
    let mut bytes = Cow::Borrowed(body);
    if body.is_empty() || !headers.contains_key(CONTENT_ENCODING) {
        return Ok(bytes);
    }
    let values =
        headers.get_all(CONTENT_ENCODING).iter().flat_map(|it| it.as_bytes().split(|b| *b == b','));
    let names = values.map(|name| String::from_utf8_lossy(name.trim_ascii()).to_ascii_lowercase());
    let names: Vec<_> = names.filter(|name| !matches!(&**name, "" | "identity")).collect();
    if names.len() > MAX_ENCODINGS {
        return Err(Unreadable::new(format!("the body has more than {MAX_ENCODINGS} encodings")));
    }
    // The last one was applied last (RFC 9110, section 8.4).
    for name in names.iter().rev() {
        bytes = Cow::Owned(decompress(name, &bytes)?);
    }
    Ok(bytes)
}

#[cfg(not(feature = "compression"))]
fn decompress(name: &str, _: &[u8]) -> Result<Vec<u8>, Unreadable> {
    Err(Unreadable::new(format!(
        "the body is compressed as {name:?}, and this program was built without the feature compression"
    )))
}

#[cfg(feature = "compression")]
fn decompress(name: &str, bytes: &[u8]) -> Result<Vec<u8>, Unreadable> {
    use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

    let read = match name {
        "gzip" | "x-gzip" => read(MultiGzDecoder::new(bytes)),
        // RFC 9110 means zlib, and some programs send the bare stream.
        "deflate" if is_zlib(bytes) => read(ZlibDecoder::new(bytes)),
        "deflate" => read(DeflateDecoder::new(bytes)),
        "br" => read(brotli_decompressor::Decompressor::new(bytes, BUFFER_BYTES)),
        _ => {
            return Err(Unreadable::new(format!(
                "the body is compressed as {name:?}, which is not read"
            )));
        }
    };
    read.map_err(|reason| Unreadable::new(format!("the body is not {name}: {reason}")))
}

#[cfg(feature = "compression")]
const BUFFER_BYTES: usize = 16 << 10;

/// The first two bytes of zlib (RFC 1950, section 2.2).
#[cfg(feature = "compression")]
fn is_zlib(bytes: &[u8]) -> bool {
    matches!(bytes, [first, second, ..] if first & 15 == 8 && u16::from_be_bytes([*first, *second]) % 31 == 0)
}

#[cfg(feature = "compression")]
fn read(from: impl std::io::Read) -> Result<Vec<u8>, String> {
    use std::io::Read;

    use super::MAX_CONTENT_BYTES;

    let mut bytes = Vec::new();
    let limit = MAX_CONTENT_BYTES as u64 + 1;
    from.take(limit).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    match bytes.len() > MAX_CONTENT_BYTES {
        true => Err(format!("it has more than {MAX_CONTENT_BYTES} bytes when it is decompressed")),
        false => Ok(bytes),
    }
}
