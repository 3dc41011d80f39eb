//! The agent's side of the WebSocket.

use std::{io::ErrorKind, time::Duration};

use futures_util::{SinkExt, StreamExt};
use http::{HeaderValue, Uri, header::USER_AGENT};
use serde::Deserialize;
use serde_json::json;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    time::{Instant, timeout, timeout_at},
};
use tokio_tungstenite::{
    WebSocketStream, client_async_with_config,
    tungstenite::{self, Message, client::IntoClientRequest, protocol::WebSocketConfig},
};
use webhook_core::{
    BucketId, DeliveryId,
    forward::{ForwardError, http::describe_io},
    model::Headers,
};

use super::{
    Broken,
    api::{Api, Credential},
    leases::nanoseconds,
};

/// How long connecting, and each answer before the first webhook, may take.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long the server may be silent before it counts as gone. It sends a ping every 30 s.
const SILENCE: Duration = Duration::from_secs(90);
/// The longest frame: the largest webhook in base64.
const MAX_FRAME_BYTES: usize = 64 << 20;

trait Io: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Io for T {}

/// A connection to `/v1/socket`.
pub(super) struct Connection {
    /// Boxed, because the HTTP client does not name the type of its connections.
    stream: WebSocketStream<Box<dyn Io>>,
    /// When the server was last heard of.
    heard_at: Instant,
}

/// What the server sends.
pub(super) enum Event {
    Webhook(Box<Webhook>),
    /// A message for the user.
    Said(String),
}

