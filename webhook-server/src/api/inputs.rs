//! `/v1/buckets/{id}/inputs`

use axum::Json;
use webhook_core::{
    BucketId, InputId,
    model::{Input, InputSpec, SignatureCheck, SignatureCheckRequest},
};

use super::{Answer, CreatedAnswer, Response, Tagged, TaggedAnswer, created};
use crate::api::{
    auth::Authenticated,
    error::ApiError,
    extract::{Ids, JsonObject},
};

/// Make an input.
///
/// Webhooks are sent to `/v1/webhooks/` and its ID.
#[utoipa::path(
    post,
    path = "/v1/buckets/{id}/inputs",
    request_body = Input,
    responses(
        (status = 201, description = "The input", body = Input),
        (status = 400, description = "The body is wrong, and the text names the field; or the \
            account has no such bucket"),
        (status = 412, description = "The bucket has all of its inputs, or another input has this \
            prefix of the domain"),
    ),
)]
pub(crate) async fn create_input(
    Authenticated(state, caller): Authenticated,
    ids: Result<Ids<BucketId>, ApiError>,
    JsonObject(spec): JsonObject<InputSpec>,
) -> CreatedAnswer<Input> {
    let Ids(bucket) = ids.map_err(ApiError::missing_is_invalid)?;
    Ok(created(state.admin().create_input(&caller, bucket, spec).await?))
}

/// Get an input of a bucket, with its version as `ETag`.
///
/// An update can name that version in `If-Match`, and is refused when the input has changed since.
#[utoipa::path(
    get,
    path = "/v1/buckets/{id}/inputs/{detailed}",
    responses((status = 200, description = "The input", body = Input)),
)]
pub(crate) async fn get_input(
    Authenticated(state, caller): Authenticated,
    Ids((bucket, id)): Ids<(BucketId, InputId)>,
) -> TaggedAnswer<Input> {
    Ok(Tagged(state.admin().input(&caller, bucket, id).await?))
}

/// Replace an input's settings.
///
/// An absent name keeps the old one, and so do absent `signature` and `deduplication`, which `null`
/// takes away; any other absent field returns to its default.
#[utoipa::path(
    put,
    path = "/v1/buckets/{id}/inputs/{detailed}",
    request_body = Input,
    responses(
        (status = 200, description = "The input", body = Input),
        (status = 412, description = "Another input has this prefix of the domain"),
    ),
)]
pub(crate) async fn update_input(
    Authenticated(state, caller): Authenticated,
    Ids((bucket, id)): Ids<(BucketId, InputId)>,
    JsonObject(spec): JsonObject<InputSpec>,
) -> TaggedAnswer<Input> {
    Ok(Tagged(state.admin().update_input(&caller, bucket, id, spec).await?))
}

/// Delete an input.
///
/// Webhooks sent to it are refused from then on.
#[utoipa::path(
    delete,
    path = "/v1/buckets/{id}/inputs/{detailed}",
    responses(
        (status = 200, description = "Deleted", body = Response),
        (status = 400, description = "The request is wrong"),
    ),
)]
pub(crate) async fn delete_input(
    Authenticated(state, caller): Authenticated,
    Ids((bucket, id)): Ids<(BucketId, InputId)>,
) -> Answer<Response> {
    state.admin().delete_input(&caller, bucket, id).await?;
    Ok(Response::deleted(id))
}

/// Ask what an input says of a signature: of a log's webhook, or of a request that you give.
///
/// Nothing is stored or forwarded, and it works while `signature` is not enabled. Of a log, how
/// long ago it was signed does not count.
#[utoipa::path(
    post,
    path = "/v1/buckets/{id}/inputs/{detailed}/signature/check",
    request_body = SignatureCheckRequest,
    responses(
        (status = 200, description = "What it says", body = SignatureCheck),
        (status = 404, description = "The account has no such bucket or input, or the input no \
            such log"),
        (status = 412, description = "The content of the log is erased"),
    ),
)]
pub(crate) async fn check_signature(
    Authenticated(state, caller): Authenticated,
    Ids((bucket, id)): Ids<(BucketId, InputId)>,
    JsonObject(asked): JsonObject<SignatureCheckRequest>,
) -> Answer<SignatureCheck> {
    Ok(Json(state.admin().check_signature(&caller, bucket, id, asked).await?))
}
