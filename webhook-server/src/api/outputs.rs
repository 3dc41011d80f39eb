//! `/v1/buckets/{id}/outputs`

use axum::{Json, http::StatusCode};
use webhook_core::{
    BucketId, OutputId,
    model::{Output, OutputSpec, OutputState},
};

use super::{Answer, Response};
use crate::{
    auth::Authenticated,
    error::ApiError,
    extract::{Flags, Ids, JsonObject},
};

/// Make an output. Webhooks received from then on are forwarded to it.
#[utoipa::path(
    post,
    path = "/v1/buckets/{id}/outputs",
    tag = "Outputs",
    params(
        ("id" = String, Path, description = "The bucket's ID", format = Uuid),
        ("allow_loop" = Option<bool>, Query,
            description = "Whether the destination may lead back into the same bucket"),
    ),
    request_body = Output,
    responses(
        (status = 201, description = "The output", body = Output),
        (status = 400, description = "The body is wrong; the text names the field", body = String),
        (status = 402, description = "The plan's outputs are used up", body = String),
        (status = 404, description = "The account has no such bucket", body = String),
        (status = 412, description = "The bucket has an output of this name, or all of its \
            outputs, or the destination leads back into the bucket", body = String),
    ),
)]
pub(crate) async fn create_output(
    Authenticated(state, caller): Authenticated,
    Ids(bucket): Ids<BucketId>,
    Flags { allow_loop, .. }: Flags,
    JsonObject(spec): JsonObject<OutputSpec>,
) -> Result<(StatusCode, Json<Output>), ApiError> {
    let caller = caller.allowing_loops(allow_loop);
    let output = state.admin().create_output(&caller, bucket, spec).await?;
    Ok((StatusCode::CREATED, Json(output)))
}

/// How it stands with an output: how many webhooks wait for it and since when, and whether
/// its circuit is open at this server. It is read off counts, and lists of outputs do not have it.
#[utoipa::path(
    get,
    path = "/v1/buckets/{id}/outputs/{detailed}/state",
    tag = "Outputs",
    params(
        ("id" = String, Path, description = "The bucket's ID", format = Uuid),
        ("detailed" = String, Path, description = "The output's ID", format = Uuid),
    ),
    responses(
        (status = 200, description = "How it stands", body = OutputState),
        (status = 404, description = "The account has no such bucket or output", body = String),
    ),
)]
pub(crate) async fn get_output_state(
    Authenticated(state, caller): Authenticated,
    Ids((bucket, id)): Ids<(BucketId, OutputId)>,
) -> Answer<OutputState> {
    Ok(Json(state.admin().output_state(&caller, bucket, id).await?))
}

/// Replace an output's settings, rules included. An absent name keeps the old one, and so
/// do absent `signing` and `auth`, which `null` takes away; any other absent field returns
/// to its default.
#[utoipa::path(
    put,
    path = "/v1/buckets/{id}/outputs/{detailed}",
    tag = "Outputs",
    params(
        ("id" = String, Path, description = "The bucket's ID", format = Uuid),
        ("detailed" = String, Path, description = "The output's ID", format = Uuid),
        ("allow_loop" = Option<bool>, Query,
            description = "Whether the destination may lead back into the same bucket"),
    ),
    request_body = Output,
    responses(
        (status = 200, description = "The output", body = Output),
        (status = 400, description = "The body is wrong; the text names the field", body = String),
        (status = 404, description = "The account has no such bucket or output", body = String),
        (status = 412, description = "The bucket has an output of this name, or the destination is \
            new and leads back into the bucket", body = String),
    ),
)]
pub(crate) async fn update_output(
    Authenticated(state, caller): Authenticated,
    Ids((bucket, id)): Ids<(BucketId, OutputId)>,
    Flags { allow_loop, .. }: Flags,
    JsonObject(spec): JsonObject<OutputSpec>,
) -> Answer<Output> {
    let caller = caller.allowing_loops(allow_loop);
    Ok(Json(state.admin().update_output(&caller, bucket, id, spec).await?))
}

/// Delete an output. What still waits for it is not sent any more.
#[utoipa::path(
    delete,
    path = "/v1/buckets/{id}/outputs/{detailed}",
    tag = "Outputs",
    params(
        ("id" = String, Path, description = "The bucket's ID", format = Uuid),
        ("detailed" = String, Path, description = "The output's ID", format = Uuid),
    ),
    responses(
        (status = 200, description = "Deleted", body = Response),
        (status = 400, description = "The request is wrong", body = String),
        (status = 404, description = "The account has no such bucket or output", body = String),
    ),
)]
pub(crate) async fn delete_output(
    Authenticated(state, caller): Authenticated,
    Ids((bucket, id)): Ids<(BucketId, OutputId)>,
) -> Answer<Response> {
    state.admin().delete_output(&caller, bucket, id).await?;
    Ok(Response::deleted(id))
}
