//! Configured things: one file for each kind. It declares the fields that a caller may write, and
//! says of each field its bounds, its default, whether it is secret, what a form calls it, and what
//! it is for ([`described`](crate::wire::described)). The checks, the forms, the OpenAPI document, the
//! manifest and the tests read that; nothing else lists the fields.

use crate::wire::described::Invalid;
use http::{
    HeaderMap, HeaderName,
    header::{
        CONNECTION, CONTENT_LENGTH, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE, TRAILER,
        TRANSFER_ENCODING, UPGRADE,
    },
};

use crate::model::Headers;

pub(crate) mod bucket;
pub(crate) mod cron;
pub(crate) mod deduplication;
pub(crate) mod domain;
pub(crate) mod function;
pub(crate) mod health;
pub(crate) mod input;
pub(crate) mod notification;
pub(crate) mod outcomes;
pub(crate) mod output;
pub(crate) mod pause;
pub(crate) mod signature;

/// The length of a name in bytes.
pub(crate) const MAX_NAME: usize = 255;
/// The length of a description in bytes.
pub(crate) const MAX_DESCRIPTION: usize = 4 << 10;
/// The length of a destination in bytes.
const MAX_DESTINATION: usize = 8 << 10;
/// The length of a domain, or of a prefix of a path on it, in bytes.
const MAX_PREFIX: usize = 1 << 10;
/// The values in one map of headers.
const MAX_HEADERS: usize = 100;
/// The names and values of one map of headers together, in bytes.
const MAX_HEADERS_BYTES: usize = 16 << 10;

// Headings in forms.
const ANSWER: &str = "Answer";
const DOMAIN: &str = "Custom domain";
const REQUEST: &str = "Request";
const RETRIES: &str = "Retries";

/// Whether every header can be sent as it is. The server itself sets the headers of one hop (RFC
/// 9110, section 7.6.1) and the length.
fn sendable(headers: &HeaderMap) -> Result<(), Invalid> {
    let own = [
        CONNECTION,
        CONTENT_LENGTH,
        PROXY_AUTHENTICATE,
        PROXY_AUTHORIZATION,
        TE,
        TRAILER,
        TRANSFER_ENCODING,
        UPGRADE,
        HeaderName::from_static("keep-alive"),
        HeaderName::from_static("proxy-connection"),
    ];
    headers
        .keys()
        .filter(|name| own.contains(name))
        .try_for_each(|name| refuse(name, "cannot be set: it belongs to the connection"))
}

/// Completes an update: an absent choice keeps the stored one, and the default is not stored.
fn keep_choice<T: Default + PartialEq>(choice: &mut Option<T>, stored: Option<T>) {
    *choice = choice.take().or(stored).filter(|choice| *choice != T::default());
}

/// The refusal of one header.
fn refuse(name: &HeaderName, reason: &str) -> Result<(), Invalid> {
    Err(Invalid::new(format!("headers.{}", Headers::canonical_name(name)), reason))
}
