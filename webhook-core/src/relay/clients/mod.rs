//! Connected clients: agents, WebSocket consumers.
//!
//! The store remembers, the hub only hurries: an internal output's webhook
//! waits in the log as `received` until a client reports on it, so that a
//! client that was away, slow or crashed gets it from there.

mod hub;
mod publish;
mod subscription;

pub(super) use self::publish::Clients;
pub use self::subscription::{Streamed, Subscription};
