//! Bodies, read whole within bounds.

use std::{future::poll_fn, pin::pin};

use bytes::{Bytes, BytesMut};
use http_body::Body;

/// A body that has been read.
#[derive(Debug)]
pub struct Collected {
    /// Its first bytes, as many as the limit lets through.
    pub bytes: Bytes,
    /// Whether there were more.
    pub truncated: bool,
}

/// Reads `body` up to `limit` bytes. A piece of so many bytes is kept when there is `room`
/// for it; when the body breaks off, that is the error that `broken` makes. Trailers are
/// dropped.
///
/// A body that comes in one piece, as most do, is not copied.
pub async fn collect<B, E>(
    body: B,
    limit: usize,
    mut room: impl FnMut(usize) -> Result<(), E>,
    broken: impl FnOnce(B::Error) -> E,
) -> Result<Collected, E>
where
    B: Body<Data = Bytes>,
{
    let mut body = pin!(body);
    let mut buffer = BodyBuffer::default();
    while !body.is_end_stream() {
        let Some(frame) = poll_fn(|cx| body.as_mut().poll_frame(cx)).await else { break };
        let frame = match frame {
            Ok(frame) => frame,
            Err(error) => return Err(broken(error)),
        };
        let Ok(mut data) = frame.into_data() else { continue };
        let left = limit - buffer.len();
        if data.len() > left {
            // Copied, so that a few bytes do not keep a large buffer alive.
            buffer.push(Bytes::copy_from_slice(&data.split_to(left)));
            return Ok(Collected { bytes: buffer.into_bytes(), truncated: true });
        }
        room(data.len())?;
        buffer.push(data);
    }
    Ok(Collected { bytes: buffer.into_bytes(), truncated: false })
}

/// A body in the making; one of a single piece, as most are, is never copied.
#[derive(Default)]
struct BodyBuffer {
    only: Bytes,
    joined: BytesMut,
}

impl BodyBuffer {
    fn len(&self) -> usize {
        self.only.len() + self.joined.len()
    }

    fn push(&mut self, data: Bytes) {
        if data.is_empty() {
            return;
        }
        if self.len() == 0 {
            self.only = data;
            return;
        }
        let only = std::mem::take(&mut self.only);
        self.joined.reserve(only.len() + data.len());
        self.joined.extend_from_slice(&only);
        self.joined.extend_from_slice(&data);
    }

    fn into_bytes(self) -> Bytes {
        if self.joined.is_empty() { self.only } else { self.joined.freeze() }
    }
}

/// The first `limit` bytes of a body, which is not copied.
pub fn cut(body: &Bytes, limit: usize) -> Bytes {
    body.slice(..body.len().min(limit))
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures_util::{FutureExt, stream};
    use http_body::Frame;
    use http_body_util::StreamBody;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_body_is_read_to_its_limit(
            chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..9), 0..6),
            limit in 0_usize..40,
        ) {
            let whole = chunks.concat();
            let frames = chunks.into_iter().map(|chunk| Ok::<_, Infallible>(Frame::data(chunk.into())));
            let body = StreamBody::new(stream::iter(frames));
            let read = collect(body, limit, |_| Ok(()), |error| error).now_or_never();
            let Ok(Collected { bytes, truncated }) = read.expect("all there");
            prop_assert_eq!(&bytes[..], &whole[..whole.len().min(limit)]);
            prop_assert_eq!(truncated, whole.len() > limit);
        }
    }
}
