//! `/v1/buckets`

use axum::Json;
use webhook_core::{
    BucketId,
    model::{Bucket, BucketSpec},
};

use super::{Answer, CreatedAnswer, Response, Tagged, TaggedAnswer, created};
use crate::api::{
    auth::Authenticated,
    compatibility::Spec,
    extract::{Flags, Ids, PageOf},
    query::PageRequest,
};

/// List the account's buckets with their inputs and outputs, oldest first.
///
/// An access token with scopes gets the buckets of its scopes.
#[utoipa::path(
    get,
    path = "/v1/buckets",
    params(PageRequest),
    responses(
        (status = 200, description = "The buckets", body = Vec<Bucket>),
        (status = 400, description = "The query is wrong, and the text names the field"),
    ),
)]
pub(crate) async fn list_buckets(
    Authenticated(state, caller): Authenticated,
    PageOf(page): PageOf,
) -> Answer<Vec<Bucket>> {
    Ok(Json(state.admin().buckets_page(&caller, page).await?))
}

/// Make a bucket.
///
/// It owns an input named `Default public endpoint` from the start.
#[utoipa::path(
    post,
    path = "/v1/buckets",
    request_body = Bucket,
    responses(
        (status = 201, description = "The bucket", body = Bucket),
        (status = 412, description = "The name is taken, or the account has all of its buckets"),
    ),
)]
pub(crate) async fn create_bucket(
    Authenticated(state, caller): Authenticated,
    Spec(spec): Spec<BucketSpec>,
) -> CreatedAnswer<Bucket> {
    Ok(created(state.admin().create_bucket(&caller, spec).await?))
}

/// Read a bucket with its inputs and outputs.
///
/// The header `ETag` has its version, which an update can name in `If-Match`.
#[utoipa::path(
    get,
    path = "/v1/buckets/{id}",
    responses(
        (status = 200, description = "The bucket", body = Bucket),
        (status = 403, description = "It belongs to another account"),
        (status = 404, description = "There is no such bucket"),
    ),
)]
pub(crate) async fn get_bucket(
    Authenticated(state, caller): Authenticated,
    Ids(id): Ids<BucketId>,
) -> TaggedAnswer<Bucket> {
    Ok(Tagged(state.admin().bucket(&caller, id).await?))
}

/// Replace a bucket's settings.
///
/// An absent name keeps the old one; any other absent field returns to its default.
#[utoipa::path(
    put,
    path = "/v1/buckets/{id}",
    request_body = Bucket,
    responses(
        (status = 200, description = "The bucket", body = Bucket),
        (status = 412, description = "The name is taken"),
    ),
)]
pub(crate) async fn update_bucket(
    Authenticated(state, caller): Authenticated,
    Ids(id): Ids<BucketId>,
    Spec(spec): Spec<BucketSpec>,
) -> TaggedAnswer<Bucket> {
    Ok(Tagged(state.admin().update_bucket(&caller, id, spec).await?))
}

/// Delete a bucket.
///
/// The default input alone does not keep it from being deleted.
#[utoipa::path(
    delete,
    path = "/v1/buckets/{id}",
    params(
        ("force" = Option<bool>, Query,
            description = "Whether to delete it with the inputs and outputs it still has"),
    ),
    responses(
        (status = 200, description = "Deleted", body = Response),
        (status = 403, description = "It belongs to another account"),
        (status = 404, description = "There is no such bucket"),
        (status = 412, description = "It still has inputs or outputs"),
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
