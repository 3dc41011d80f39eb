use http::{
    HeaderMap, HeaderName, HeaderValue,
    header::{CONTENT_ENCODING, CONTENT_TYPE},
};

use super::*;

pub(crate) fn headers(of: &[(HeaderName, &str)]) -> HeaderMap {
    let value = |text: &str| HeaderValue::from_str(text).expect("a header's value");
    of.iter().map(|(name, text)| (name.clone(), value(text))).collect()
}

fn typed(content_type: &str) -> HeaderMap {
    match content_type {
        "" => HeaderMap::new(),
        text => headers(&[(CONTENT_TYPE, text)]),
    }
}

fn json(content_type: &str, body: &[u8]) -> Option<String> {
    let headers = typed(content_type);
    let document = Document::read(&headers, body).ok()??;
    document.to_json().map(Cow::into_owned)
}

/// The text in UTF-16 without a mark.
#[cfg(feature = "charsets")]
fn utf16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(bytes).collect()
}

#[cfg(feature = "charsets")]
#[test]
fn charsets_are_known_by_mark_parameter_zeros_and_declaration() {
    let cafe = r#"{"m":"café"}"#;
    let with_mark = |mark: &[u8], text: Vec<u8>| [mark, &text].concat();
    for (content_type, body) in [
        ("application/json", cafe.as_bytes().to_vec()),
        ("application/json", with_mark(b"\xef\xbb\xbf", cafe.as_bytes().to_vec())),
        ("application/json; charset=utf-8", with_mark(b"\xef\xbb\xbf", cafe.into())),
        ("application/json; charset=ISO-8859-1", b"{\"m\":\"caf\xe9\"}".to_vec()),
        (
            "application/json; x=\"a;charset=utf-8\"; Charset=\"latin1\"",
            b"{\"m\":\"caf\xe9\"}".to_vec(),
        ),
        ("text/json;charset=windows-1252", b"{\"m\":\"caf\xe9\"}".to_vec()),
        ("application/json; charset=nonsense", cafe.into()),
        ("application/json", with_mark(b"\xff\xfe", utf16(cafe, u16::to_le_bytes))),
        ("application/json", with_mark(b"\xfe\xff", utf16(cafe, u16::to_be_bytes))),
        ("application/json; charset=utf-16", with_mark(b"\xfe\xff", utf16(cafe, u16::to_be_bytes))),
        ("application/json; charset=utf-16le", utf16(cafe, u16::to_le_bytes)),
        ("application/json; charset=utf-16be", utf16(cafe, u16::to_be_bytes)),
        ("application/json", utf16(cafe, u16::to_le_bytes)),
        ("", utf16(cafe, u16::to_be_bytes)),
    ] {
        assert_eq!(json(content_type, &body).as_deref(), Some(cafe), "{content_type} {body:?}");
    }
}

