//! One HTTP/1.1 connection: as little work as a client can do that reads the
//! whole answer, because the generator shares the machine with the server.

use std::{io, net::SocketAddr};

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
    event_at: Option<usize>,
}

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
        let event_at = is_event.then_some(bytes.len());
        bytes.extend(body);
        Self { bytes, path_at: method.len() + 1, path_len: path.len(), event_at }
    }

    /// Makes it the event of this number, to this path.
    pub fn set(&mut self, id: u64, path: &str) {
        self.bytes[self.path_at..self.path_at + self.path_len].copy_from_slice(path.as_bytes());
        if let Some(at) = self.event_at {
            event::number(&mut self.bytes, at, id);
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
        self.stream.write_all(&request.bytes).await?;
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
