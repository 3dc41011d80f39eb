//! One HTTP/1.1 connection: as little work as a client can do that reads the
//! whole answer, because the generator shares the machine with the server.

use std::{io, net::SocketAddr};

use ring::hmac;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::event;

/// What is sent again and again, with another number and another path each time.
#[derive(Clone, Debug)]
pub struct Request {
    bytes: Vec<u8>,
    path_at: usize,
    path_len: usize,
    body_at: usize,
    is_event: bool,
    /// Where the signature's digits are, and what makes them.
    signature: Option<(usize, hmac::Key)>,
}

const HEX: &[u8; 16] = b"0123456789abcdef";
/// The header of a signature, up to its digits.
const SIGNATURE: &str = "x-hub-signature-256: sha256=";

impl Request {
    /// All paths that are used must be as long as `path`.
    pub fn new(
        method: &str,
        path: &str,
        headers: &[(String, String)],
        body: Vec<u8>,
        is_event: bool,
    ) -> Self {
        let mut bytes = format!("{method} {path} HTTP/1.1\r\n").into_bytes();
        for (name, value) in headers {
            bytes.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
        }
        bytes.extend_from_slice(format!("content-length: {}\r\n\r\n", body.len()).as_bytes());
        let body_at = bytes.len();
        bytes.extend(body);
        let (path_at, path_len) = (method.len() + 1, path.len());
        Self { bytes, path_at, path_len, body_at, is_event, signature: None }
    }

    /// The same, signed anew each time as GitHub signs.
    pub fn signed(mut self, secret: &str) -> Self {
        let line = format!("{SIGNATURE}{:064}\r\n", 0);
        let at = self.body_at - b"\r\n".len();
        self.bytes.splice(at..at, line.bytes());
        self.body_at += line.len();
        let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
        self.signature = Some((at + SIGNATURE.len(), key));
        self
    }

    /// Makes it the event of this number, to this path.
    pub fn set(&mut self, id: u64, path: &str) {
        self.bytes[self.path_at..self.path_at + self.path_len].copy_from_slice(path.as_bytes());
        if self.is_event {
            event::number(&mut self.bytes, self.body_at, id);
        }
        if let Some((at, key)) = &self.signature {
            let made = hmac::sign(key, &self.bytes[self.body_at..]);
            for (digits, byte) in self.bytes[*at..].chunks_exact_mut(2).zip(made.as_ref()) {
                digits[0] = HEX[usize::from(byte >> 4)];
                digits[1] = HEX[usize::from(byte & 15)];
            }
        }
    }
}

/// A connection that is kept.
#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    read: Vec<u8>,
}

impl Connection {
    /// Connects.
    pub async fn open(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, read: Vec::with_capacity(16 << 10) })
    }

    /// Sends a request and reads the whole answer; its status.
    pub async fn exchange(&mut self, request: &Request) -> io::Result<u16> {
        self.exchange_parts(&[&request.bytes]).await
    }

    /// The same with a request that consists of these parts.
    pub async fn exchange_parts(&mut self, parts: &[&[u8]]) -> io::Result<u16> {
        for part in parts {
            self.stream.write_all(part).await?;
        }
        self.read.clear();
        let (status, mut left) = loop {
            if self.stream.read_buf(&mut self.read).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let mut headers = [httparse::EMPTY_HEADER; 64];
            let mut head = httparse::Response::new(&mut headers);
            if let httparse::Status::Complete(length) =
                head.parse(&self.read).map_err(io::Error::other)?
            {
                let body = body_length(head.headers)?;
                let status = head.code.unwrap_or_default();
                break (status, (length + body).saturating_sub(self.read.len()));
            }
        };
        while left > 0 {
            self.read.clear();
            let count = self.stream.read_buf(&mut self.read).await?;
            if count == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            left = left.saturating_sub(count);
        }
        Ok(status)
    }
}

/// The length of a body. One without it would need more than is done here.
pub fn body_length(headers: &[httparse::Header<'_>]) -> io::Result<usize> {
    let mut length = 0;
    for header in headers {
        if header.name.eq_ignore_ascii_case("content-length") {
            let text = std::str::from_utf8(header.value).map_err(io::Error::other)?;
            length = text.trim().parse().map_err(io::Error::other)?;
        } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
            return Err(io::Error::other("the body has no length"));
        }
    }
    Ok(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With the body and secret of GitHub's own documentation.
    #[test]
    fn a_request_is_signed_as_github_signs() {
        let body = b"Hello, World!".to_vec();
        let headers = [("host".to_owned(), "h".to_owned())];
        let mut request = Request::new("POST", "/a", &headers, body, false);
        request = request.signed("It's a Secret to Everybody");
        request.set(7, "/b");
        let text = String::from_utf8(request.bytes).expect("it is text");
        let digits = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
        let expected = format!(
            "POST /b HTTP/1.1\r\nhost: h\r\ncontent-length: 13\r\n{SIGNATURE}{digits}\r\n\r\n\
             Hello, World!"
        );
        assert_eq!(text, expected);
    }

    #[test]
    fn each_event_has_a_signature_of_its_own() {
        let request = Request::new("POST", "/a", &[], event::body(1 << 10), true);
        let mut request = request.signed("s");
        let mut at = |id| {
            request.set(id, "/a");
            request.bytes.clone()
        };
        assert_ne!(at(1)[..200], at(2)[..200]);
        assert_eq!(at(1), at(1));
    }
}
