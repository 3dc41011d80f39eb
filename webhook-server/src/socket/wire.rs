//! The WebSocket below a session, with bounds on frames and on waiting.

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
/// The buffer that each socket has, also while it is idle.
const READ_BUFFER_BYTES: usize = 1 << 10;
/// How long a client may take to answer the close frame.
const GOODBYE: Duration = Duration::from_secs(2);
/// How much is read and thrown away after a frame that is too long, so that its sender can
/// read the reason before the connection ends.
const DISCARDED_BYTES: u64 = 16 << 20;

/// Why a socket ends, and what the client is told.
#[derive(Debug)]
pub(super) enum End {
    /// The client is gone or does not read, so that it is told nothing.
    Gone,
    /// Closed with this code, after this status frame.
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

    /// The next text that the client sends. Cancelling it loses no frame.
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

    /// Sends the close frame and waits for the client's.
    pub(super) async fn end(mut self, end: End) {
        let (code, reason) = match end {
            End::Gone => {
                // Answers the client's close frame, if it sent one.
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
        // Reads until the client has answered. Closing with unread data would reset the
        // connection, and the client would lose the close frame.
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

/// The part of a text that fits into a close frame.
fn short(text: &str) -> String {
    const MAX_REASON_BYTES: usize = 120;
    let mut end = text.len().min(MAX_REASON_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned()
}
