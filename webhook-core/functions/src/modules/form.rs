//! Form fields of a request body: urlencoded and multipart.

use bytes::Bytes;
use futures_util::{FutureExt, stream};
use http::{HeaderMap, header::CONTENT_TYPE};

use super::{Bounds, ModuleError};

/// Fields of one form.
const MAX_FIELDS: usize = 10_000;

/// A name and what stands there.
pub(crate) type Field = (Vec<u8>, Vec<u8>);

/// The fields in the order of the body, as far as they fit into `bounds`; none
/// when the body is no form.
pub(crate) fn parse(
    headers: &HeaderMap,
    body: &Bytes,
    bounds: &mut Bounds,
) -> Result<Vec<Field>, ModuleError> {
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let content_type = content_type.unwrap_or_default();
    let essence = content_type.split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
        let fields = url::form_urlencoded::parse(body).take(MAX_FIELDS);
        let owned = fields.map(|(key, value)| {
            bounds.text(key.len() + value.len())?;
            Ok((key.into_owned().into_bytes(), value.into_owned().into_bytes()))
        });
        return owned.collect();
    }
    match multer::parse_boundary(content_type) {
        Ok(boundary) => multipart(boundary, body.clone(), bounds),
        Err(_) => Ok(Vec::new()),
    }
}

/// The parts up to the first that is malformed; files are fields whose value is the content.
fn multipart(
    boundary: String,
    body: Bytes,
    bounds: &mut Bounds,
) -> Result<Vec<Field>, ModuleError> {
    let whole = stream::iter([Ok::<_, std::convert::Infallible>(body)]);
    let mut multipart = multer::Multipart::new(whole, boundary);
    let read = async {
        let mut fields = Vec::new();
        while fields.len() < MAX_FIELDS {
            let Ok(Some(field)) = multipart.next_field().await else { break };
            let name = field.name().unwrap_or_default().as_bytes().to_vec();
            let Ok(value) = field.bytes().await else { break };
            bounds.text(name.len() + value.len())?;
            fields.push((name, value.to_vec()));
        }
        Ok(fields)
    };
    // The body is there already, so nothing waits.
    read.now_or_never().unwrap_or_else(|| Ok(Vec::new()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(headers: &HeaderMap, body: &Bytes) -> Vec<Field> {
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
            form.iter().map(|(key, value)| (&key[..], &value[..])).collect();
        assert_eq!(fields, [(&b"b"[..], &b"1"[..]), (b"a", b"x y"), (b"b", b"2 3")]);
    }

    #[test]
    fn multipart_parts_are_read_byte_for_byte() {
        let body = b"--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--x\r\n\
            Content-Disposition: form-data; name=\"f\"; filename=\"f.bin\"\r\n\
            Content-Type: application/octet-stream\r\n\r\n\xff\x00\r\n--x--\r\n";
        let form = parse(&headers("multipart/form-data; boundary=x"), &Bytes::from_static(body));
        assert_eq!(form, [(b"a".to_vec(), b"1".to_vec()), (b"f".to_vec(), b"\xff\x00".to_vec())]);
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
