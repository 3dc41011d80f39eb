//! `/v1/buckets`

use axum::{Json, http::StatusCode};
use webhook_core::{
    BucketId,
    model::{Bucket, BucketSpec},
};

use super::{Answer, Response};
use crate::{
    auth::Authenticated,
    error::ApiError,
    extract::{Flags, Ids, JsonObject},
};

/// List the account's buckets with their inputs and outputs, oldest first.
#[utoipa::path(
    get,
    path = "/v1/buckets",
    tag = "Buckets",
    responses((status = 200, description = "The buckets", body = Vec<Bucket>)),
)]
pub(crate) async fn list_buckets(
    Authenticated(state, caller): Authenticated,
) -> Answer<Vec<Bucket>> {
    Ok(Json(state.admin().buckets(&caller).await?))
}

/// Make a bucket. It owns an input named `Default public endpoint` from the start.
#[utoipa::path(
    post,
    path = "/v1/buckets",
    tag = "Buckets",
    request_body = Bucket,
    responses(
        (status = 201, description = "The bucket", body = Bucket),
        (status = 400, description = "The body is wrong; the text names the field", body = String),
        (status = 412, description = "The name is taken, or the account has all of its buckets",
            body = String),
    ),
)]
pub(crate) async fn create_bucket(
    Authenticated(state, caller): Authenticated,
    JsonObject(spec): JsonObject<BucketSpec>,
) -> Result<(StatusCode, Json<Bucket>), ApiError> {
    let bucket = state.admin().create_bucket(&caller, spec).await?;
    Ok((StatusCode::CREATED, Json(bucket)))
}

/// Read a bucket with its inputs and outputs.
#[utoipa::path(
    get,
    path = "/v1/buckets/{id}",
    tag = "Buckets",
    params(("id" = String, Path, description = "The bucket's ID", format = Uuid)),
    responses(
        (status = 200, description = "The bucket", body = Bucket),
        (status = 403, description = "It belongs to another account", body = String),
        (status = 404, description = "There is no such bucket", body = String),
    ),
)]
pub(crate) async fn get_bucket(
    Authenticated(state, caller): Authenticated,
    Ids(id): Ids<BucketId>,
) -> Answer<Bucket> {
    Ok(Json(state.admin().bucket(&caller, id).await?))
}

/// Replace a bucket's settings. An absent name keeps the old one; any other
/// absent field returns to its default.
#[utoipa::path(
    put,
    path = "/v1/buckets/{id}",
    tag = "Buckets",
    params(("id" = String, Path, description = "The bucket's ID", format = Uuid)),
    request_body = Bucket,
    responses(
        (status = 200, description = "The bucket", body = Bucket),
        (status = 400, description = "The body is wrong; the text names the field", body = String),
        (status = 404, description = "The account has no such bucket", body = String),
        (status = 412, description = "The name is taken", body = String),
    ),
)]
pub(crate) async fn update_bucket(
    Authenticated(state, caller): Authenticated,
    Ids(id): Ids<BucketId>,
    JsonObject(spec): JsonObject<BucketSpec>,
) -> Answer<Bucket> {
    Ok(Json(state.admin().update_bucket(&caller, id, spec).await?))
}

/// Delete a bucket. The default input alone does not keep it from being deleted.
#[utoipa::path(
    delete,
    path = "/v1/buckets/{id}",
    tag = "Buckets",
    params(
        ("id" = String, Path, description = "The bucket's ID", format = Uuid),
        ("force" = Option<bool>, Query,
            description = "Whether to delete it with the inputs and outputs it still has"),
    ),
    responses(
        (status = 200, description = "Deleted", body = Response),
        (status = 403, description = "It belongs to another account", body = String),
        (status = 404, description = "There is no such bucket", body = String),
        (status = 412, description = "It still has inputs or outputs", body = String),
    ),
)]
pub(crate) async fn delete_bucket(
    Authenticated(state, caller): Authenticated,
    Ids(id): Ids<BucketId>,
    Flags { force, .. }: Flags,
) -> Answer<Response> {
    state.admin().delete_bucket(&caller, id, force).await?;
    Ok(Response::deleted(id))
}
