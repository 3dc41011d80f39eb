//! The heads of requests and answers.

use std::{io, mem::MaybeUninit};

use ::http::{
    HeaderMap, HeaderName, HeaderValue, StatusCode,
    header::{CONNECTION, HOST},
};
use bytes::Bytes;

use super::refused;
use crate::forward::message::Outgoing;

/// How many headers an answer may have.
const MAX_HEADERS: usize = 100;

/// Writes the head of a request. Header names take the form `X-Github-Event`,
/// which some destinations insist on.
pub(super) fn write(head: &mut Vec<u8>, outgoing: &Outgoing, host: &HeaderValue) {
    let Outgoing { method, target, host: other_host, headers, .. } = outgoing;
    head.extend_from_slice(method.as_str().as_bytes());
    head.push(b' ');
    head.extend_from_slice(target.as_str().as_bytes());
    head.extend_from_slice(b" HTTP/1.1\r\n");
    let host = other_host.as_ref().map_or(host, |other| &other.header);
    for (name, value) in [(&HOST, host)].into_iter().chain(headers) {
        write_name(head, name);
        head.extend_from_slice(b": ");
        head.extend_from_slice(value.as_bytes());
        head.extend_from_slice(b"\r\n");
    }
    head.extend_from_slice(b"\r\n");
}

fn write_name(head: &mut Vec<u8>, name: &HeaderName) {
    let start = head.len();
    head.extend_from_slice(name.as_str().as_bytes());
    let mut begins = true;
    for byte in &mut head[start..] {
        if begins {
            byte.make_ascii_uppercase();
        }
        begins = *byte == b'-';
    }
}

/// Whether the connection ends with the message.
pub(super) fn says_close(headers: &HeaderMap) -> bool {
    connection_says(headers, "close")
}

fn connection_says(headers: &HeaderMap, option: &str) -> bool {
    let lists = headers.get_all(CONNECTION).iter().filter_map(|list| list.to_str().ok());
    lists.flat_map(|list| list.split(',')).any(|each| each.trim().eq_ignore_ascii_case(option))
}

pub(super) fn too_large() -> io::Error {
    refused("head", "message head is too large")
}

/// The head of an answer.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) is_http_10: bool,
}

impl Head {
    /// Reads a whole head, whose bytes the headers share.
    pub(super) fn parse(head: &Bytes, max_bytes: usize) -> io::Result<Self> {
        if head.len() > max_bytes {
            return Err(too_large());
        }
        let mut headers = [const { MaybeUninit::uninit() }; MAX_HEADERS];
        let mut parsed = httparse::Response::new(&mut []);
        let parsing = httparse::ParserConfig::default();
        match parsing.parse_response_with_uninit_headers(&mut parsed, head, &mut headers) {
            Ok(httparse::Status::Complete(_)) => {}
            // There is an empty line before the first one.
            Ok(httparse::Status::Partial) => return Err(refused("head", "it has no end")),
            Err(httparse::Error::TooManyHeaders) => return Err(too_large()),
            Err(error) => return Err(refused("head", error)),
        }
        let status = StatusCode::from_u16(parsed.code.unwrap_or_default())
            .map_err(|error| refused("head", error))?;
        let mut headers = HeaderMap::with_capacity(parsed.headers.len());
        for header in &*parsed.headers {
            let name = HeaderName::from_bytes(header.name.as_bytes());
            let name = name.map_err(|error| refused("head", error))?;
            let value = HeaderValue::from_maybe_shared(head.slice_ref(header.value));
            headers.append(name, value.map_err(|error| refused("head", error))?);
        }
        Ok(Self { status, headers, is_http_10: parsed.version == Some(0) })
    }

    /// Whether the destination keeps the connection open (RFC 9112 section 9.3).
    pub(super) fn keeps_open(&self) -> bool {
        self.status != StatusCode::SWITCHING_PROTOCOLS
            && !says_close(&self.headers)
            && (!self.is_http_10 || connection_says(&self.headers, "keep-alive"))
    }
}
