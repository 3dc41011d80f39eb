//! A WebSocket client.

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::{net::TcpStream, time::timeout};
use tokio_tungstenite::{
    WebSocketStream, client_async,
    tungstenite::{Message, protocol::CloseFrame},
};

use crate::harness::{PATIENCE, Server};

/// A connection.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) stream: WebSocketStream<TcpStream>,
}

impl Client {
    /// One that has said nothing yet.
    pub(crate) async fn connect(server: &Server) -> Self {
        let address = server.base.strip_prefix("http://").expect("plain HTTP");
        let tcp = TcpStream::connect(address).await.expect("the server listens");
        let url = format!("ws://{address}/v1/socket");
        let (stream, _) = client_async(url, tcp).await.expect("the handshake succeeds");
        Self { stream }
    }

    /// One that has shown the API key.
    pub(crate) async fn authenticated(server: &Server) -> Self {
        let mut client = Self::connect(server).await;
        client.auth("whr", &server.key).await;
        client.expect_status("authenticated").await;
        client
    }

    /// One that listens to these buckets; null for all.
    pub(crate) async fn subscribed(server: &Server, buckets: Value) -> Self {
        let mut client = Self::authenticated(server).await;
        client.send(json!({"action": "subscribe", "buckets": buckets})).await;
        client.expect_status("subscribed").await;
        client
    }

    pub(crate) async fn auth(&mut self, key: &str, secret: &str) {
        self.send(json!({"action": "auth", "key": key, "secret": secret})).await;
    }

    pub(crate) async fn send(&mut self, frame: Value) {
        self.send_raw(Message::text(frame.to_string())).await;
    }

    pub(crate) async fn send_raw(&mut self, message: Message) {
        // The server may have closed already; what it said is still to be read.
        let _ = self.stream.send(message).await;
    }

    /// The next frame.
    pub(crate) async fn frame(&mut self) -> Value {
        match self.message().await {
            Message::Text(text) => serde_json::from_str(&text).expect("frames are JSON"),
            other => panic!("a text frame expected, not {other:?}"),
        }
    }

    async fn message(&mut self) -> Message {
        let next = timeout(PATIENCE, self.stream.next()).await.expect("a frame in time");
        next.expect("the connection is open").expect("a frame")
    }

    /// The next frame, which must be this status; its message.
    pub(crate) async fn expect_status(&mut self, status: &str) -> String {
        let frame = self.frame().await;
        let expected = (&json!("status"), &json!(status));
        assert_eq!((&frame["type"], &frame["status"]), expected, "{frame}");
        frame["message"].as_str().unwrap_or_default().to_owned()
    }

    /// The next frame, which must be a webhook.
    pub(crate) async fn webhook(&mut self) -> Value {
        let frame = self.frame().await;
        assert_eq!(frame["type"], "webhook", "{frame}");
        frame
    }

    /// The bodies of so many webhooks.
    pub(crate) async fn bodies(&mut self, count: usize) -> Vec<String> {
        let mut bodies = Vec::new();
        while bodies.len() < count {
            let frame = self.frame().await;
            if frame["type"] == "webhook" {
                bodies.push(frame["body"].as_str().expect("text").to_owned());
            }
        }
        bodies
    }

    /// Waits until the server closes; the code.
    pub(crate) async fn closed(&mut self) -> u16 {
        match self.message().await {
            Message::Close(Some(CloseFrame { code, .. })) => code.into(),
            other => panic!("a close frame expected, not {other:?}"),
        }
    }
}
