//! Answers that no destination should give. Which one an event gets follows from
//! its number.

use std::{io, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::sleep,
};

/// The most of one answer, where it has no end.
const MOST: usize = 4 << 20;

/// What kind of answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A status line that is none.
    InvalidStatusLine,
    /// Bytes that are no HTTP.
    Garbage,
    /// Nothing, and the end of the connection.
    Nothing,
    /// A reset in the middle of the body.
    ResetInBody,
    /// A header of a mebibyte.
    LongHeader,
    /// Twenty thousand headers.
    ManyHeaders,
    /// Chunks without an end.
    EndlessChunks,
    /// A byte now and then.
    Drip,
    /// One interim answer after the other.
    Interim,
    /// Two lengths that contradict each other.
    TwoLengths,
    /// A chunk whose length is no number.
    InvalidChunk,
    /// A second answer that nobody asked for, behind the first.
    SecondOne,
    /// A body where there must be none.
    BodyOf204,
    /// 503, and a `Retry-After` that is no time.
    InvalidRetryAfter,
}

impl Kind {
    const ALL: [Self; 14] = [
        Self::InvalidStatusLine,
        Self::Garbage,
        Self::Nothing,
        Self::ResetInBody,
        Self::LongHeader,
        Self::ManyHeaders,
        Self::EndlessChunks,
        Self::Drip,
        Self::Interim,
        Self::TwoLengths,
        Self::InvalidChunk,
        Self::SecondOne,
        Self::BodyOf204,
        Self::InvalidRetryAfter,
    ];

    fn of(id: u64) -> Self {
        Self::ALL[(id % Self::ALL.len() as u64) as usize]
    }
}

/// Whether the answer says 2xx, so that the server may leave it at that.
pub(crate) fn counts(id: u64) -> bool {
    match Kind::of(id) {
        Kind::InvalidStatusLine
        | Kind::Garbage
        | Kind::Nothing
        | Kind::Drip
        | Kind::Interim
        | Kind::InvalidRetryAfter => false,
        Kind::ResetInBody
        | Kind::LongHeader
        | Kind::ManyHeaders
        | Kind::EndlessChunks
        | Kind::TwoLengths
        | Kind::InvalidChunk
        | Kind::SecondOne
        | Kind::BodyOf204 => true,
    }
}

/// Answers, and waits until the other side has had enough. A further request on the same
/// connection, which may be for another output, finds it closed.
pub(crate) async fn answer(mut stream: TcpStream, id: u64) -> io::Result<()> {
    let ok = b"HTTP/1.1 200 OK\r\n".as_slice();
    match Kind::of(id) {
        Kind::InvalidStatusLine => stream.write_all(b"HTTP/9.9 banana split\r\n\r\n").await?,
        Kind::Garbage => stream.write_all(&[0xff, 0x00, 0x0d, 0x16].repeat(64)).await?,
        Kind::Nothing => return Ok(()),
        Kind::ResetInBody => {
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nabc").await?;
            sleep(Duration::from_millis(2)).await;
            return stream.set_zero_linger();
        }
        Kind::LongHeader => {
            stream
                .write_all(&[ok, b"x-long: ", &vec![b'a'; 1 << 20], b"\r\n\r\n"].concat())
                .await?;
        }
        Kind::ManyHeaders => {
            stream.write_all(&[ok, &b"x-many: 1\r\n".repeat(20_000), b"\r\n"].concat()).await?;
        }
        Kind::EndlessChunks => {
            stream.write_all(&[ok, b"transfer-encoding: chunked\r\n\r\n"].concat()).await?;
            let chunk = [b"1000\r\n".as_slice(), &[b'x'; 0x1000], b"\r\n"].concat();
            again_and_again(&mut stream, &chunk, Duration::from_millis(5)).await?;
        }
        Kind::Drip => {
            again_and_again(&mut stream, b"H", Duration::from_millis(50)).await?;
        }
        Kind::Interim => {
            let hints = b"HTTP/1.1 103 Early Hints\r\nlink: </style.css>\r\n\r\n";
            again_and_again(&mut stream, hints, Duration::from_millis(1)).await?;
        }
        Kind::TwoLengths => {
            let lengths = b"content-length: 5\r\ncontent-length: 7\r\n\r\nhello!!";
            stream.write_all(&[ok, lengths].concat()).await?;
        }
        Kind::InvalidChunk => {
            let chunk = b"transfer-encoding: chunked\r\n\r\nzzz\r\nhello\r\n";
            stream.write_all(&[ok, chunk].concat()).await?;
        }
        Kind::SecondOne => {
            let first = b"content-length: 0\r\n\r\n";
            let second = b"HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n";
            stream.write_all(&[ok, first, second].concat()).await?;
        }
        Kind::BodyOf204 => {
            let head = b"HTTP/1.1 204 No Content\r\ncontent-length: 5\r\n\r\nhello";
            stream.write_all(head).await?;
        }
        Kind::InvalidRetryAfter => {
            let head = b"HTTP/1.1 503 Later\r\nretry-after: -1e9\r\ncontent-length: 0\r\n\r\n";
            stream.write_all(head).await?;
        }
    }
    let mut read = [0; 1 << 10];
    stream.read(&mut read).await.map(drop)
}

/// Writes the same until the other side has had enough.
async fn again_and_again(stream: &mut TcpStream, bytes: &[u8], pause: Duration) -> io::Result<()> {
    for _ in 0..MOST / bytes.len() {
        stream.write_all(bytes).await?;
        sleep(pause).await;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_answer_has_its_turn() {
        let turns = Kind::ALL.len() as u64;
        for (id, kind) in (0..turns).zip(Kind::ALL) {
            assert_eq!(Kind::of(id), kind);
            assert_eq!(Kind::of(id + turns), kind);
        }
        assert_eq!((0..turns).filter(|id| counts(*id)).count(), 8);
    }
}
