//! Headers, requests and runs of functions as one block of bytes each, without loss.

mod run;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use webhook_core::model::Request;

pub(crate) use self::run::{decode_run, encode_run};

/// Why a block does not decode; the row is named by whoever asked.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Malformed(pub(crate) &'static str);

/// `name: value\r\n` for each header. Values may hold any byte but CR, LF and
/// other control characters, so that the block reads back as it was.
pub(crate) fn encode_headers(headers: &HeaderMap) -> Vec<u8> {
    let length = headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum();
    let mut block = Vec::with_capacity(length);
    for (name, value) in headers {
        block.extend_from_slice(name.as_str().as_bytes());
        block.extend_from_slice(b": ");
        block.extend_from_slice(value.as_bytes());
        block.extend_from_slice(b"\r\n");
    }
    block
}

/// The headers of a block that [`encode_headers`] made.
pub(crate) fn decode_headers(mut block: &[u8]) -> Result<HeaderMap, Malformed> {
    let mut headers = HeaderMap::new();
    while !block.is_empty() {
        let end = find(block, b"\r\n").ok_or(Malformed("a header line has no end"))?;
        let (line, rest) = block.split_at(end);
        block = rest.get(2..).unwrap_or_default();
        let colon = find(line, b": ").ok_or(Malformed("a header line has no colon"))?;
        let (name, value) = line.split_at(colon);
        let name = HeaderName::from_bytes(name).map_err(|_| Malformed("a bad header name"))?;
        let value = HeaderValue::from_bytes(value.get(2..).unwrap_or_default())
            .map_err(|_| Malformed("a bad header value"))?;
        headers.try_append(name, value).map_err(|_| Malformed("too many headers"))?;
    }
    Ok(headers)
}

fn find(bytes: &[u8], pattern: &[u8; 2]) -> Option<usize> {
    bytes.windows(2).position(|pair| pair == pattern)
}

/// A request as five parts, each behind its length in four bytes.
pub(crate) fn encode_request(request: &Request) -> Vec<u8> {
    let Request { method, extra_path, raw_query, headers, body } = request;
    let headers = encode_headers(headers);
    let parts: [&[u8]; 5] =
        [method.as_str().as_bytes(), extra_path.as_bytes(), raw_query.as_bytes(), &headers, body];
    let mut block = Vec::with_capacity(parts.iter().map(|part| part.len() + 4).sum());
    for part in parts {
        // Bodies are capped far below 4 GiB; a cut one would not decode.
        let length = u32::try_from(part.len()).unwrap_or(u32::MAX);
        block.extend_from_slice(&length.to_be_bytes());
        block.extend_from_slice(part);
    }
    block
}

/// The request of a block that [`encode_request`] made. The body shares its memory.
pub(crate) fn decode_request(block: Vec<u8>) -> Result<Request, Malformed> {
    let mut block = Bytes::from(block);
    let mut next = || {
        let length = block
            .first_chunk()
            .map(|length| u32::from_be_bytes(*length) as usize)
            .filter(|length| *length <= block.len() - 4)
            .ok_or(Malformed("the request is cut short"))?;
        let mut part = block.split_to(4 + length);
        Ok(part.split_off(4))
    };
    let request = Request {
        method: Method::from_bytes(&next()?).map_err(|_| Malformed("a bad method"))?,
        extra_path: text(&next()?)?,
        raw_query: text(&next()?)?,
        headers: decode_headers(&next()?)?,
        body: next()?,
    };
    if block.is_empty() { Ok(request) } else { Err(Malformed("bytes after the request")) }
}

/// Text that is stored as bytes, because PostgreSQL's text has no NUL.
pub(crate) fn text(bytes: &[u8]) -> Result<String, Malformed> {
    std::str::from_utf8(bytes).map(str::to_owned).map_err(|_| Malformed("not UTF-8"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    pub(super) fn headers() -> impl Strategy<Value = HeaderMap> {
        let value = prop::collection::vec(
            any::<u8>().prop_filter("a header byte", |b| *b == 9 || (*b >= 32 && *b != 127)),
            0..20,
        );
        prop::collection::vec(("[a-z][a-z0-9-]{0,8}", value), 0..12).prop_map(|lines| {
            lines
                .into_iter()
                .map(|(name, value)| {
                    (
                        HeaderName::from_bytes(name.as_bytes()).expect("a name"),
                        HeaderValue::from_bytes(&value).expect("a value"),
                    )
                })
                .collect()
        })
    }

    proptest! {
        #[test]
        fn headers_survive_byte_for_byte_and_in_order(headers in headers()) {
            let read = decode_headers(&encode_headers(&headers)).expect("what was written");
            prop_assert!(read.iter().eq(headers.iter()));
        }

        #[test]
        fn requests_survive(
            headers in headers(),
            method in "[A-Z]{1,7}",
            extra_path in "\\PC*",
            raw_query in ".*",
            body in prop::collection::vec(any::<u8>(), 0..200),
        ) {
            let request = Request {
                method: Method::from_bytes(method.as_bytes()).expect("a token"),
                extra_path,
                raw_query,
                headers,
                body: body.into(),
            };
            let read = decode_request(encode_request(&request)).expect("what was written");
            prop_assert_eq!(read, request);
        }

        #[test]
        fn any_bytes_decode_or_fail(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            let _ = decode_headers(&bytes);
            let _ = decode_request(bytes);
        }
    }

    #[test]
    fn a_value_may_begin_and_end_with_blanks() {
        let mut headers = HeaderMap::new();
        headers.insert("x", HeaderValue::from_static("  a: b "));
        headers.append("x", HeaderValue::from_static(""));
        assert_eq!(encode_headers(&headers), b"x:   a: b \r\nx: \r\n");
        assert_eq!(decode_headers(b"x:   a: b \r\nx: \r\n").expect("well-formed"), headers);
    }
}
