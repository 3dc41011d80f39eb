//! The body of an answer.

use std::io;

use ::http::{
    HeaderMap, Method, StatusCode,
    header::{CONTENT_LENGTH, TRANSFER_ENCODING},
};
use bytes::{Buf, Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncWrite};

use super::{Http1, READ_BYTES, head::Head, refused};

/// The longest line that says how long a chunk is, with its extensions.
const MAX_CHUNK_LINE_BYTES: usize = 4 * 1024;
/// A body up to this is copied out of the connection's buffer, which stays.
const COPIED_BYTES: usize = 4 * 1024;

/// How the end of a body is told (RFC 9112 section 6.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    Length(u64),
    Chunked,
    UntilClosed,
}

impl Framing {
    /// Where more than one is told, what would let the answer be read in two
    /// ways is refused.
    pub(super) fn of(method: &Method, head: &Head) -> io::Result<Self> {
        let Head { status, headers, is_http_10 } = head;
        let bodiless = status.is_informational()
            || matches!(*status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED);
        if *method == Method::HEAD || bodiless {
            return Ok(Self::Length(0));
        }
        let length = content_length(headers)?;
        match headers.get_all(TRANSFER_ENCODING).iter().next_back() {
            Some(_) if *is_http_10 || length.is_some() => {
                Err(refused("head", "unexpected transfer-encoding"))
            }
            Some(codings) => {
                let last = codings.as_bytes().rsplit(|byte| *byte == b',').next();
                let last = last.unwrap_or_default().trim_ascii();
                let chunked = last.eq_ignore_ascii_case(b"chunked");
                Ok(if chunked { Self::Chunked } else { Self::UntilClosed })
            }
            None => Ok(length.map_or(Self::UntilClosed, Self::Length)),
        }
    }
}

/// The length that is told once, or several times alike.
fn content_length(headers: &HeaderMap) -> io::Result<Option<u64>> {
    let mut known = None;
    for value in headers.get_all(CONTENT_LENGTH) {
        for told in value.as_bytes().split(|byte| *byte == b',') {
            let told = told.trim_ascii();
            let digits = !told.is_empty() && told.iter().all(u8::is_ascii_digit);
            let length = str::from_utf8(told).ok().filter(|_| digits);
            let length = length.and_then(|digits| digits.parse().ok());
            if length.is_none() || known.is_some_and(|known| Some(known) != length) {
                return Err(refused("head", "invalid content-length"));
            }
            known = length;
        }
    }
    Ok(known)
}

impl<S: AsyncRead + AsyncWrite + Unpin> Http1<S> {
    /// Reads a body up to `max_bytes`, and whether there was more.
    pub(super) async fn body(
        &mut self,
        framing: Framing,
        max_bytes: usize,
    ) -> io::Result<(Bytes, bool)> {
        match framing {
            Framing::Length(length) => {
                let length = usize::try_from(length).unwrap_or(usize::MAX);
                let wanted = length.min(max_bytes);
                self.at_least(wanted).await?;
                Ok((self.take(wanted), length > wanted))
            }
            Framing::UntilClosed => {
                while self.read.len() <= max_bytes {
                    if self.more_or_end(self.read.len()).await? == 0 {
                        return Ok((self.take(self.read.len()), false));
                    }
                }
                Ok((self.take(max_bytes), true))
            }
            Framing::Chunked => self.chunks(max_bytes).await,
        }
    }

    /// Reads until there are so many bytes.
    async fn at_least(&mut self, bytes: usize) -> io::Result<()> {
        while self.read.len() < bytes {
            self.more(bytes - self.read.len()).await?;
        }
        Ok(())
    }

    /// The next `bytes` of what has been read.
    fn take(&mut self, bytes: usize) -> Bytes {
        if bytes > COPIED_BYTES {
            return self.read.split_to(bytes).freeze();
        }
        let taken = Bytes::copy_from_slice(&self.read[..bytes]);
        self.read.advance(bytes);
        taken
    }

    /// RFC 9112 section 7.1. Extensions and trailers are dropped.
    async fn chunks(&mut self, max_bytes: usize) -> io::Result<(Bytes, bool)> {
        let mut body = BytesMut::new();
        loop {
            let size = self.chunk_size().await?;
            if size == 0 {
                self.trailers().await?;
                return Ok((body.freeze(), false));
            }
            let mut left = usize::try_from(size).unwrap_or(usize::MAX);
            while left > 0 {
                let piece = left.min(self.read.len()).min(max_bytes - body.len());
                body.extend_from_slice(&self.read[..piece]);
                self.read.advance(piece);
                left -= piece;
                if left > 0 && body.len() == max_bytes {
                    return Ok((body.freeze(), true));
                }
                if left > 0 {
                    self.more(left).await?;
                }
            }
            self.line_end().await?;
        }
    }

    async fn chunk_size(&mut self) -> io::Result<u64> {
        loop {
            match httparse::parse_chunk_size(&self.read) {
                Ok(httparse::Status::Complete((line, size))) => {
                    self.read.advance(line);
                    return Ok(size);
                }
                Ok(httparse::Status::Partial) if self.read.len() <= MAX_CHUNK_LINE_BYTES => {}
                Ok(httparse::Status::Partial) => {
                    return Err(refused("body", "a chunk's line is too long"));
                }
                Err(_) => return Err(refused("body", "a chunk's length is invalid")),
            }
            self.more(READ_BYTES).await?;
        }
    }

    async fn line_end(&mut self) -> io::Result<()> {
        self.at_least(2).await?;
        if !self.read.starts_with(b"\r\n") {
            return Err(refused("body", "a chunk is longer than it says"));
        }
        self.read.advance(2);
        Ok(())
    }

    /// Reads up to the empty line that ends a chunked body.
    async fn trailers(&mut self) -> io::Result<()> {
        let mut seen = 0;
        loop {
            let length = self.line().await?;
            let is_last = matches!(&self.read[..length], b"\n" | b"\r\n");
            self.read.advance(length);
            seen += length;
            if is_last {
                return Ok(());
            }
            if seen > self.max_head_bytes {
                return Err(refused("body", "its trailers are too long"));
            }
        }
    }

    /// The length of the next line, with its end.
    async fn line(&mut self) -> io::Result<usize> {
        let mut searched = 0;
        loop {
            if let Some(at) = memchr::memchr(b'\n', &self.read[searched..]) {
                return Ok(searched + at + 1);
            }
            searched = self.read.len();
            if searched > self.max_head_bytes {
                return Err(refused("body", "its trailers are too long"));
            }
            self.more(READ_BYTES).await?;
        }
    }
}
