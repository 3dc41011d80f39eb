//! Reading a body within its bounds.

use std::{pin::pin, time::Duration};

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, header::CONTENT_LENGTH};
use http_body::Body;
use http_body_util::BodyExt;

use super::budget::{Budget, Share};
use crate::error::{Error, ErrorKind};

/// Reads `body` whole: at most `limit` bytes, within `timeout`, and within the
/// budget of all bodies that are being received. The share of the budget is
/// held until the caller drops it.
pub(super) async fn read<B>(
    body: B,
    headers: &HeaderMap,
    limit: usize,
    budget: &Budget,
    timeout: Duration,
) -> Result<(Bytes, Share), Error>
where
    B: Body<Data = Bytes>,
    B::Error: std::fmt::Display,
{
    let announced = headers
        .get(CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok()?.parse::<u64>().ok())
        .unwrap_or(0);
    if announced > limit as u64 {
        return Err(too_large(limit));
    }
    let reading = tokio::time::timeout(timeout, collect(body, limit, budget));
    reading
        .await
        .unwrap_or_else(|_| Err(Error::new(ErrorKind::Timeout, "the body did not arrive in time")))
}

async fn collect<B>(body: B, limit: usize, budget: &Budget) -> Result<(Bytes, Share), Error>
where
    B: Body<Data = Bytes>,
    B::Error: std::fmt::Display,
{
    let mut body = pin!(body);
    let mut share = budget.share();
    let mut whole = Whole::default();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|cause| {
            Error::new(ErrorKind::Invalid, format!("the body broke off: {cause}"))
        })?;
        let Ok(data) = frame.into_data() else { continue };
        if whole.len() + data.len() > limit {
            return Err(too_large(limit));
        }
        if !share.grow(data.len()) {
            return Err(Error::unavailable(
                "too many webhooks are being received",
                Duration::from_secs(1),
            ));
        }
        whole.push(data);
    }
    Ok((whole.into_bytes(), share))
}

fn too_large(limit: usize) -> Error {
    Error::new(ErrorKind::TooLarge, format!("the body is longer than {limit} bytes"))
}

/// A body in the making; one of a single frame, as most are, is never copied.
#[derive(Default)]
pub(crate) struct Whole {
    only: Bytes,
    joined: BytesMut,
}

impl Whole {
    fn len(&self) -> usize {
        self.only.len() + self.joined.len()
    }

    pub(crate) fn push(&mut self, data: Bytes) {
        if self.len() == 0 {
            self.only = data;
            return;
        }
        let only = std::mem::take(&mut self.only);
        self.joined.extend_from_slice(&only);
        self.joined.extend_from_slice(&data);
    }

    pub(crate) fn into_bytes(self) -> Bytes {
        if self.joined.is_empty() { self.only } else { self.joined.freeze() }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use http_body::Frame;
    use http_body_util::{Full, StreamBody};

    use super::*;

    fn frames(parts: &[&'static [u8]]) -> impl Body<Data = Bytes, Error = Infallible> + use<> {
        let parts: Vec<_> =
            parts.iter().map(|part| Ok(Frame::data(Bytes::from_static(part)))).collect();
        StreamBody::new(futures_util::stream::iter(parts))
    }

    async fn read_with(
        body: impl Body<Data = Bytes, Error = Infallible>,
        limit: usize,
        budget: &Budget,
    ) -> Result<Bytes, Error> {
        read(body, &HeaderMap::new(), limit, budget, Duration::from_secs(1))
            .await
            .map(|(bytes, _)| bytes)
    }

    #[tokio::test]
    async fn joins_frames_and_copies_a_single_one_not() {
        let budget = Budget::new(100);
        let only = Bytes::from_static(b"only");
        let read = read_with(Full::new(only.clone()), 10, &budget).await.expect("fits");
        assert_eq!(read.as_ptr(), only.as_ptr());
        let joined = read_with(frames(&[b"", b"ab", b"c", b"", b"de"]), 5, &budget).await;
        assert_eq!(joined.expect("fits exactly"), "abcde");
    }

    #[tokio::test]
    async fn refuses_what_is_too_long_or_too_much() {
        let budget = Budget::new(8);
        let error = read_with(frames(&[b"abc", b"def"]), 5, &budget).await.expect_err("limit");
        assert_eq!(error.kind(), ErrorKind::TooLarge);
        let error = read_with(frames(&[b"abcdef", b"ghi"]), 50, &budget).await.expect_err("budget");
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert!(budget.take(8).is_some(), "a refused body gives its share back");
        let headers = HeaderMap::from_iter([(CONTENT_LENGTH, 6.into())]);
        let error = read(frames(&[]), &headers, 5, &budget, Duration::from_secs(1))
            .await
            .expect_err("announced");
        assert_eq!(error.kind(), ErrorKind::TooLarge);
    }

    #[tokio::test(start_paused = true)]
    async fn does_not_wait_for_ever() {
        let never =
            StreamBody::new(futures_util::stream::pending::<Result<Frame<Bytes>, Infallible>>());
        let error = read_with(never, 5, &Budget::new(8)).await.expect_err("no end");
        assert_eq!(error.kind(), ErrorKind::Timeout);
    }
}
