//! HTTP/1.1 connections that bring webhooks, without what a general server costs.
//!
//! [`serve`] answers requests of one plain kind: HTTP/1.1, a path that the
//! caller wants, a body of stated length or none, and all of it small. Nearly
//! every webhook is such a request. Whatever else comes, and whatever could be
//! read in two ways, is [`Left`](Served::Left) with every byte of it to a general
//! server, such as hyper, so that this one never refuses a request itself.
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use webhook_core::{
//!     http1::{self, Http1Options, Served, WriteTimeout},
//!     relay::{ClientAddr, IngestService},
//! };
//!
//! async fn accept(listener: tokio::net::TcpListener, ingest: IngestService) -> std::io::Result<()> {
//!     // Its sender is dropped to end the connections.
//!     let (_running, ending) = tokio::sync::watch::channel(());
//!     loop {
//!         let (stream, peer) = listener.accept().await?;
//!         let stream = WriteTimeout::new(stream, Duration::from_secs(30));
//!         let (ingest, ending) = (ingest.clone(), ending.clone());
//!         tokio::spawn(async move {
//!             let wanted = |path: &str| path.starts_with("/v1/webhooks/");
//!             let answer = |mut request: http::Request<_>| {
//!                 let client = ClientAddr { ip: peer.ip(), secure: false };
//!                 request.extensions_mut().insert(client);
//!                 let ingest = ingest.clone();
//!                 async move { ingest.receive(request).await }
//!             };
//!             let options = Http1Options::default();
//!             match http1::serve(stream, &options, ending, wanted, answer).await {
//!                 Ok(Served::Left(_stream)) => {} // for hyper, for example
//!                 Ok(Served::Ended) | Err(_) => {}
//!             }
//!         });
//!     }
//! }
//! ```

use std::{
    io,
    pin::{Pin, pin},
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use http::{Request, Response};
use http_body::Body;
use http_body_util::Full;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    sync::watch,
    time::{Instant, Sleep, sleep_until},
};

mod answer;
mod request;
mod rewound;
#[cfg(test)]
mod tests;
mod write_timeout;

use answer::Head;
#[cfg(feature = "http")]
pub(crate) use request::head_end;
use request::{Names, Plain, Reader, Unplain};
pub use rewound::Rewound;
pub use write_timeout::WriteTimeout;

use crate::{body::collect, forward::message::deadline};

/// What a connection starts with, and goes back to after a large request.
const BUFFER: usize = 8 * 1024;
/// A body up to this goes out with its head.
const JOINED: usize = 16 * 1024;

/// What [`serve`] takes on, and for how long.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Http1Options {
    /// How long a connection may be idle, and how long a request may take to
    /// arrive. Default: 30 s.
    pub timeout: Duration,
    /// Headers of a request; one with more is left. Default, and most: 100.
    pub max_headers: usize,
    /// Bytes of a request's head; one with more is left. Default: 16 KiB.
    pub max_head_bytes: usize,
    /// Bytes of a request, its body included; one with more is left. It is how
    /// much a connection may hold in memory. Default: 32 KiB.
    pub max_request_bytes: usize,
}

impl Default for Http1Options {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(30),
            max_headers: request::MAX_HEADERS,
            max_head_bytes: 16 * 1024,
            max_request_bytes: 32 * 1024,
        }
    }
}

/// How [`serve`] came to an end.
#[derive(Debug)]
pub enum Served<S> {
    /// Somebody closed the connection, or nothing came in time.
    Ended,
    /// What comes next is for a general server, which finds it unread.
    Left(Rewound<S>),
}

/// Answers the plain requests whose path is `wanted` that come over `stream`,
/// one after the other, until something else comes or the connection ends.
///
/// When the sender of `ending` is dropped, or sends, a request that has begun
/// is answered and the connection closed. A client that hangs up while its
/// answer is being made does not cancel it. Nothing is read meanwhile, so that
/// a client that sends without reading answers is held up; for how long says
/// the stream, which may be a [`WriteTimeout`].
///
/// # Errors
///
/// When the connection or the answer's body breaks off.
pub async fn serve<S, A, F, B>(
    mut stream: S,
    options: &Http1Options,
    mut ending: watch::Receiver<()>,
    wanted: impl Fn(&str) -> bool,
    answer: A,
) -> io::Result<Served<S>>
where
    S: AsyncRead + AsyncWrite + Unpin,
    A: Fn(Request<Full<Bytes>>) -> F,
    F: Future<Output = Response<B>>,
    B: Body<Data = Bytes>,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let ended = ending.clone();
    let mut ending = pin!(async move {
        let _ = ending.changed().await;
    });
    let is_ending = || ended.has_changed().unwrap_or(true);
    let mut patience = Patience::new(options.timeout);
    let mut read = BytesMut::new();
    let mut names = Names::default();
    let mut head = Head::default();
    loop {
        let mut reader = Reader::new(options);
        let Plain { request, says_close } = loop {
            match reader.next(&mut read, &mut names, &wanted) {
                Ok(Some(plain)) => break plain,
                Ok(None) => {}
                Err(Unplain) => return Ok(Served::Left(Rewound::new(read.freeze(), stream))),
            }
            if read.is_empty() {
                if is_ending() {
                    return Ok(Served::Ended);
                }
                empty(&mut read);
            }
            let more = tokio::select! {
                biased;
                more = stream.read_buf(&mut read) => more?,
                () = &mut ending, if !is_ending() => continue,
                // The body of a request may take its own time.
                () = patience.end() => return Ok(match reader.knows_length() {
                    true => Served::Left(Rewound::new(read.freeze(), stream)),
                    false => Served::Ended,
                }),
            };
            if more == 0 {
                return Ok(Served::Ended);
            }
        };
        let method = request.method().clone();
        let (parts, body) = answer(request).await.into_parts();
        let body = joined(body).await?;
        let close = says_close || is_ending();
        let body = if head.write(&method, &parts, body.len(), close) { &body[..] } else { &[] };
        if body.len() <= JOINED {
            head.bytes.extend_from_slice(body);
            stream.write_all(&head.bytes).await?;
        } else {
            stream.write_all(&head.bytes).await?;
            stream.write_all(body).await?;
        }
        stream.flush().await?;
        if close {
            stream.shutdown().await?;
            return Ok(Served::Ended);
        }
        patience.begin();
    }
}

/// Makes the most of a buffer that holds nothing, and gives back what only a
/// large request needed.
fn empty(read: &mut BytesMut) {
    read.reserve(BUFFER);
    if read.capacity() > BUFFER {
        *read = BytesMut::with_capacity(BUFFER);
    }
}

/// The whole body; one of a single frame, as most are, is not copied.
async fn joined<B>(body: B) -> io::Result<Bytes>
where
    B: Body<Data = Bytes>,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    Ok(collect(body, usize::MAX, |_| Ok(()), io::Error::other).await?.bytes)
}

/// A timer that begins anew with each request and is set anew only when it ends.
struct Patience {
    timeout: Duration,
    until: Instant,
    sleep: Pin<Box<Sleep>>,
}

impl Patience {
    fn new(timeout: Duration) -> Self {
        let until = deadline(timeout);
        Self { timeout, until, sleep: Box::pin(sleep_until(until)) }
    }

    fn begin(&mut self) {
        self.until = deadline(self.timeout);
    }

    /// Asked again after having been dropped, it goes on.
    async fn end(&mut self) {
        loop {
            self.sleep.as_mut().await;
            if self.until <= Instant::now() {
                return;
            }
            self.sleep.as_mut().reset(self.until);
        }
    }
}
