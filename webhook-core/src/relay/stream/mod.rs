//! Webhooks for connected clients: agents, WebSocket consumers.
//!
//! The store remembers, the hub only hurries: an internal output's webhook
//! waits in the log as `received` until a client reports on it, so that a
//! client that was away, slow or crashed gets it from there.

mod event;
mod hub;
mod subscription;

pub use event::StreamedWebhook;
pub(super) use hub::Hub;
pub use hub::{ClientInfo, ConnectedClient, Listening};
pub use subscription::{Streamed, Subscription};
