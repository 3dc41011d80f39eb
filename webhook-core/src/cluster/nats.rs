//! Messages over a NATS server.

use std::time::Duration;

use crate::wire::id::NodeId;
use async_nats::{
    Client, ConnectErrorKind, ConnectOptions, Event, ServerAddr, ServerError, connection::State,
};
use bytes::Bytes;
use futures_util::StreamExt;

use crate::cluster::{
    broadcast::{Broadcast, Inbox, To},
    inbox::{Queue, Slot, queue},
};

/// How long a server may take until it is there; without one the program goes on.
const CONNECT: Duration = Duration::from_secs(3);
/// How often the server is asked whether it is there.
const PING: Duration = Duration::from_secs(2);
/// The longest wait before the next attempt to connect again.
const RECONNECT: Duration = Duration::from_secs(1);
/// How many messages a subscription keeps before they are in the [inbox](Inbox).
const SUBSCRIPTION: usize = 256;
/// How many messages the client keeps that are to be written.
const CLIENT: usize = 16;

/// Carries messages over a NATS server, or a cluster of them, by core NATS: a message goes to
/// who is there, and is kept nowhere.
///
/// Every node of one relay gives the same `prefix`, under which are the subjects
/// `<prefix>.all` and `<prefix>.node.<id>`. A connection that breaks is made again; what is
/// sent meanwhile is lost.
#[derive(Debug)]
pub struct Nats {
    client: Client,
    prefix: String,
    outbox: Slot,
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NatsError {
    /// The address cannot be read.
    #[error("is not the address of a NATS server: expected nats://user:password@host:4222")]
    Address,
    /// The server is there and refuses.
    #[error("the NATS server at {address} refuses: {reason}")]
    Refused {
        /// Its host and port.
        address: String,
        /// What it says.
        reason: String,
    },
}

/// Where servers are, and who connects.
#[derive(Debug)]
struct Addresses {
    servers: Vec<ServerAddr>,
    user: Option<(String, Option<String>)>,
}

impl Addresses {
    /// Reads addresses that are separated by commas. What is before the `@` of the first one
    /// is shown to all.
    fn read(text: &str) -> Result<Self, NatsError> {
        let mut all = Self { servers: Vec::new(), user: None };
        for part in text.split(',') {
            let address: ServerAddr = part.trim().parse().map_err(|_| NatsError::Address)?;
            if address.host().is_empty() || address.is_websocket() {
                return Err(NatsError::Address);
            }
            let password = address.password().map(decoded).transpose()?;
            let user = address.username().map(decoded).transpose()?;
            all.user = all.user.or(user.map(|user| (user, password)));
            let mut url = address.into_inner();
            // Not kept where something could show them.
            url.set_username("")
                .and_then(|()| url.set_password(None))
                .map_err(|()| NatsError::Address)?;
            all.servers.push(ServerAddr::from_url(url).map_err(|_| NatsError::Address)?);
        }
        Ok(all)
    }

    /// Hosts and ports, for people.
    fn shown(&self) -> String {
        let shown = self.servers.iter().map(|it| format!("{}:{}", it.host(), it.port()));
        shown.collect::<Vec<_>>().join(", ")
    }

    fn options(&self) -> ConnectOptions {
        let options = ConnectOptions::new()
            .name("webhook-server")
            .connection_timeout(CONNECT)
            .ping_interval(PING)
            .subscription_capacity(SUBSCRIPTION)
            .client_capacity(CLIENT)
            .reconnect_delay_callback(|attempts| {
                let attempts = u32::try_from(attempts).unwrap_or(u32::MAX).min(10);
                (Duration::from_millis(10) * 2_u32.pow(attempts)).min(RECONNECT)
            })
            .event_callback(|event| async move { tell(&event) });
        match self.user.clone() {
            Some((user, Some(password))) => options.user_and_password(user, password),
            Some((token, None)) => options.token(token),
            None => options,
        }
    }
}

/// Without the percent-encoding of a URL.
fn decoded(text: &str) -> Result<String, NatsError> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let mut digit = || rest.next().and_then(|digit| char::from(digit).to_digit(16));
                let (high, low) = (digit(), digit());
                let value = high.zip(low).map(|(high, low)| high * 16 + low);
                value.and_then(|value| u8::try_from(value).ok()).ok_or(NatsError::Address)?
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).map_err(|_| NatsError::Address)
}

/// Logs what happens to the connection.
fn tell(event: &Event) {
    match event {
        Event::Connected => tracing::info!("connected to NATS"),
        Event::Disconnected => {
            tracing::warn!("not connected to NATS: changes and clients wait for the database");
        }
        Event::ServerError(ServerError::AuthorizationViolation) => {
            tracing::error!("the NATS server refuses what this server shows, or a subject");
        }
        other => tracing::debug!(%other, "NATS"),
    }
}

/// Whether addresses can be read, for who says so before anything is started.
///
/// # Errors
///
/// [`Address`](NatsError::Address) when they cannot.
pub fn check(addresses: &str) -> Result<(), NatsError> {
    Addresses::read(addresses).map(|_| ())
}

