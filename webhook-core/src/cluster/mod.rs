//! What the nodes of a relay tell one another, so that what one of them knows need not wait
//! until the others find it in the store.
//!
//! Nothing of it is needed: the store has everything, and every node looks there from time to
//! time. A [`Broadcast`] may lose a message, deliver it late, twice or before an earlier one,
//! and only latency changes.
//!
//! | part | what it is |
//! |---|---|
//! | [`Broadcast`] | carries bytes to every node, or to one |
//! | [`Local`] | one in memory, for relays in one process |
//! | [`Sealed`] | keeps what is carried from whoever can reach the carrier |
//! | [`Message`] | what is said, and the bytes that stand for it |
//! | [`Peers`] | which other nodes there are, and whose clients listen to what |
//! | [`Awaited`] | which answers senders at other nodes wait for |
//!
//! ```
//! use bytes::Bytes;
//! use webhook_core::cluster::{Broadcast, Local, To};
//! use webhook_core::NodeId;
//!
//! # async fn example() {
//! let carrier = Local::default();
//! let (here, there) = (NodeId::generate(), NodeId::generate());
//! let mut inbox = carrier.subscribe(there);
//! carrier.publish(To::Node(there), Bytes::from_static(b"for one"));
//! carrier.publish(To::Node(here), Bytes::from_static(b"for another"));
//! carrier.publish(To::All, Bytes::from_static(b"for all"));
//! assert_eq!(inbox.next().await, Some((To::Node(there), Bytes::from_static(b"for one"))));
//! assert_eq!(inbox.next().await, Some((To::All, Bytes::from_static(b"for all"))));
//! # }
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(example());
//! ```
//!
//! # Features
//!
//! `nats`: `nats::Nats`, which carries messages over a NATS server.

mod awaited;
mod broadcast;
mod client;
mod inbox;
mod local;
mod message;
#[cfg(feature = "nats")]
pub mod nats;
mod peers;
mod sealed;

pub use awaited::Awaited;
pub use broadcast::{Broadcast, Inbox, MAX_MESSAGE_BYTES, To};
pub use client::{ClientInfo, ConnectedClient, Listening, StreamedWebhook};
pub use local::Local;
pub use message::{Answered, BucketChange, Change, Content, Message, Presence, Streamed};
pub use peers::Peers;
pub use sealed::{KeyError, Sealed};
