//! Requests of the plain kind, found in what has been read.

use std::mem::MaybeUninit;

use bytes::{Buf, Bytes, BytesMut};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Uri};
use http_body_util::Full;
use memchr::memchr_iter;

use super::Http1Options;

/// Room for headers that costs no allocation.
pub(super) const MAX_HEADERS: usize = 100;

/// A request, and whether its connection ends with the answer.
#[derive(Debug)]
pub(super) struct Plain {
    pub(super) request: Request<Full<Bytes>>,
    pub(super) says_close: bool,
}

/// What has been read is, or may be, something else.
#[derive(Debug)]
pub(super) struct Unplain;

/// Looks for one request while it arrives.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    options: &'a Http1Options,
    /// So many bytes have no end of a head in them.
    searched: usize,
    /// Of the head and the body, once the head is there.
    length: Option<usize>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(options: &'a Http1Options) -> Self {
        Self { options, searched: 0, length: None }
    }

    /// Whether all but the body, or a part of it, is there.
    pub(super) fn knows_length(&self) -> bool {
        self.length.is_some()
    }

    /// Takes the request that `read` begins with out of it; none when there is
    /// more to come.
    pub(super) fn next(
        &mut self,
        read: &mut BytesMut,
        names: &mut Names,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<Option<Plain>, Unplain> {
        if self.length.is_some_and(|length| read.len() < length) {
            return Ok(None);
        }
        // Mostly the head is whole at once. One that is not is read again when
        // there may be an end, and not for each byte that comes.
        if self.searched > 0 && head_end(read, self.searched).is_none() {
            return self.more(read);
        }
        let mut headers = [const { MaybeUninit::uninit() }; MAX_HEADERS];
        let headers = &mut headers[..self.options.max_headers.min(MAX_HEADERS)];
        let mut parsed = httparse::Request::new(&mut []);
        let parsing = httparse::ParserConfig::default();
        let head_bytes = match parsing.parse_request_with_uninit_headers(&mut parsed, read, headers)
        {
            Ok(httparse::Status::Complete(end)) if end <= self.options.max_head_bytes => end,
            Ok(httparse::Status::Partial) => return self.more(read),
            _ => return Err(Unplain),
        };
        let path = parsed.path.filter(|path| path.starts_with('/') && wanted(path));
        // What follows a CONNECT is no request (RFC 9110 section 9.3.6).
        let is_plain = parsed.version == Some(1) && parsed.method != Some("CONNECT");
        let path = path.filter(|_| is_plain).ok_or(Unplain)?;
        let Framing { body_bytes, says_close } = Framing::of(parsed.headers)?;
        let length = head_bytes.saturating_add(body_bytes);
        if length > self.options.max_request_bytes {
            return Err(Unplain);
        }
        if read.len() < length {
            self.length = Some(length);
            let more = length - read.len();
            read.reserve(more);
            return Ok(None);
        }
        // A copy of the right size: it lives as long as the webhook, and the
        // buffer is used again at once.
        let message = Bytes::copy_from_slice(&read[..length]);
        let of_message = |part: &[u8]| {
            let at = part.as_ptr().addr() - read.as_ptr().addr();
            message.slice(at..at + part.len())
        };
        let mut headers = HeaderMap::with_capacity(parsed.headers.len());
        for (place, header) in parsed.headers.iter().enumerate() {
            let name = names.of(place, header.name)?;
            let value = HeaderValue::from_maybe_shared(of_message(header.value));
            headers.append(name, value.map_err(|_| Unplain)?);
        }
        let mut request = Request::new(Full::new(message.slice(head_bytes..)));
        let method = parsed.method.unwrap_or_default().as_bytes();
        *request.method_mut() = Method::from_bytes(method).map_err(|_| Unplain)?;
        *request.uri_mut() =
            Uri::from_maybe_shared(of_message(path.as_bytes())).map_err(|_| Unplain)?;
        *request.headers_mut() = headers;
        read.advance(length);
        Ok(Some(Plain { request, says_close }))
    }

    /// The head goes on, if it may.
    fn more(&mut self, read: &BytesMut) -> Result<Option<Plain>, Unplain> {
        self.searched = read.len();
        let may_go_on = self.searched < self.options.max_head_bytes;
        may_go_on.then_some(None).ok_or(Unplain)
    }
}

/// The names of the last request's headers. The next one mostly has the same,
/// and shares them. Bounded by what a head may be.
#[derive(Debug, Default)]
pub(super) struct Names {
    by_place: Vec<HeaderName>,
}

impl Names {
    fn of(&mut self, place: usize, name: &str) -> Result<HeaderName, Unplain> {
        if let Some(known) = self.by_place.get(place)
            && (known.as_str() == name || known.as_str().eq_ignore_ascii_case(name))
        {
            return Ok(known.clone());
        }
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| Unplain)?;
        self.by_place.truncate(place);
        self.by_place.push(name.clone());
        Ok(name)
    }
}

/// Where a request ends, and whether its connection does (RFC 9112 sections 6.3 and 9.3).
struct Framing {
    body_bytes: usize,
    says_close: bool,
}

impl Framing {
    fn of(headers: &[httparse::Header<'_>]) -> Result<Self, Unplain> {
        let mut body_bytes = None;
        let mut says_close = false;
        for httparse::Header { name, value } in headers {
            let is = |other: &str| name.eq_ignore_ascii_case(other);
            if is("content-length") {
                if body_bytes.replace(number(value)?).is_some() {
                    return Err(Unplain);
                }
            } else if is("connection") {
                if value.eq_ignore_ascii_case(b"close") {
                    says_close = true;
                } else if !value.eq_ignore_ascii_case(b"keep-alive") {
                    return Err(Unplain);
                }
            } else if is("transfer-encoding") || is("expect") || is("upgrade") {
                return Err(Unplain);
            }
        }
        Ok(Self { body_bytes: body_bytes.unwrap_or(0), says_close })
    }
}

/// Digits and nothing else.
fn number(value: &[u8]) -> Result<usize, Unplain> {
    let digits = value.iter().all(u8::is_ascii_digit).then_some(value);
    digits.and_then(|digits| str::from_utf8(digits).ok()?.parse().ok()).ok_or(Unplain)
}

/// The length of the head that `read` begins with, if it is whole: up to an
/// empty line, of which there is none before `searched`.
pub(crate) fn head_end(read: &[u8], searched: usize) -> Option<usize> {
    // The line before the empty one may have been searched already.
    let from = searched.saturating_sub(2);
    memchr_iter(b'\n', &read[from..]).find_map(|at| match read[from + at + 1..] {
        [b'\n', ..] => Some(from + at + 2),
        [b'\r', b'\n', ..] => Some(from + at + 3),
        _ => None,
    })
}
