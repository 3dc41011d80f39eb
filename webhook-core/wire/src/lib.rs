//! What the relay and the crates beside it share: the [`Request`] of a webhook, its
//! [`Headers`] as JSON, [`Base64`], identifiers ([`id`]), moments ([`Timestamp`]), a [`Secret`]
//! that no log shows, and the one [`Error`]. `webhook-core` has all of it under its own names; a crate that only looks
//! at requests, as rules do, depends on this and compiles without the relay.

// What the derives make names this crate by its name, in its own tests as well.
extern crate self as webhook_wire;

pub mod described;
mod encoding;
mod error;
mod extension;
mod headers;
pub mod id;
pub mod json;
mod request;
mod secret;
mod timestamp;

pub use described::{Choice, Described};
pub use encoding::{Base64, NotBase64};
pub use error::{Error, ErrorKind};
pub use extension::Extension;
pub use headers::Headers;
pub use request::Request;
pub use secret::{Secret, constant_time_eq};
pub use timestamp::Timestamp;
pub use webhook_wire_derive::{Choice, Described};
