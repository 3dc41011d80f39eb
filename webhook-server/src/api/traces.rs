//! `/v1/logs/{id}/trace` and `/v1/logs/{id}/explain`: why a webhook is where it is.

use axum::Json;
use webhook_core::{
    DeliveryId,
    model::{ExplainRequest, Explained, Trace},
};

use super::Answer;
use crate::api::{
    auth::Authenticated,
    extract::{Ids, JsonObject},
};

/// Read why a webhook is where it is.
///
/// The trace says what was checked, what functions changed, which rule decided with the value that
/// it saw, and where the time of each attempt went. It is computed when it is read. Secrets are
/// masked; of ephemeral webhooks no values are told.
#[utoipa::path(
    get,
    path = "/v1/logs/{id}/trace",
    responses((status = 200, description = "The trace", body = Trace)),
)]
pub(crate) async fn get_trace(
    Authenticated(state, caller): Authenticated,
    Ids(id): Ids<DeliveryId>,
) -> Answer<Trace> {
    Ok(Json(state.admin().trace(&caller, id).await?))
}

/// What today's rules and function, or those that are given, would do with the webhook of a log.
///
/// The webhook is not sent; what the function itself sends or keeps is sent and kept.
#[utoipa::path(
    post,
    path = "/v1/logs/{id}/explain",
    request_body = ExplainRequest,
    responses(
        (status = 200, description = "What would become of it", body = Explained),
        (status = 403, description = "Its bucket is not in the access token's scope, or a function \
            is named with a scoped one"),
        (status = 404, description = "The account has no such log, or its bucket no such output"),
        (status = 412, description = "The content is erased"),
        (status = 429, description = "The account has too many functions running"),
    ),
)]
pub(crate) async fn explain_log(
    Authenticated(state, caller): Authenticated,
    Ids(id): Ids<DeliveryId>,
    JsonObject(request): JsonObject<ExplainRequest>,
) -> Answer<Explained> {
    Ok(Json(state.admin().explain(&caller, id, request).await?))
}
