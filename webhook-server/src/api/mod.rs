//! The operations of interface.md, one file for each resource. Handlers take
//! the request apart, call `webhook_core::admin`, and put the answer together.

pub(crate) mod account;
pub(crate) mod buckets;
pub(crate) mod config;
pub(crate) mod inputs;
pub(crate) mod outputs;
pub(crate) mod rules;

use axum::Json;
use serde::Serialize;
use utoipa::ToSchema;
use webhook_core::Id;

use crate::error::ApiError;

/// What an operation answers.
type Answer<T> = Result<Json<T>, ApiError>;

/// The result of a deletion.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Response {
    /// What was deleted.
    #[schema(format = Uuid)]
    id: String,
    /// What became of it: `deleted`.
    status: &'static str,
}

impl Response {
    fn deleted<K>(id: Id<K>) -> Json<Self> {
        Json(Self { id: id.to_string(), status: "deleted" })
    }
}
