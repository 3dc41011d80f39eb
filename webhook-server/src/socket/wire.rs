//! The socket itself: bounded frames, bounded patience.

use std::{net::IpAddr, time::Duration};

use futures_util::{SinkExt, StreamExt};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tokio::{
    io::AsyncReadExt,
    time::{Instant, timeout, timeout_at},
};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{
        Error, Message,
        protocol::{CloseFrame, Role, WebSocketConfig, frame::coding::CloseCode},
    },
};

use super::frame;

/// The longest frame, and the longest message, that a client may send.
pub(super) const MAX_INBOUND_BYTES: usize = 64 << 10;
/// Allocated for each socket, and all that an idle one needs.
const READ_BUFFER_BYTES: usize = 1 << 10;
/// How long a client may take to answer the goodbye.
const GOODBYE: Duration = Duration::from_secs(2);
/// What is read and dropped after a frame that is too long, so that its sender
/// gets to read why it was disconnected.
const DISCARDED_BYTES: u64 = 16 << 20;

/// Why a socket ends; what the client is told.
#[derive(Debug)]
pub(super) enum End {
    /// The client is gone, or does not read: there is nobody to tell.
    Gone,
    /// With this code, and this status frame before.
    Told(CloseCode, &'static str, String),
    /// The server stops.
    Stopping,
}

impl End {
    pub(super) fn refused(code: CloseCode, message: impl Into<String>) -> Self {
        Self::Told(code, "error", message.into())
    }

    pub(super) fn unauthorized(message: impl Into<String>) -> Self {
        Self::Told(CloseCode::Policy, "unauthorized", message.into())
    }
}

/// One client's socket.
#[derive(Debug)]
pub(super) struct Socket {
    stream: WebSocketStream<TokioIo<Upgraded>>,
    write_timeout: Duration,
    pub(super) ip: Option<IpAddr>,
}

impl Socket {
    pub(super) async fn new(
        upgraded: Upgraded,
        write_timeout: Duration,
        ip: Option<IpAddr>,
    ) -> Self {
        let config = WebSocketConfig::default()
            .read_buffer_size(READ_BUFFER_BYTES)
            .write_buffer_size(0)
            .max_frame_size(Some(MAX_INBOUND_BYTES))
            .max_message_size(Some(MAX_INBOUND_BYTES));
        let io = TokioIo::new(upgraded);
        let stream = WebSocketStream::from_raw_socket(io, Role::Server, Some(config)).await;
        Self { stream, write_timeout, ip }
    }

    /// Sends a frame. A client that does not read it in time is given up.
    pub(super) async fn send(&mut self, text: String) -> Result<(), End> {
        match timeout(self.write_timeout, self.stream.send(Message::text(text))).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(End::Gone),
            Err(_) => {
                tracing::info!(ip = ?self.ip, "a client is disconnected because it does not read");
                Err(End::Gone)
            }
        }
    }

    /// The next text that the client sends. Dropping the future loses nothing.
    pub(super) async fn receive(&mut self) -> Result<String, End> {
        loop {
            return match self.stream.next().await {
                Some(Ok(Message::Text(text))) => Ok(text.as_str().to_owned()),
                Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => continue,
                Some(Ok(Message::Binary(_))) => {
                    let said = "binary frames are not understood: send JSON as text";
                    Err(End::refused(CloseCode::Unsupported, said))
                }
                Some(Err(Error::Capacity(_))) => {
                    let said = format!("a frame may have {MAX_INBOUND_BYTES} bytes at most");
                    Err(End::refused(CloseCode::Size, said))
                }
                Some(Err(Error::Utf8(_))) => {
                    Err(End::refused(CloseCode::Invalid, "a text frame is not UTF-8"))
                }
                Some(Err(Error::Protocol(error))) => {
                    Err(End::refused(CloseCode::Protocol, error.to_string()))
                }
                Some(Ok(Message::Close(_)) | Err(_)) | None => Err(End::Gone),
            };
        }
    }

    /// Says goodbye.
    pub(super) async fn end(mut self, end: End) {
        let (code, reason) = match end {
            End::Gone => {
                // Answers a goodbye of the client's own, if there was one.
                let _ = timeout(GOODBYE, self.stream.flush()).await;
                return;
            }
            End::Told(code, status, message) => {
                if self.send(frame::status(status, &message)).await.is_err() {
                    return;
                }
                (code, message)
            }
            End::Stopping => (CloseCode::Away, "the server stops".to_owned()),
        };
        let reason = short(&reason).into();
        let deadline = Instant::now() + GOODBYE;
        let close = self.stream.close(Some(CloseFrame { code, reason }));
        if !matches!(timeout_at(deadline, close).await, Ok(Ok(()))) {
            return;
        }
        // Until the client has answered; closing earlier, with its data unread,
        // would reset the connection and take the goodbye away from it.
        let rest = async {
            while let Some(Ok(_)) = self.stream.next().await {}
            if code == CloseCode::Size {
                let mut rest = self.stream.get_mut().take(DISCARDED_BYTES);
                let _ = tokio::io::copy(&mut rest, &mut tokio::io::sink()).await;
            }
        };
        let _ = timeout_at(deadline, rest).await;
    }
}

/// What fits into the reason of a close frame.
fn short(text: &str) -> String {
    const MAX_REASON_BYTES: usize = 120;
    let mut end = text.len().min(MAX_REASON_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned()
}