#[test]
fn a_form_is_decoded_after_its_percent_signs() {
    let form = "application/x-www-form-urlencoded";
    let cafe = Some(r#"{"a":"café","b+c":"& ="}"#.to_owned());
    #[cfg(feature = "charsets")]
    assert_eq!(json(&format!("{form}; charset=windows-1252"), b"a=caf%E9&b%2Bc=%26+%3D"), cafe);
    #[cfg(feature = "charsets")]
    assert_eq!(json(&format!("{form}; charset=iso-8859-1"), b"&a=caf\xe9&b%2Bc=%26+="), cafe);
    assert_eq!(json(form, b"a=caf%C3%A9&b%2Bc=%26+%3D"), cafe);
    assert_eq!(json(form, b"a=caf%E9"), Some("{\"a\":\"caf\u{fffd}\"}".to_owned()));
    assert_eq!(json("", b"a=1&a=2&b"), Some(r#"{"a":["1","2"],"b":""}"#.to_owned()));
}

#[test]
fn what_cannot_be_read_is_said() {
    let error = |content_type: &str, body: &str| {
        Document::read(&typed(content_type), body.as_bytes()).expect_err("unreadable").to_string()
    };
    assert_eq!(
        error("application/json", "{\"a\": 1,\n \"b\": tru}"),
        "the body is not JSON: line 2, column 10: expected ident"
    );
    assert_eq!(
        error("", "{\"a\":"),
        "the body is not JSON: line 1, column 5: EOF while parsing a value"
    );
    assert_eq!(
        error("application/x-ndjson", "{}\n\n{]"),
        "the body is not JSON: line 3, column 2: key must be a string"
    );
    assert_eq!(
        error("multipart/form-data", "--x"),
        "the body is multipart, and Content-Type names no boundary"
    );
    assert_eq!(
        error("multipart/form-data; boundary=y", "--x"),
        "the body is multipart, and its boundary is not in it"
    );
    for (content_type, body) in [("", ""), ("text/plain", "a=1"), ("multipart/mixed", "--x")] {
        assert!(matches!(Document::read(&typed(content_type), body.as_bytes()), Ok(None)));
    }
}

#[test]
fn lines_of_json_are_a_list() {
    let body = b"{\"a\":1}\r\n\n [2] \n\"x\"";
    assert_eq!(json("application/x-ndjson", body).as_deref(), Some(r#"[{"a":1},[2],"x"]"#));
    assert_eq!(json("application/jsonl", b"\n1").as_deref(), Some("[1]"));
}

#[cfg(feature = "charsets")]
#[test]
fn parts_of_a_multipart_form_are_fields() {
    let body = b"preamble\r\n--x\r\nContent-Disposition: form-data; name=\"payload\"\r\n\
        Content-Type: application/json\r\n\r\n{\"event\": \"media.play\", \"n\": 12345678901234567890}\r\n\
        --x\r\ncontent-disposition: form-data; name=\"note\"\r\n\r\nli\r\nne\r\n\
        --x\r\nContent-Disposition: form-data; name=\"note\"\r\n\r\nagain\r\n\
        --x\r\nContent-Disposition: form-data; name=\"thumb\"; filename=\"thumb.jpg\"\r\n\
        Content-Type: image/jpeg\r\n\r\n\xff\xd8\r\n\
        --x\r\nContent-Disposition: form-data; name=\"latin\"\r\nContent-Type: text/plain; charset=latin1\r\n\r\n\xe9\r\n\
        --x\r\nContent-Disposition: form-data; name=\"broken\"\r\nContent-Type: application/json\r\n\r\n{\r\n\
        --x\r\nno header\r\n\r\n1\r\n--x--\r\nepilogue";
    let expected = r#"{"broken":"{","latin":"é","note":["li\r\nne","again"],"payload":{"event": "media.play", "n": 12345678901234567890}}"#;
    assert_eq!(json("multipart/form-data; boundary=\"x\"", body).as_deref(), Some(expected));
    assert_eq!(json("multipart/form-data; boundary=x", b"--x--\r\n").as_deref(), Some("{}"));
}

#[test]
fn parameters_of_a_header_are_told_apart() {
    for (value, expected) in [
        ("a/b; charset=x", Some("x")),
        ("a/b;charset = x ;y=z", Some("x")),
        ("a/b; y; CHARSET=\"q\\\"; u\" ; z", Some("q\"; u")),
        ("a/b; y=\"charset=no\"; charset=yes", Some("yes")),
        ("a/b; charset", None),
        ("a/b; charset=\"open", Some("open")),
        ("charset=x", None),
        ("", None),
    ] {
        let value = HeaderValue::from_str(value).expect("a value");
        let found = format::parameter(Some(&value), "charset");
        assert_eq!(found.as_deref(), expected.map(str::as_bytes), "{value:?}");
    }
}

#[test]
fn another_encoding_is_named() {
    for (encoding, expected) in [
        ("zstd", "the body is compressed as \"zstd\", which is not read"),
        ("a, b, c, d", "the body has more than 3 encodings"),
    ] {
        let headers = headers(&[(CONTENT_ENCODING, encoding)]);
        let error = Document::read(&headers, b"{}").expect_err("it is unknown").to_string();
        if cfg!(feature = "compression") || encoding.contains(',') {
            assert_eq!(error, expected);
        } else {
            assert!(error.contains("without the feature compression"), "{error}");
        }
    }
    for encoding in ["", "identity", "Identity, "] {
        let headers = headers(&[(CONTENT_ENCODING, encoding)]);
        assert!(Document::read(&headers, b"{}").expect("it is not compressed").is_some());
    }
    let gzip = headers(&[(CONTENT_ENCODING, "gzip")]);
    assert!(matches!(Document::read(&gzip, b""), Ok(None)), "an answer to HEAD has no body");
}

#[cfg(feature = "compression")]
mod compressed {
    use std::io::Write;

    use flate2::{
        Compression,
        write::{DeflateEncoder, GzEncoder, ZlibEncoder},
    };

    use super::*;

    pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).expect("memory takes it");
        encoder.finish().expect("memory takes it")
    }

    fn read(encoding: &str, body: &[u8]) -> Result<String, String> {
        let headers = headers(&[(CONTENT_ENCODING, encoding), (CONTENT_TYPE, "application/json")]);
        let document = Document::read(&headers, body).map_err(|error| error.to_string())?;
        let json = document.as_ref().and_then(Document::to_json);
        Ok(json.unwrap_or_default().into_owned())
    }

    #[test]
    fn compressed_bodies_are_read() {
        const JSON: &[u8] = br#"{"a":[1,2,3]}"#;
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::default());
        zlib.write_all(JSON).expect("memory takes it");
        let mut bare = DeflateEncoder::new(Vec::new(), Compression::default());
        bare.write_all(JSON).expect("memory takes it");
        // Of Node's `zlib.brotliCompressSync`.
        let brotli = b"\x0b\x06\x80{\"a\":[1,2,3]}\x03";
        for (encoding, body) in [
            ("gzip", gzip(JSON)),
            ("X-GZIP", gzip(JSON)),
            ("gzip", [gzip(br#"{"a":[1,"#), gzip(b"2,3]}")].concat()),
            ("deflate", zlib.finish().expect("memory takes it")),
            ("deflate", bare.finish().expect("memory takes it")),
            ("br", brotli.to_vec()),
            ("br, gzip", gzip(brotli)),
            ("identity, gzip", gzip(JSON)),
        ] {
            assert_eq!(read(encoding, &body).as_deref(), Ok(r#"{"a":[1,2,3]}"#), "{encoding}");
        }
    }

    #[test]
    fn what_is_not_compressed_as_it_says_is_refused() {
        let whole = gzip(br#"{"a":1}"#);
        for (encoding, body) in [
            ("gzip", &b"{\"a\":1}"[..]),
            ("gzip", &whole[..whole.len() - 9]),
            ("deflate", b"{\"a\":1}"),
            ("br", b"{\"a\":1}"),
        ] {
            let error = read(encoding, body).expect_err("it is broken");
            assert!(error.starts_with(&format!("the body is not {encoding}: ")), "{error}");
        }
    }

    #[test]
    fn a_bomb_ends() {
        let fits = [b"\"".as_slice(), &vec![b'a'; MAX_CONTENT_BYTES - 2], b"\""].concat();
        assert_eq!(read("gzip", &gzip(&fits)).map(|text| text.len()), Ok(MAX_CONTENT_BYTES));
        let bomb = gzip(&vec![b' '; MAX_CONTENT_BYTES + 1]);
        let twice = gzip(&gzip(&vec![b' '; 64 << 20]));
        for (encoding, body) in [("gzip", &bomb), ("gzip, gzip", &twice)] {
            let error = read(encoding, body).expect_err("it is too large");
            let expected =
                "the body is not gzip: it has more than 8388608 bytes when it is decompressed";
            assert_eq!(error, expected);
        }
    }
}
