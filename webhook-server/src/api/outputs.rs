//! `/v1/buckets/{id}/outputs`, and the rules and pauses of an output.

use axum::Json;
use webhook_core::{
    BucketId, OutputId, Rules,
    model::{Output, OutputSpec, OutputState, PauseRequest, ResumeRequest},
};

use super::{Answer, CreatedAnswer, Response, Tagged, TaggedAnswer, created};
use crate::api::{
    auth::Authenticated,
    compatibility::Spec,
    extract::{Flags, Ids, JsonObject, OptionalObject},
};

/// Make an output.
///
/// Webhooks received from then on are forwarded to it.
#[utoipa::path(
    post,
    path = "/v1/buckets/{id}/outputs",
    params(
        ("allow_loop" = Option<bool>, Query,
            description = "Whether the destination may lead back into the same bucket"),
    ),
    request_body = Output,
    responses(
        (status = 201, description = "The output", body = Output),
        (status = 402, description = "The plan's outputs are used up"),
        (status = 412, description = "The bucket has an output of this name, or all of its \
            outputs, or the destination leads back into the bucket"),
    ),
)]
pub(crate) async fn create_output(
    Authenticated(state, caller): Authenticated,
    Ids(bucket): Ids<BucketId>,
    Flags { allow_loop, .. }: Flags,
    Spec(spec): Spec<OutputSpec>,
) -> CreatedAnswer<Output> {
    let caller = caller.allowing_loops(allow_loop);
    Ok(created(state.admin().create_output(&caller, bucket, spec).await?))
}

/// Read the state of an output.
///
/// It says how many webhooks wait for the output, since when, and whether its circuit is open at
/// this server. Lists of outputs do not have it.
#[utoipa::path(
    get,
    path = "/v1/buckets/{id}/outputs/{detailed}/state",
    responses((status = 200, description = "How it stands", body = OutputState)),
)]
pub(crate) async fn get_output_state(
    Authenticated(state, caller): Authenticated,
    Ids((bucket, id)): Ids<(BucketId, OutputId)>,
) -> Answer<OutputState> {
    Ok(Json(state.admin().output_state(&caller, bucket, id).await?))
}

/// Get an output of a bucket, with its version as `ETag`.
///
/// An update can name that version in `If-Match`, and is refused when the output has changed since.
#[utoipa::path(
    get,
    path = "/v1/buckets/{id}/outputs/{detailed}",
    responses((status = 200, description = "The output", body = Output)),
)]
pub(crate) async fn get_output(
    Authenticated(state, caller): Authenticated,
    Ids((bucket, id)): Ids<(BucketId, OutputId)>,
) -> TaggedAnswer<Output> {
    Ok(Tagged(state.admin().output(&caller, bucket, id).await?))
}

/// Replace an output's settings, rules included.
///
/// An absent name keeps the old one, and so do absent `signing` and `auth`, which `null` takes
/// away; any other absent field returns to its default.
#[utoipa::path(
    put,
    path = "/v1/buckets/{id}/outputs/{detailed}",
    params(
        ("allow_loop" = Option<bool>, Query,
            description = "Whether the destination may lead back into the same bucket"),
    ),
    request_body = Output,
    responses(
        (status = 200, description = "The output", body = Output),
        (status = 412, description = "The bucket has an output of this name, or the destination is \
            new and leads back into the bucket"),
    ),
)]
pub(crate) async fn update_output(
    Authenticated(state, caller): Authenticated,
    Ids((bucket, id)): Ids<(BucketId, OutputId)>,
    Flags { allow_loop, .. }: Flags,
    Spec(spec): Spec<OutputSpec>,
) -> TaggedAnswer<Output> {
    let caller = caller.allowing_loops(allow_loop);
    Ok(Tagged(state.admin().update_output(&caller, bucket, id, spec).await?))
}

/// Delete an output.
///
/// What still waits for it is not sent any more.
#[utoipa::path(
    delete,
    path = "/v1/buckets/{id}/outputs/{detailed}",
    responses(
        (status = 200, description = "Deleted", body = Response),
        (status = 400, description = "The request is wrong"),
    ),
)]
pub(crate) async fn delete_output(
    Authenticated(state, caller): Authenticated,
    Ids((bucket, id)): Ids<(BucketId, OutputId)>,
) -> Answer<Response> {
    state.admin().delete_output(&caller, bucket, id).await?;
    Ok(Response::deleted(id))
}

/// Replace the filtering rules of an output, and nothing else of it.
///
/// `{}` lets every webhook pass.
#[utoipa::path(
    put,
    path = "/v1/buckets/{id}/outputs/{detailed}/rules",
    request_body(content = ref("#/components/schemas/Rules"),
        description = "`{}`, or one of `and`, `or`, `not`, `match`"),
    responses(
        (status = 200, description = "The output", body = Output),
        (status = 400, description = "The rules are wrong; the text says where"),
    ),
)]
pub(crate) async fn put_rules(
    Authenticated(state, caller): Authenticated,
    Ids((bucket, id)): Ids<(BucketId, OutputId)>,
    JsonObject(rules): JsonObject<Rules>,
) -> TaggedAnswer<Output> {
    Ok(Tagged(state.admin().put_rules(&caller, bucket, id, rules).await?))
}

/// Remove the filtering rules of an output: it gets every webhook from then on.
///
/// Nothing else of the output changes.
#[utoipa::path(
    delete,
    path = "/v1/buckets/{id}/outputs/{detailed}/rules",
    responses(
        (status = 200, description = "The output", body = Output),
        (status = 400, description = "The request is wrong"),
    ),
)]
pub(crate) async fn delete_rules(
    Authenticated(state, caller): Authenticated,
    Ids((bucket, id)): Ids<(BucketId, OutputId)>,
) -> TaggedAnswer<Output> {
    Ok(Tagged(state.admin().delete_rules(&caller, bucket, id).await?))
}

/// Pause an output.
///
/// Its waiting deliveries, and webhooks that are received for it, wait until it is resumed. No
/// deadline comes nearer during the pause, and senders are answered immediately. If the output is
/// paused already, the end and the reason of that pause change.
#[utoipa::path(
    put,
    path = "/v1/buckets/{id}/outputs/{detailed}/pause",
    request_body = PauseRequest,
    responses(
        (status = 200, description = "The output", body = Output),
        (status = 400, description = "The body is wrong, the end has passed, or the output is \
            internal; the text names the field"),
    ),
)]
pub(crate) async fn pause_output(
    Authenticated(state, caller): Authenticated,
    Ids((bucket, id)): Ids<(BucketId, OutputId)>,
    OptionalObject(request): OptionalObject<PauseRequest>,
) -> TaggedAnswer<Output> {
    Ok(Tagged(state.admin().pause_output(&caller, bucket, id, request).await?))
}

/// Resume an output.
///
/// What waited leaves in the order of receipt, at `rate` or ever faster; webhooks that are received
/// from now on are not held back. Nothing happens to an output that is not paused.
#[utoipa::path(
    put,
    path = "/v1/buckets/{id}/outputs/{detailed}/resume",
    request_body = ResumeRequest,
    responses((status = 200, description = "The output", body = Output)),
)]
pub(crate) async fn resume_output(
    Authenticated(state, caller): Authenticated,
    Ids((bucket, id)): Ids<(BucketId, OutputId)>,
    OptionalObject(request): OptionalObject<ResumeRequest>,
) -> TaggedAnswer<Output> {
    Ok(Tagged(state.admin().resume_output(&caller, bucket, id, request).await?))
}
