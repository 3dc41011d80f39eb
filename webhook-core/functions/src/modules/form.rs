//! Form fields of a request body: urlencoded and multipart.

use bytes::Bytes;
use futures_util::{FutureExt, stream};
use http::{HeaderMap, header::CONTENT_TYPE};

use super::{Bounds, ModuleError, url};

/// Fields of one form.
const MAX_FIELDS: usize = 10_000;

/// A field of a form, byte for byte.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) name: Vec<u8>,
    /// What the sender calls the file; fields that are none have no such name.
    pub(crate) file_name: Option<String>,
    /// The part's `Content-Type`.
    pub(crate) content_type: Option<String>,
    pub(crate) body: Vec<u8>,
}

impl Part {
    fn bytes(&self) -> usize {
        let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        self.name.len() + self.body.len() + text(&self.file_name) + text(&self.content_type)
    }
}

/// The fields in the order of the body, as far as they fit into `bounds`; none
/// when the body is no form.
pub(crate) fn parse(
    headers: &HeaderMap,
    body: &Bytes,
    bounds: &mut Bounds,
) -> Result<Vec<Part>, ModuleError> {
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let content_type = content_type.unwrap_or_default();
    let essence = content_type.split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
        return urlencoded(body, bounds);
    }
    match multer::parse_boundary(content_type) {
        Ok(boundary) => multipart(boundary, body.clone(), bounds),
        Err(_) => Ok(Vec::new()),
    }
}

/// As `url::form_urlencoded` reads it, but what is not UTF-8 stays as it is.
fn urlencoded(body: &[u8], bounds: &mut Bounds) -> Result<Vec<Part>, ModuleError> {
    let fields = body.split(|byte| *byte == b'&').filter(|field| !field.is_empty());
    let parts = fields.take(MAX_FIELDS).map(|field| {
        let (name, value) = match memchr::memchr(b'=', field) {
            Some(at) => (&field[..at], &field[at + 1..]),
            None => (field, &[][..]),
        };
        bounds.text(field.len())?;
        let (name, body) = (url::decode(name), url::decode(value));
        Ok(Part { name, body, ..Part::default() })
    });
    parts.collect()
}

/// The parts up to the first that is malformed.
fn multipart(boundary: String, body: Bytes, bounds: &mut Bounds) -> Result<Vec<Part>, ModuleError> {
    let whole = stream::iter([Ok::<_, std::convert::Infallible>(body)]);
    let mut multipart = multer::Multipart::new(whole, boundary);
    let read = async {
        let mut parts = Vec::new();
        while parts.len() < MAX_FIELDS {
            let Ok(Some(field)) = multipart.next_field().await else { break };
            let content_type = field.headers().get(CONTENT_TYPE);
            let mut part = Part {
                name: field.name().unwrap_or_default().as_bytes().to_vec(),
                file_name: field.file_name().map(str::to_owned),
                content_type: content_type
                    .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()),
                body: Vec::new(),
            };
            let Ok(value) = field.bytes().await else { break };
            bounds.text(part.bytes() + value.len())?;
            part.body = value.to_vec();
            parts.push(part);
        }
        Ok(parts)
    };
    // The body is there already, so nothing waits.
    read.now_or_never().unwrap_or_else(|| Ok(Vec::new()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(headers: &HeaderMap, body: &Bytes) -> Vec<Part> {
        super::parse(headers, body, &mut Bounds::of_memory(1 << 20)).expect("fits")
    }

    fn headers(content_type: &str) -> HeaderMap {
        let value = content_type.parse().expect("a header value");
        HeaderMap::from_iter([(CONTENT_TYPE, value)])
    }

    #[test]
    fn urlencoded_fields_keep_their_order_and_repeats() {
        let form = parse(
            &headers("application/x-www-form-urlencoded; charset=utf-8"),
            &Bytes::from_static(b"b=1&a=x%20y&b=2+3"),
        );
        let fields: Vec<(&[u8], &[u8])> =
            form.iter().map(|part| (&part.name[..], &part.body[..])).collect();
        assert_eq!(fields, [(&b"b"[..], &b"1"[..]), (b"a", b"x y"), (b"b", b"2 3")]);
    }

    #[test]
    fn urlencoded_bytes_that_are_not_utf8_stay() {
        let form = parse(
            &headers("application/x-www-form-urlencoded"),
            &Bytes::from_static(b"&a=%89P%00&=x&%ff&b=%zz%e4&"),
        );
        let fields: Vec<(&[u8], &[u8])> =
            form.iter().map(|part| (&part.name[..], &part.body[..])).collect();
        let expected: [(&[u8], &[u8]); 4] =
            [(b"a", b"\x89P\0"), (b"", b"x"), (b"\xff", b""), (b"b", b"%zz\xe4")];
        assert_eq!(fields, expected);
    }

    #[test]
    fn multipart_parts_are_read_byte_for_byte() {
        let body = b"--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--x\r\n\
            Content-Disposition: form-data; name=\"f\"; filename=\"f.bin\"\r\n\
            Content-Type: application/octet-stream\r\n\r\n\xff\x00\r\n--x--\r\n";
        let form = parse(&headers("multipart/form-data; boundary=x"), &Bytes::from_static(body));
        let text = Part { name: b"a".to_vec(), body: b"1".to_vec(), ..Part::default() };
        let file = Part {
            name: b"f".to_vec(),
            file_name: Some("f.bin".to_owned()),
            content_type: Some("application/octet-stream".to_owned()),
            body: b"\xff\x00".to_vec(),
        };
        assert_eq!(form, [text, file]);
    }

    #[test]
    fn what_is_no_form_has_no_fields() {
        for content_type in ["application/json", "", "multipart/form-data", "multipart/mixed"] {
            assert!(parse(&headers(content_type), &Bytes::from_static(b"a=1")).is_empty());
        }
    }

    #[test]
    fn fields_are_charged() {
        let parts = "--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n".repeat(100);
        for (content_type, body) in [
            ("application/x-www-form-urlencoded", "a=1&".repeat(100)),
            ("multipart/form-data; boundary=x", format!("{parts}--x--\r\n")),
        ] {
            let (headers, body) = (headers(content_type), Bytes::from(body));
            let read = super::parse(&headers, &body, &mut Bounds::of_memory(5_000));
            assert_eq!(read, Err(ModuleError::TooLarge), "{content_type}");
        }
    }
}
