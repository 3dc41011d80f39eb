//! Reading a webhook's body within its bounds.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, header::CONTENT_LENGTH};
use http_body::Body;

use crate::{
    body::{self, Collected},
    error::{Error, ErrorKind},
    relay::byte_semaphore::{BytePermit, ByteSemaphore},
};

/// Reads `body` whole: at most `limit` bytes, within `timeout`, and within the
/// bytes of all bodies that are being received. The permit for them is held until
/// the caller drops it.
pub(super) async fn read<B>(
    body: B,
    headers: &HeaderMap,
    limit: usize,
    receiving: &ByteSemaphore,
    timeout: Duration,
) -> Result<(Bytes, BytePermit), Error>
where
    B: Body<Data = Bytes>,
    B::Error: std::fmt::Display,
{
    let too_large =
        || Error::new(ErrorKind::TooLarge, format!("the body is longer than {limit} bytes"));
    let announced = headers
        .get(CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok()?.parse::<u64>().ok())
        .unwrap_or(0);
    if announced > limit as u64 {
        return Err(too_large());
    }
    let mut permit = receiving.permit();
    let room = |bytes| match permit.grow(bytes) {
        true => Ok(()),
        false => {
            let wait = Duration::from_secs(1);
            Err(Error::unavailable("too many webhooks are being received", wait))
        }
    };
    let broken = |cause| Error::new(ErrorKind::Invalid, format!("the body broke off: {cause}"));
    let reading = body::collect(body, limit, room, broken);
    match tokio::time::timeout(timeout, reading).await {
        Ok(Ok(Collected { truncated: true, .. })) => Err(too_large()),
        Ok(Ok(Collected { bytes, truncated: false })) => Ok((bytes, permit)),
        Ok(Err(error)) => Err(error),
        Err(_) => Err(Error::new(ErrorKind::Timeout, "the body did not arrive in time")),
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
        receiving: &ByteSemaphore,
    ) -> Result<Bytes, Error> {
        read(body, &HeaderMap::new(), limit, receiving, Duration::from_secs(1))
            .await
            .map(|(bytes, _)| bytes)
    }

    #[tokio::test]
    async fn joins_frames_and_copies_a_single_one_not() {
        let receiving = ByteSemaphore::new(100);
        let only = Bytes::from_static(b"only");
        let read = read_with(Full::new(only.clone()), 10, &receiving).await.expect("fits");
        assert_eq!(read.as_ptr(), only.as_ptr());
        let joined = read_with(frames(&[b"", b"ab", b"c", b"", b"de"]), 5, &receiving).await;
        assert_eq!(joined.expect("fits exactly"), "abcde");
    }

    #[tokio::test]
    async fn refuses_what_is_too_long_or_too_much() {
        let receiving = ByteSemaphore::new(8);
        let error = read_with(frames(&[b"abc", b"def"]), 5, &receiving).await.expect_err("limit");
        assert_eq!(error.kind(), ErrorKind::TooLarge);
        let error =
            read_with(frames(&[b"abcdef", b"ghi"]), 50, &receiving).await.expect_err("no room");
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert!(receiving.take(8).is_some(), "a refused body gives its bytes back");
        let headers = HeaderMap::from_iter([(CONTENT_LENGTH, 6.into())]);
        let error = read(frames(&[]), &headers, 5, &receiving, Duration::from_secs(1))
            .await
            .expect_err("announced");
        assert_eq!(error.kind(), ErrorKind::TooLarge);
    }

    #[tokio::test(start_paused = true)]
    async fn does_not_wait_for_ever() {
        let never =
            StreamBody::new(futures_util::stream::pending::<Result<Frame<Bytes>, Infallible>>());
        let error = read_with(never, 5, &ByteSemaphore::new(8)).await.expect_err("no end");
        assert_eq!(error.kind(), ErrorKind::Timeout);
    }
}
