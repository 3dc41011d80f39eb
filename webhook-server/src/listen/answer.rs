//! The bodies of answers and of requests, as hyper reads and writes them.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    body::{Body, HttpBody},
    http::Response,
    response::IntoResponse,
};
use bytes::Bytes;
use hyper::body::{Frame, Incoming, SizeHint};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use webhook_core::Error;

use super::seat::Seat;
use crate::api::error::{ApiError, REQUEST_ID, Shared};

/// How much of an answer hyper gets at once: as much as one HTTP/2 frame holds. Each piece
/// that hyper has written counts as progress.
const PIECE: usize = 16 * 1024;
/// An answer up to this size is not counted: its request took as much memory.
const FREE: u64 = 4 * 1024;
/// What a client is told when there is no memory for its answer.
const FULL: &str = "too many answers wait to be read";

/// The memory for all answers together that wait until their clients read them.
#[derive(Debug)]
pub(crate) struct ByteSemaphore {
    /// One permit for each byte that is free.
    free: Arc<Semaphore>,
    /// How many bytes there are in all.
    total: u32,
}

/// An answer's bytes, which are freed when its extensions are dropped.
#[derive(Clone, Debug)]
struct BytePermit {
    /// Given back on drop.
    _permit: Arc<OwnedSemaphorePermit>,
}

impl ByteSemaphore {
    pub(crate) fn new(max_bytes: usize) -> Self {
        let total = u32::try_from(max_bytes.min(Semaphore::MAX_PERMITS)).unwrap_or(u32::MAX);
        Self { free: Arc::new(Semaphore::new(total as usize)), total }
    }

    /// Takes the answer's bytes. The result is a short 503 when too many are taken.
    pub(crate) fn charge(&self, mut response: Response<Body>) -> Response<Body> {
        let hint = response.body().size_hint();
        let bytes = hint.upper().unwrap_or(hint.lower());
        if bytes <= FREE || response.extensions().get::<Shared>().is_some() {
            return response;
        }
        // An answer that is larger than all of it is sent while there is no other.
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX).min(self.total);
        match Arc::clone(&self.free).try_acquire_many_owned(bytes) {
            Ok(permit) => {
                response.extensions_mut().insert(BytePermit { _permit: Arc::new(permit) });
                response
            }
            Err(_) => {
                let error = Error::unavailable(FULL, Duration::from_secs(1));
                let mut refusal = ApiError::from(error).into_response();
                if let Some(id) = response.headers_mut().remove(REQUEST_ID) {
                    refusal.headers_mut().insert(REQUEST_ID, id);
                }
                refusal
            }
        }
    }
}

/// A request that hyper has brought. It ends when its answer was sent or dropped.
#[derive(Debug)]
pub(crate) struct Exchange {
    /// Where the connection counts it.
    seat: Arc<Seat>,
    /// Its number there.
    number: u64,
}

impl Exchange {
    /// Counts a request from now on; none when the connection is about to be closed.
    pub(crate) fn begin(seat: &Arc<Seat>) -> Option<Self> {
        let exchange = Self { seat: Arc::clone(seat), number: seat.take() };
        seat.begin().then_some(exchange)
    }

    /// The answer in a form that tells the [`Seat`] when the client reads it.
    pub(crate) fn answer(self, response: Response<Body>) -> Response<Outgoing> {
        let (mut parts, body) = response.into_parts();
        self.seat.offer(self.number);
        let sending = Sending { exchange: self, _charge: parts.extensions.remove() };
        let body = Outgoing { body, rest: Bytes::new(), sending: Arc::new(sending) };
        Response::from_parts(parts, body)
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.seat.finish(self.number);
    }
}

/// What lives until the last piece of an answer was sent.
#[derive(Debug)]
struct Sending {
    /// The request that is answered.
    exchange: Exchange,
    /// The answer's bytes, unless they are not counted.
    _charge: Option<BytePermit>,
}

/// The body of an answer, in pieces that say when they have gone out.
#[derive(Debug)]
pub(crate) struct Outgoing {
    /// The answer's body as the handler made it.
    body: Body,
    /// What hyper has not taken yet of the last frame.
    rest: Bytes,
    /// Shared with the pieces that hyper holds.
    sending: Arc<Sending>,
}

/// A part of an answer. hyper drops it when it has written it.
struct Piece {
    /// The part itself.
    bytes: Bytes,
    /// The answer that it is a part of.
    sending: Arc<Sending>,
}

impl AsRef<[u8]> for Piece {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        let Exchange { seat, number } = &self.sending.exchange;
        seat.progress(*number);
    }
}

