//! `/v1/erasures`

use axum::{
    Json,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use webhook_core::{
    ErasureId,
    model::{Erasure, ErasurePlan, ErasureSpec},
};

use super::Answer;
use crate::api::{
    auth::Authenticated,
    error::ApiError,
    extract::{Ids, JsonObject},
};

/// Erase many webhooks: all that have a log which passes the filter.
///
/// With `dry_run` nothing is erased: the answer says how many there are.
#[utoipa::path(
    post,
    path = "/v1/erasures",
    request_body = Erasure,
    responses(
        (status = 200, description = "With `dry_run`: what it would erase", body = ErasurePlan),
        (status = 201, description = "The erasure", body = Erasure),
        (status = 400, description = "The body is wrong, the text names the field; or nothing is \
            like the filter"),
        (status = 403, description = "The bucket is not in the access token's scope"),
        (status = 404, description = "The account has no such bucket"),
        (status = 429, description = "The account has 10 erasures that are not over, or two \
            searches running"),
    ),
)]
pub(crate) async fn create_erasure(
    Authenticated(state, caller): Authenticated,
    JsonObject(spec): JsonObject<ErasureSpec>,
) -> Result<Response, ApiError> {
    if spec.dry_run {
        let plan = state.admin().plan_erasure(&caller, spec).await?;
        return Ok(Json(plan).into_response());
    }
    let erasure = state.admin().create_erasure(&caller, spec).await?;
    Ok((StatusCode::CREATED, Json(erasure)).into_response())
}

/// Get an erasure.
///
/// It counts the webhooks that were found, erased and withdrawn, and those with an attempt in
/// flight.
#[utoipa::path(
    get,
    path = "/v1/erasures/{id}",
    responses((status = 200, description = "The erasure", body = Erasure)),
)]
pub(crate) async fn get_erasure(
    Authenticated(state, caller): Authenticated,
    Ids(id): Ids<ErasureId>,
) -> Answer<Erasure> {
    Ok(Json(state.admin().erasure(&caller, id).await?))
}
