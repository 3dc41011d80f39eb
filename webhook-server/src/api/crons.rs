//! `/v1/crons`

use axum::{Json, http::StatusCode};
use serde::Serialize;
use utoipa::ToSchema;
use webhook_core::{
    CronId,
    admin::BucketCron,
    model::{Bucket, CronSpec},
};

use super::{Answer, CreatedAnswer, Tagged, TaggedAnswer, created, time};
use crate::api::{
    auth::Authenticated,
    error::ApiError,
    extract::{Flags, Ids, JsonObject, PageOf},
    query::PageRequest,
};

/// A job that puts a webhook into a bucket of its own at certain times. Rules,
/// functions, retries and logs are those of the bucket.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Cron {
    /// Identifies it.
    #[schema(read_only, format = Uuid)]
    id: String,
    /// The account that owns it.
    #[schema(read_only, format = Uuid)]
    account_id: String,
    #[serde(skip)]
    pub(super) version: u64,
    /// When it was made.
    #[schema(read_only, format = DateTime)]
    created_at: String,
    /// When it was last changed.
    #[schema(read_only, format = DateTime)]
    updated_at: String,
    /// When it runs next; absent when it is disabled or over.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(read_only, format = DateTime)]
    next_run: Option<String>,
    /// The bucket that was made for it, and goes with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Bucket, read_only)]
    bucket: Option<Bucket>,
    #[serde(flatten)]
    spec: CronSpec,
}

/// List the account's crons, oldest first.
///
/// Each has its bucket, and the moment of its next run.
#[utoipa::path(
    get,
    path = "/v1/crons",
    params(PageRequest),
    responses(
        (status = 200, description = "The crons", body = Vec<Cron>),
        (status = 400, description = "The query is wrong, and the text names the field"),
    ),
)]
pub(crate) async fn list_crons(
    Authenticated(state, caller): Authenticated,
    PageOf(page): PageOf,
) -> Answer<Vec<Cron>> {
    let crons = state.admin().crons_page(&caller, page).await?;
    Ok(Json(crons.into_iter().map(Cron::from).collect()))
}

/// Make a cron, and a bucket for it with an output to the destination.
///
/// Each run puts a webhook into that bucket, where it is stored, retried and logged as any other.
#[utoipa::path(
    post,
    path = "/v1/crons",
    request_body = Cron,
    responses(
        (status = 201, description = "The cron", body = Cron),
        (status = 400, description = "The body is wrong; the text names the field. Or the account \
            has all of its crons or buckets"),
        (status = 412, description = "The plan's number of crons is used up"),
    ),
)]
pub(crate) async fn create_cron(
    Authenticated(state, caller): Authenticated,
    JsonObject(spec): JsonObject<CronSpec>,
) -> CreatedAnswer<Cron> {
    Ok(created(state.admin().create_cron(&caller, spec).await?.into()))
}

/// Get a cron.
///
/// The header `ETag` has its version, which an update can name in `If-Match`.
#[utoipa::path(
    get,
    path = "/v1/crons/{id}",
    responses((status = 200, description = "The cron", body = Cron)),
)]
pub(crate) async fn get_cron(
    Authenticated(state, caller): Authenticated,
    Ids(id): Ids<CronId>,
) -> TaggedAnswer<Cron> {
    Ok(Tagged(state.admin().cron(&caller, id).await?.into()))
}

/// Replace a cron, and the destination and function of its output.
///
/// The next run stays unless something changes that it depends on.
#[utoipa::path(
    put,
    path = "/v1/crons/{id}",
    params(
        ("allow_loop" = Option<bool>, Query,
            description = "Whether the destination may lead back into the same bucket"),
    ),
    request_body = Cron,
    responses(
        (status = 200, description = "The cron", body = Cron),
        (status = 412, description = "The destination is new and leads back into the cron's \
            bucket"),
    ),
)]
pub(crate) async fn update_cron(
    Authenticated(state, caller): Authenticated,
    Ids(id): Ids<CronId>,
    Flags { allow_loop, .. }: Flags,
    JsonObject(spec): JsonObject<CronSpec>,
) -> TaggedAnswer<Cron> {
    let caller = caller.allowing_loops(allow_loop);
    Ok(Tagged(state.admin().update_cron(&caller, id, spec).await?.into()))
}

/// Delete a cron and its bucket.
///
/// What still waits there is not attempted any more; its logs stay.
#[utoipa::path(
    delete,
    path = "/v1/crons/{id}",
    responses((status = 204, description = "Deleted")),
)]
pub(crate) async fn delete_cron(
    Authenticated(state, caller): Authenticated,
    Ids(id): Ids<CronId>,
) -> Result<StatusCode, ApiError> {
    state.admin().delete_cron(&caller, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

impl From<BucketCron> for Cron {
    fn from(BucketCron { cron, bucket }: BucketCron) -> Self {
        let webhook_core::model::Cron {
            id,
            account_id,
            version,
            created_at,
            updated_at,
            next_run,
            bucket_id: _,
            input_id: _,
            output_id: _,
            spec,
        } = cron;
        Self {
            id: id.to_string(),
            account_id: account_id.to_string(),
            version,
            created_at: time::rfc3339(created_at),
            updated_at: time::rfc3339(updated_at),
            next_run: next_run.map(time::rfc3339),
            bucket,
            spec,
        }
    }
}
