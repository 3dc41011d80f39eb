//! `/v1/buckets/{id}/outputs/{output}/pause` and `/resume`

use axum::Json;
use webhook_core::{
    BucketId, OutputId,
    model::{Output, PauseRequest, ResumeRequest},
};

use super::Answer;
use crate::{
    auth::Authenticated,
    extract::{Ids, OptionalObject},
};

/// Pause an output. What waits for it and what is received for it waits until it is
/// resumed; no deadline comes nearer meanwhile, and senders are answered at once. Of an
/// output that is paused the end and the reason change.
#[utoipa::path(
    put,
    path = "/v1/buckets/{id}/outputs/{detailed}/pause",
    tag = "Outputs",
    params(
        ("id" = String, Path, description = "The bucket's ID", format = Uuid),
        ("detailed" = String, Path, description = "The output's ID", format = Uuid),
    ),
    request_body = PauseRequest,
    responses(
        (status = 200, description = "The output", body = Output),
        (status = 400, description = "The body is wrong, the end has passed, or the output is \
            internal; the text names the field", body = String),
        (status = 404, description = "The account has no such bucket or output", body = String),
    ),
)]
pub(crate) async fn pause_output(
    Authenticated(state, caller): Authenticated,
    Ids((bucket, id)): Ids<(BucketId, OutputId)>,
    OptionalObject(request): OptionalObject<PauseRequest>,
) -> Answer<Output> {
    Ok(Json(state.admin().pause_output(&caller, bucket, id, request).await?))
}

/// Resume an output. What waited leaves in the order of receipt, at `rate` or ever faster;
/// webhooks that are received from now on are not held back. Nothing happens to an output
/// that is not paused.
#[utoipa::path(
    put,
    path = "/v1/buckets/{id}/outputs/{detailed}/resume",
    tag = "Outputs",
    params(
        ("id" = String, Path, description = "The bucket's ID", format = Uuid),
        ("detailed" = String, Path, description = "The output's ID", format = Uuid),
    ),
    request_body = ResumeRequest,
    responses(
        (status = 200, description = "The output", body = Output),
        (status = 400, description = "The body is wrong; the text names the field", body = String),
        (status = 404, description = "The account has no such bucket or output", body = String),
    ),
)]
pub(crate) async fn resume_output(
    Authenticated(state, caller): Authenticated,
    Ids((bucket, id)): Ids<(BucketId, OutputId)>,
    OptionalObject(request): OptionalObject<ResumeRequest>,
) -> Answer<Output> {
    Ok(Json(state.admin().resume_output(&caller, bucket, id, request).await?))
}
