//! The operations of `docs/openapi.json`, one file for each resource. Handlers take
//! the request apart, call `webhook_core::admin`, and put the answer together.

pub(crate) mod account;
pub(crate) mod billing;
pub(crate) mod buckets;
pub(crate) mod checkout;
pub(crate) mod clients;
pub(crate) mod config;
pub(crate) mod crons;
pub(crate) mod domains;
pub(crate) mod events;
pub(crate) mod functions;
pub(crate) mod generate;
pub(crate) mod inputs;
mod log_queries;
pub(crate) mod logs;
pub(crate) mod notifications;
pub(crate) mod outputs;
pub(crate) mod pauses;
pub(crate) mod replays;
pub(crate) mod rules;
pub(crate) mod runs;
pub(crate) mod signature_providers;
pub(crate) mod stripe_webhook;
mod time;
pub(crate) mod tokens;
pub(crate) mod traces;
pub(crate) mod usage;
pub(crate) mod variables;
pub(crate) mod versions;

use axum::Json;
use serde::Serialize;
pub(crate) use time::rfc3339;
use utoipa::ToSchema;
use webhook_core::Id;

use crate::error::ApiError;

/// What an operation answers.
type Answer<T> = Result<Json<T>, ApiError>;

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
