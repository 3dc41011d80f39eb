//! Clients of the WebSocket: how long a webhook takes from its sender to them.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use futures_util::{SinkExt, StreamExt, future::try_join_all};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::{net::TcpStream, sync::mpsc, time::timeout};
use tokio_tungstenite::{WebSocketStream, client_async, tungstenite::Message};

use super::{
    Said,
    connection::{Connection, Request},
    event,
    latency::{Latency, Stopwatch},
};
use crate::{Outcome, api::KEY};

const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum SocketOrder {
    /// Connects so many more clients that listen to everything.
    Connect { address: SocketAddr, clients: usize },
    /// Sends webhooks to this path at a steady rate, and waits until every
    /// client has every one of them.
    Send { path: String, headers: Vec<(String, String)>, rate: f64, lasts: Duration },
}

type Socket = WebSocketStream<TcpStream>;

pub(super) fn run() -> Outcome<()> {
    super::single_threaded()?.block_on(async {
        let mut sockets = Vec::new();
        let mut server = None;
        while let Some(order) = super::order::<SocketOrder>()? {
            match order {
                SocketOrder::Connect { address, clients } => {
                    server = Some(address);
                    for _ in 0..clients {
                        sockets.push(connect(address).await?);
                    }
                    super::say(&Said::Done(sockets.len()))?;
                }
                SocketOrder::Send { path, headers, rate, lasts } => {
                    let address = server.ok_or("nobody is connected")?;
                    let body = event::body(1 << 10);
                    let request = Request::new("POST", &path, &headers, body, true);
                    let sent = (rate * lasts.as_secs_f64()) as u64;
                    let sender = Sender { address, request, path, rate, sent };
                    super::say(&Said::Done(sender.run(&mut sockets).await?))?;
                }
            }
        }
        Ok(())
    })
}

async fn connect(address: SocketAddr) -> Outcome<Socket> {
    let tcp = TcpStream::connect(address).await?;
    tcp.set_nodelay(true)?;
    let (mut socket, _) = client_async(format!("ws://{address}/v1/socket"), tcp).await?;
    let orders = [
        (json!({ "action": "auth", "key": "whr", "secret": KEY }), "authenticated"),
        (json!({ "action": "subscribe", "buckets": [""] }), "subscribed"),
    ];
    for (order, expected) in orders {
        socket.send(Message::text(order.to_string())).await?;
        let status = frame(&mut socket).await?;
        if status["status"] != expected {
            return Err(format!("not {expected}: {status}").into());
        }
    }
    Ok(socket)
}

async fn frame(socket: &mut Socket) -> Outcome<Value> {
    let message = timeout(PATIENCE, socket.next()).await?.ok_or("the socket was closed")??;
    Ok(serde_json::from_str(message.to_text()?)?)
}

struct Sender {
    address: SocketAddr,
    request: Request,
    path: String,
    rate: f64,
    sent: u64,
}

impl Sender {
    async fn run(self, sockets: &mut [Socket]) -> Outcome<Latency> {
        let expected = self.sent;
        let (arrived, mut arrivals) = mpsc::unbounded_channel();
        let clients = sockets.iter_mut().map(|socket| {
            let arrived = arrived.clone();
            async move {
                let mut count = 0;
                while count < expected {
                    let frame = frame(socket).await?;
                    let now = Instant::now();
                    if frame["type"] == "webhook" {
                        let body = frame["body"].as_str().unwrap_or_default();
                        let id = event::read(body.as_bytes()).ok_or("a damaged frame")?;
                        arrived.send((id, now))?;
                        count += 1;
                    }
                }
                Outcome::Ok(())
            }
        });
        let (moments, _) = tokio::try_join!(self.send(), try_join_all(clients))?;
        drop(arrived);
        let mut watch = Stopwatch::new()?;
        while let Some((id, arrived)) = arrivals.recv().await {
            let sent = moments.get(id as usize).ok_or("an event that was never sent")?;
            watch.record(arrived.duration_since(*sent));
        }
        Ok(watch.latency())
    }

    /// Sends everything; when each was sent.
    async fn send(mut self) -> Outcome<Vec<Instant>> {
        let mut connection = Connection::open(self.address).await?;
        let mut moments = Vec::new();
        let began = Instant::now();
        for id in 0..self.sent {
            let due = Duration::from_secs_f64(id as f64 / self.rate);
            tokio::time::sleep(due.saturating_sub(began.elapsed())).await;
            self.request.set(id, &self.path);
            moments.push(Instant::now());
            match connection.exchange(&self.request).await? {
                200..=299 => {}
                status => return Err(format!("a webhook was answered {status}").into()),
            }
        }
        Ok(moments)
    }
}
