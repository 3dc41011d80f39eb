//! A connection that brings anything, in pieces: requests are framed as their
//! heads say, and what is left is what was not taken.
#![no_main]

use std::{
    cell::RefCell,
    io,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{Request, Response, header};
use http_body_util::{BodyExt, Full};
use libfuzzer_sys::fuzz_target;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    runtime::{Builder, Runtime},
    sync::watch,
};
use webhook_core::http1::{Http1Options, Served, serve};

/// Gives its bytes in pieces of this size and then ends.
struct Pieces<'a> {
    bytes: &'a [u8],
    size: usize,
}

impl AsyncRead for Pieces<'_> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let piece = self.size.min(self.bytes.len()).min(buf.remaining());
        let (now, later) = self.bytes.split_at(piece);
        buf.put_slice(now);
        self.bytes = later;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Pieces<'_> {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Poll::Ready(Ok(buf.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

async fn converse(bytes: &[u8], size: usize) {
    let (_running, ending) = watch::channel(());
    let mut options = Http1Options::default();
    options.max_headers = 4;
    options.max_head_bytes = 128;
    options.max_request_bytes = 256;
    let taken = RefCell::new(0);
    let answer = async |request: Request<Full<Bytes>>| {
        assert!(request.uri().path().starts_with('/'));
        assert!(!request.headers().contains_key(header::TRANSFER_ENCODING));
        let lengths: Vec<_> = request.headers().get_all(header::CONTENT_LENGTH).iter().collect();
        assert!(lengths.len() <= 1);
        let said = lengths.first().map_or(0, |said| said.to_str().unwrap().parse().unwrap());
        let body = request.into_body().collect().await.unwrap().to_bytes();
        assert_eq!(body.len(), said);
        *taken.borrow_mut() += body.len();
        Response::new(Full::from("taken"))
    };
    let stream = Pieces { bytes, size };
    if let Ok(Served::Left(stream)) = serve(stream, &options, ending, |_| true, answer).await {
        let (read, Pieces { bytes: unread, .. }) = stream.into_parts();
        let left = [&read[..], unread].concat();
        assert!(bytes.ends_with(&left));
        assert!(left.len() + taken.take() <= bytes.len());
    }
}

thread_local! {
    static RUNTIME: Runtime = Builder::new_current_thread().enable_time().build().unwrap();
}

fuzz_target!(|input: &[u8]| {
    if let Some((size, bytes)) = input.split_first() {
        let size = usize::from(*size).max(1);
        RUNTIME.with(|runtime| runtime.block_on(converse(bytes, size)));
    }
});
