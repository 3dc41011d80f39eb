//! The ground floor: the [`Request`] of a webhook, its [`Headers`] as JSON, [`Base64`],
//! identifiers ([`id`]), moments ([`Timestamp`]), the one [`Error`], and how the declaration of a
//! configured thing describes its fields ([`described`]).

#[cfg_attr(
    not(feature = "admin"),
    expect(unused_imports, unreachable_pub, reason = "forms read it")
)]
pub mod described;
mod encoding;
pub(crate) mod error;
mod extension;
mod headers;
pub(crate) mod id;
pub(crate) mod json;
mod request;
mod timestamp;

pub use described::{Choice, Described};
pub use encoding::{Base64, NotBase64};
pub use error::{Error, ErrorKind};
pub use extension::Extension;
pub use headers::Headers;
pub use request::Request;
pub use timestamp::Timestamp;
pub use webhook_core_derive::{Choice, Described};
pub use webhook_signatures::Secret;
pub(crate) use webhook_signatures::constant_time_eq;