impl HttpBody for Outgoing {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let sending = Arc::clone(&self.sending);
        let Exchange { seat, number } = &sending.exchange;
        if self.rest.is_empty() {
            match Pin::new(&mut self.body).poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                    Ok(data) => self.rest = data,
                    Err(frame) => return Poll::Ready(Some(Ok(frame))),
                },
                Poll::Pending => {
                    seat.withhold(*number);
                    return Poll::Pending;
                }
                ended => return ended,
            }
        }
        seat.offer(*number);
        let length = self.rest.len().min(PIECE);
        let bytes = self.rest.split_to(length);
        let piece = Piece { bytes, sending: Arc::clone(&sending) };
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_owner(piece)))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let mut hint = self.body.size_hint();
        let rest = self.rest.len() as u64;
        if let Some(upper) = hint.upper() {
            hint.set_upper(upper.saturating_add(rest));
        }
        hint.set_lower(hint.lower().saturating_add(rest));
        hint
    }
}

/// The body of a request. Dropped before its end, it tells the [`Seat`] that the client
/// still sends.
#[derive(Debug)]
pub(crate) struct Arriving {
    /// The body as hyper reads it.
    body: Incoming,
    /// Whether all of it was read, or reading it failed.
    ended: bool,
    /// Told when the rest is not read.
    seat: Arc<Seat>,
}

impl Arriving {
    pub(crate) fn new(body: Incoming, seat: &Arc<Seat>) -> Self {
        Self { body, ended: false, seat: Arc::clone(seat) }
    }
}

impl Drop for Arriving {
    fn drop(&mut self) {
        if !self.ended && !self.body.is_end_stream() {
            self.seat.answer_early();
        }
    }
}

impl HttpBody for Arriving {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(cx);
        // An error ends the body as well.
        self.ended = matches!(frame, Poll::Ready(None | Some(Err(_))));
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use axum::http::StatusCode;
    use http_body_util::BodyExt;
    use tokio::time::{Instant, timeout};

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(30);
    const PIECE_TIME: Duration = Duration::from_secs(29);

    fn response(length: usize) -> Response<Body> {
        Response::new(Body::from(vec![b'a'; length]))
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_goes_out_in_pieces_and_each_of_them_is_progress() {
        let seat = Arc::new(Seat::new(Instant::now()));
        let exchange = Exchange::begin(&seat).expect("it is open");
        let mut body = exchange.answer(response(2 * PIECE + 1)).into_body();
        assert_eq!(body.size_hint().exact(), Some(2 * PIECE as u64 + 1));
        let mut lengths = Vec::new();
        while let Some(frame) = body.frame().await {
            let piece = frame.expect("no error").into_data().expect("data");
            lengths.push(piece.len());
            tokio::time::sleep(PIECE_TIME).await;
            drop(piece);
            // Since the piece has gone, not since the answer was there.
            let stalled = timeout(PIECE_TIME, seat.unread_for(PATIENCE));
            assert!(stalled.await.is_err());
            assert_eq!(seat.idle(), None);
        }
        assert_eq!(lengths, [PIECE, PIECE, 1]);
        let left = timeout(PATIENCE, seat.unread_for(PATIENCE)).await;
        left.expect("its end is still to be sent");
        drop(body);
        assert!(seat.idle().is_some());
        assert!(timeout(PATIENCE * 10, seat.unread_for(PATIENCE)).await.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn a_piece_that_stays_stalls_its_answer_and_none_that_is_still_being_made() {
        let seat = Arc::new(Seat::new(Instant::now()));
        let exchange = || Exchange::begin(&seat).expect("it is open");
        let silent = futures_util::stream::pending::<Result<Bytes, axum::Error>>();
        let made = Response::new(Body::from_stream(silent));
        let mut made = exchange().answer(made).into_body();
        assert!(timeout(PATIENCE, made.frame()).await.is_err());
        assert!(timeout(PATIENCE * 10, seat.unread_for(PATIENCE)).await.is_err());
        let mut body = exchange().answer(response(1)).into_body();
        let piece = body.frame().await.expect("a frame").expect("no error");
        drop(body);
        let started = Instant::now();
        seat.unread_for(PATIENCE).await;
        assert_eq!(started.elapsed(), PATIENCE);
        drop((piece, made));
        assert!(seat.idle().is_some());
    }

    #[tokio::test]
    async fn answers_share_a_budget() {
        let budget = ByteSemaphore::new(100_000);
        let seat = Arc::new(Seat::new(Instant::now()));
        let first = budget.charge(response(60_000));
        let first = Exchange::begin(&seat).expect("open").answer(first).into_body();
        let refused = budget.charge(response(60_000));
        assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(refused.headers()["retry-after"], "1");
        for free in [FREE as usize, 40_000] {
            assert_eq!(budget.charge(response(free)).status(), StatusCode::OK);
        }
        let mut shared = response(60_000);
        shared.extensions_mut().insert(Shared);
        assert_eq!(budget.charge(shared).status(), StatusCode::OK);
        drop(first);
        let huge = budget.charge(response(200_000));
        assert_eq!(huge.status(), StatusCode::OK, "one alone may be larger");
        let refused = budget.charge(response(5_000));
        assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
    }
}