/// A webhook's frame.
#[derive(Debug, Deserialize)]
pub(super) struct Webhook {
    pub(super) meta: Meta,
    #[serde(default)]
    pub(super) headers: Headers,
    #[serde(default)]
    pub(super) query: String,
    #[serde(default)]
    pub(super) body: String,
    #[serde(default)]
    pub(super) body_encoding: String,
    pub(super) method: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Meta {
    pub(super) id: DeliveryId,
    #[serde(default)]
    pub(super) output_destination: String,
    /// The path to append to the agent's target; none from servers that name the whole destination.
    #[serde(default)]
    pub(super) extra_path: Option<String>,
    /// Until when it is this agent's alone, in unix seconds; none from servers that lease nothing.
    #[serde(default)]
    pub(super) leased_until: Option<i64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Status {
    status: String,
    message: String,
}

impl Connection {
    pub(super) async fn open(api: &Api) -> Result<Self, Broken> {
        let connecting = timeout(PATIENCE, connect(api)).await;
        let late = || Broken::Passing(format!("no connection to {} in time", api.base));
        Ok(Self { stream: connecting.map_err(|_| late())??, heard_at: Instant::now() })
    }

    pub(super) async fn authenticate(
        &mut self,
        credential: &Credential,
        destination: &str,
    ) -> Result<(), Broken> {
        let Credential { key, secret } = credential;
        self.send(json!({
            "action": "auth", "key": key, "secret": secret, "destination": destination,
            "client_type": "webhook-server", "client_version": env!("CARGO_PKG_VERSION"),
        }))
        .await?;
        self.expect("authenticated").await.map(drop)
    }

    /// Asks for the webhooks of an output, each for the time of a lease, `limit` at first.
    pub(super) async fn subscribe(
        &mut self,
        bucket: &BucketId,
        output: &str,
        lease: Duration,
        limit: usize,
    ) -> Result<(), Broken> {
        self.send(json!({
            "action": "subscribe", "buckets": [bucket], "outputs": [output],
            "lease": nanoseconds(lease), "limit": limit,
        }))
        .await?;
        let message = self.expect("subscribed").await?;
        match message.contains("unknown buckets") {
            true => Err(Broken::Passing(message)),
            false => Ok(()),
        }
    }

    /// Takes so many more of what is leased.
    pub(super) async fn more(&mut self, count: usize) -> Result<(), Broken> {
        self.send(json!({ "action": "more", "count": count })).await
    }

    /// Tells the server that this client is there.
    pub(super) async fn pong(&mut self) -> Result<(), Broken> {
        self.send(json!({ "action": "pong" })).await
    }

    /// The next webhook or message. Pings are answered here. Dropping the future loses
    /// nothing of what has come.
    pub(super) async fn next(&mut self) -> Result<Event, Broken> {
        loop {
            let text = timeout_at(self.heard_at + SILENCE, self.text()).await;
            let text = text.map_err(|_| Broken::Passing("the server is silent".to_owned()))??;
            let kind = |text: &str| {
                #[derive(Deserialize)]
                struct Kind {
                    r#type: String,
                }
                serde_json::from_str::<Kind>(text).map(|kind| kind.r#type)
            };
            match kind(&text).as_deref() {
                Ok("webhook") => match serde_json::from_str(&text) {
                    Ok(webhook) => return Ok(Event::Webhook(webhook)),
                    Err(error) => return Ok(Event::Said(format!("unreadable webhook: {error}"))),
                },
                Ok("status") => {
                    let Status { status, message } =
                        serde_json::from_str(&text).unwrap_or_default();
                    match &*status {
                        "ping" => self.pong().await?,
                        "unauthorized" => return Err(Broken::Refused(message)),
                        _ if message.is_empty() => {}
                        _ => return Ok(Event::Said(message)),
                    }
                }
                _ => {}
            }
        }
    }

    async fn expect(&mut self, expected: &str) -> Result<String, Broken> {
        let text = timeout(PATIENCE, self.text()).await;
        let text = text.map_err(|_| Broken::Passing("the server is silent".to_owned()))??;
        let Status { status, message } = serde_json::from_str(&text).unwrap_or_default();
        match &*status {
            got if got == expected => Ok(message),
            "unauthorized" => Err(Broken::Refused(message)),
            _ => Err(Broken::Passing(format!("{expected} expected, the server says {message:?}"))),
        }
    }

    async fn send(&mut self, frame: serde_json::Value) -> Result<(), Broken> {
        let sent = timeout(PATIENCE, self.stream.send(Message::text(frame.to_string()))).await;
        match sent {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(lost(error)),
            Err(_) => Err(Broken::Passing("the server does not read".to_owned())),
        }
    }

    async fn text(&mut self) -> Result<String, Broken> {
        loop {
            match self.stream.next().await {
                Some(Ok(Message::Text(text))) => {
                    self.heard_at = Instant::now();
                    return Ok(text.as_str().to_owned());
                }
                Some(Ok(Message::Close(Some(frame)))) if !frame.reason.is_empty() => {
                    return Err(Broken::Passing(format!("the server says: {}", frame.reason)));
                }
                Some(Ok(Message::Close(_))) | None => {
                    return Err(Broken::Passing("the server closed the connection".to_owned()));
                }
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(lost(error)),
            }
        }
    }
}

fn lost(error: tungstenite::Error) -> Broken {
    let why = match &error {
        tungstenite::Error::Io(error) if error.kind() == ErrorKind::UnexpectedEof => {
            "the server closed it".to_owned()
        }
        tungstenite::Error::Io(error) => describe_io(error),
        error => error.to_string(),
    };
    Broken::Passing(format!("the connection is lost: {why}"))
}

/// Opens the socket over a connection of the HTTP client, whose names, certificates and
/// bounds count here as well.
async fn connect(api: &Api) -> Result<WebSocketStream<Box<dyn Io>>, Broken> {
    let base = &api.base;
    let invalid = || Broken::Refused(format!("{base} is not a server's address"));
    let address: Uri = base.parse().map_err(|_| invalid())?;
    let io = api.http.connect_http1(&address, true).await.map_err(|error| match error {
        ForwardError::Unsendable(_) => invalid(),
        error => Broken::Passing(format!("cannot reach {base}: {error}")),
    })?;
    let authority = address.authority().ok_or_else(invalid)?;
    let path = address.path().trim_end_matches('/');
    // Whatever the scheme: TLS is below already.
    let url = format!("ws://{authority}{path}{}", crate::socket::PATH);
    let mut request = url.into_client_request().map_err(lost)?;
    request.headers_mut().insert(USER_AGENT, HeaderValue::from_static("webhook-server"));
    let config = WebSocketConfig::default()
        .read_buffer_size(16 << 10)
        .write_buffer_size(0)
        .max_frame_size(Some(MAX_FRAME_BYTES))
        .max_message_size(Some(MAX_FRAME_BYTES));
    let io: Box<dyn Io> = Box::new(io);
    let opened = client_async_with_config(request, io, Some(config)).await;
    opened.map(|(stream, _)| stream).map_err(lost)
}