impl Nats {
    /// Connects to the servers at `addresses`: `nats://user:password@host:4222` or
    /// `nats://token@host`, `tls://` in place of `nats://` where the server must be encrypted;
    /// of several, separated by commas, the first one that answers. Called on a tokio
    /// runtime.
    ///
    /// Where none answers within 3 s the program goes on without, and connects when one is
    /// there.
    ///
    /// # Errors
    ///
    /// When an address cannot be read, and when a server refuses.
    pub async fn connect(addresses: &str, prefix: impl Into<String>) -> Result<Self, NatsError> {
        use ConnectErrorKind::{Authentication, AuthorizationViolation, ServerParse, Tls};
        let all = Addresses::read(addresses)?;
        let client = match all.options().connect(&all.servers[..]).await {
            Ok(client) => client,
            Err(error) => {
                let address = all.shown();
                match error.kind() {
                    ServerParse => return Err(NatsError::Address),
                    Authentication | AuthorizationViolation | Tls => {
                        return Err(NatsError::Refused { address, reason: error.to_string() });
                    }
                    _ => {}
                }
                tracing::warn!(%address, %error, "no NATS server answers: going on without");
                let later = all.options().retry_on_initial_connect();
                let later = later.connect(&all.servers[..]).await;
                later.map_err(|error| NatsError::Refused { address, reason: error.to_string() })?
            }
        };
        let (outbox, waiting) = queue();
        let prefix = prefix.into();
        tokio::spawn(send(client.clone(), prefix.clone(), waiting));
        Ok(Self { client, prefix, outbox })
    }
}

fn subject(prefix: &str, to: To) -> String {
    match to {
        To::All => format!("{prefix}.all"),
        To::Node(node) => format!("{prefix}.node.{node}"),
    }
}

/// Sends what is put into the outbox, until nobody does any more.
async fn send(client: Client, prefix: String, mut waiting: Queue) {
    while let Some((to, message)) = waiting.next().await {
        // What is late is of no use: nothing is kept for a server that is away.
        if client.connection_state() == State::Connected
            && let Err(error) = client.publish(subject(&prefix, to), message).await
        {
            tracing::debug!(%error, "a message was not sent over NATS");
        }
    }
}

/// Puts what comes into the inbox, until nobody reads it any more.
async fn receive(client: Client, subjects: [(String, To); 2], slot: Slot) {
    let [(all, to_all), (own, to_own)] = subjects;
    let (Ok(mut all), Ok(mut own)) = (client.subscribe(all).await, client.subscribe(own).await)
    else {
        return tracing::error!("the subjects of this server are not subjects of NATS");
    };
    loop {
        let (to, message) = tokio::select! {
            message = all.next() => (to_all, message),
            message = own.next() => (to_own, message),
            () = slot.closed() => return,
        };
        match message {
            // What finds no room is dropped, and found in the store.
            Some(message) => drop(slot.put(to, message.payload)),
            None => return,
        }
    }
}

impl Broadcast for Nats {
    fn publish(&self, to: To, message: Bytes) {
        self.outbox.put(to, message);
    }

    fn subscribe(&self, node: NodeId) -> Box<dyn Inbox> {
        let (slot, inbox) = queue();
        let subjects = [To::All, To::Node(node)].map(|to| (subject(&self.prefix, to), to));
        tokio::spawn(receive(self.client.clone(), subjects, slot));
        Box::new(inbox)
    }

    fn is_connected(&self) -> bool {
        self.client.connection_state() == State::Connected
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_secrets_are_not_kept_in_them() {
        let all = Addresses::read("nats://me:p%40ss@one:4223, tls://two").expect("addresses");
        assert_eq!(all.shown(), "one:4223, two:4222");
        assert_eq!(all.user, Some(("me".to_owned(), Some("p@ss".to_owned()))));
        assert!(!format!("{:?}", all.servers).contains("p%40ss"));
        let all = Addresses::read("nats://token@one").expect("an address");
        assert_eq!(all.user, Some(("token".to_owned(), None)));
        for wrong in ["", "http://one", "nats://", "ws://one", "nats://one,", "nats://a:%zz@one"] {
            assert!(Addresses::read(wrong).is_err(), "{wrong}");
        }
    }

    #[tokio::test]
    async fn without_a_server_the_program_goes_on() {
        // Nobody listens at the port of a listener that is gone.
        let gone = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = format!("nats://{}", gone.local_addr().expect("an address"));
        drop(gone);
        let nats = Nats::connect(&address, "test").await.expect("it goes on");
        nats.publish(To::All, Bytes::from_static(b"lost"));
    }

    #[tokio::test]
    #[allow(
        clippy::disallowed_methods,
        reason = "what a test needs from outside comes in variables"
    )]
    async fn what_one_connection_sends_comes_to_another() {
        let Ok(address) = std::env::var("TEST_NATS_URL") else {
            return println!("skipped: TEST_NATS_URL is not set");
        };
        let (here, there) = (NodeId::generate(), NodeId::generate());
        let prefix = format!("test.{here}");
        let [first, second] = [
            Nats::connect(&address, prefix.clone()).await.expect("a connection"),
            Nats::connect(&address, prefix).await.expect("a connection"),
        ];
        let mut inbox = second.subscribe(there);
        // The subscription may come later than the first messages.
        let greeting = async {
            loop {
                first.publish(To::All, Bytes::from_static(b"hello"));
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::select! {
            () = greeting => {}
            came = inbox.next() => {
                assert_eq!(came, Some((To::All, Bytes::from_static(b"hello"))));
            }
        }
        first.publish(To::Node(here), Bytes::from_static(b"for another"));
        first.publish(To::Node(there), Bytes::from_static(b"for one"));
        loop {
            match inbox.next().await.expect("a message") {
                (To::All, _) => {}
                other => {
                    assert_eq!(other, (To::Node(there), Bytes::from_static(b"for one")));
                    break;
                }
            }
        }
    }
}
