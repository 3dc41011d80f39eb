//! The operations of `docs/openapi.json`, one file for each resource. Handlers take
//! the request apart, call `webhook_core::admin`, and put the answer together. Their
//! attributes leave out the parts that `openapi/paths.rs` adds. [`operations`](mod@operations)
//! lists them all.

mod account;
pub(crate) mod auth;
mod billing;
mod buckets;
mod checkout;
mod clients;
pub(crate) mod compatibility;
mod config;
mod crons;
mod domains;
mod erasures;
pub(crate) mod error;
mod events;
pub(crate) mod extract;
mod functions;
mod generate;
mod inputs;
mod log_queries;
mod logs;
mod notifications;
mod operations;
mod outputs;
pub(crate) mod query;
mod replays;
mod runs;
mod signature_providers;
mod stripe_webhook;
mod time;
mod tokens;
mod traces;
mod usage;
pub(crate) mod variables;
mod versions;

use std::sync::Arc;

use axum::{
    Json,
    http::{
        HeaderMap, StatusCode,
        header::{ETAG, IF_MATCH},
    },
    response::IntoResponse,
};
pub(crate) use operations::{open_operations, operations};
use serde::Serialize;
pub(crate) use time::rfc3339;
use utoipa::ToSchema;
use webhook_core::{
    ErrorKind, Id,
    model::{Bucket, Domain, Function, Input, Notification, Output},
};

use error::ApiError;

/// What an operation answers.
type Answer<T> = Result<Json<T>, ApiError>;

/// What an operation answers that is about one document.
type TaggedAnswer<T> = Result<Tagged<T>, ApiError>;

/// What an operation answers that makes a document.
type CreatedAnswer<T> = Result<(StatusCode, Tagged<T>), ApiError>;

/// A document with its version as a strong `ETag` (RFC 9110, section 8.8.3). The version is that
/// of the document alone: not of what is in a bucket, and not of a state, such as a pause.
pub(crate) struct Tagged<T>(pub(crate) T);

/// A part of an answer that has a version.
pub(crate) trait Versioned {
    fn version(&self) -> u64;
}

macro_rules! versioned {
    ($($document:ty),+) => {$(
        impl Versioned for $document {
            fn version(&self) -> u64 {
                self.version
            }
        }
    )+};
}

versioned!(Bucket, Input, Output, Function, Domain, Notification, crons::Cron);

impl<T: Versioned + Serialize> IntoResponse for Tagged<T> {
    fn into_response(self) -> axum::response::Response {
        let tag = format!("\"{}\"", self.0.version());
        ([(ETAG, tag)], Json(self.0)).into_response()
    }
}

fn created<T>(document: T) -> (StatusCode, Tagged<T>) {
    (StatusCode::CREATED, Tagged(document))
}

/// The versions that `If-Match` names; none without that header, and for `*`. A weak tag names
/// none (RFC 9110, section 13.1.1).
///
/// # Errors
/// [`Invalid`](ErrorKind::Invalid) for a value that is no list of tags.
pub(crate) fn if_match(headers: &HeaderMap) -> Result<Option<Arc<[u64]>>, ApiError> {
    let mut versions = Vec::new();
    let wrong = || {
        let reason = "If-Match: must be *, or tags as in ETag, such as \"3\"";
        ApiError::new(ErrorKind::Invalid, reason)
    };
    for value in headers.get_all(IF_MATCH) {
        let text = value.to_str().map_err(|_| wrong())?;
        for tag in text.split(',').map(str::trim) {
            if tag == "*" {
                return Ok(None);
            }
            let is_weak = tag.starts_with("W/");
            let tag = tag.strip_prefix("W/").unwrap_or(tag);
            let tag = tag.strip_prefix('"').and_then(|tag| tag.strip_suffix('"'));
            let tag = tag.filter(|tag| !tag.contains('"')).ok_or_else(wrong)?;
            versions.extend(tag.parse::<u64>().ok().filter(|_| !is_weak));
        }
    }
    Ok(headers.contains_key(IF_MATCH).then(|| versions.into()))
}

/// The result of an operation that answers nothing else.
///
/// In the document it has another name: generated clients have a `Response`
/// of their own language.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = GenericResult, description = "What an operation has done")]
pub(crate) struct Response {
    /// What it was done to.
    #[schema(format = Uuid)]
    id: String,
    /// What became of it: `deleted`, `resent`, or `sent`.
    status: &'static str,
}

impl Response {
    fn of<K>(id: Id<K>, status: &'static str) -> Json<Self> {
        Json(Self { id: id.to_string(), status })
    }

    fn deleted<K>(id: Id<K>) -> Json<Self> {
        Self::of(id, "deleted")
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn tags_name_versions() {
        let named = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(IF_MATCH, HeaderValue::from_str(text).expect("a value"));
            if_match(&headers).map(|versions| versions.map(|versions| versions.to_vec())).ok()
        };
        assert_eq!(named("\"3\""), Some(Some(vec![3])));
        assert_eq!(named("\"3\", W/\"4\" ,\"x\",\"5\""), Some(Some(vec![3, 5])));
        assert_eq!((named("*"), named("W/\"4\"")), (Some(None), Some(Some(vec![]))));
        for wrong in ["3", "", "\"3", "\"3\" \"4\"", "\"a\"b\""] {
            assert_eq!(named(wrong), None, "{wrong}");
        }
        assert_eq!(if_match(&HeaderMap::new()).expect("no header"), None);
    }
}
