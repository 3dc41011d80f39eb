//! `/v1/replays`

use axum::{
    Json,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde::Deserialize;
use utoipa::IntoParams;
use webhook_core::{
    ReplayId,
    admin::Admin,
    model::{Replay, ReplayChange, ReplayPlan, ReplaySpec},
};

use super::Answer;
use crate::api::{
    auth::Authenticated,
    error::ApiError,
    extract::{Ids, JsonObject, QueryOf},
    query::{id, number},
};

/// Which replays are listed.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub(crate) struct ReplayQuery {
    /// Only older ones: the ID of the last replay of the page before
    before: String,
    /// How many; 25 when it is not said
    #[param(value_type = u64, minimum = 1, maximum = 100)]
    limit: String,
}

/// List replays, newest first.
///
/// Each has its state and the counts of its webhooks.
#[utoipa::path(
    get,
    path = "/v1/replays",
    params(ReplayQuery),
    responses((status = 200, description = "The replays", body = Vec<Replay>)),
)]
pub(crate) async fn list_replays(
    Authenticated(state, caller): Authenticated,
    QueryOf(query): QueryOf<ReplayQuery>,
) -> Answer<Vec<Replay>> {
    let before = id("before", &query.before)?;
    let limit = number("limit", &query.limit, 1..=Admin::MAX_REPLAYS, 25)?;
    Ok(Json(state.admin().replays(&caller, before, limit).await?))
}

/// Send many webhooks again: those whose logs pass the filter, no faster than the rate.
///
/// With `dry_run` nothing is sent: the answer says what would be.
#[utoipa::path(
    post,
    path = "/v1/replays",
    request_body = Replay,
    responses(
        (status = 200, description = "With `dry_run`: what it would do", body = ReplayPlan),
        (status = 201, description = "The replay", body = Replay),
        (status = 400, description = "The body is wrong, the text names the field; or nothing is \
            like the filter"),
        (status = 403, description = "The bucket is not in the access token's scope"),
        (status = 404, description = "The account has no such bucket"),
        (status = 412, description = "Another replay sends to one of its outputs"),
        (status = 429, description = "The account has 10 replays that are not over, or two \
            searches running"),
    ),
)]
pub(crate) async fn create_replay(
    Authenticated(state, caller): Authenticated,
    JsonObject(spec): JsonObject<ReplaySpec>,
) -> Result<Response, ApiError> {
    if spec.dry_run {
        let plan = state.admin().plan_replay(&caller, spec).await?;
        return Ok(Json(plan).into_response());
    }
    let replay = state.admin().create_replay(&caller, spec).await?;
    Ok((StatusCode::CREATED, Json(replay)).into_response())
}

/// Get a replay, with what came of its webhooks so far.
///
/// The counts say how many webhooks were found, sent, failed and withdrawn.
#[utoipa::path(
    get,
    path = "/v1/replays/{id}",
    responses((status = 200, description = "The replay", body = Replay)),
)]
pub(crate) async fn get_replay(
    Authenticated(state, caller): Authenticated,
    Ids(id): Ids<ReplayId>,
) -> Answer<Replay> {
    Ok(Json(state.admin().replay(&caller, id).await?))
}

/// Pause, resume or cancel a replay, or change its rate.
///
/// A field that is absent stays as it is. A cancelled replay withdraws the deliveries that have
/// not started.
#[utoipa::path(
    put,
    path = "/v1/replays/{id}",
    request_body = ReplayChange,
    responses(
        (status = 200, description = "The replay", body = Replay),
        (status = 412, description = "It is over"),
    ),
)]
pub(crate) async fn update_replay(
    Authenticated(state, caller): Authenticated,
    Ids(id): Ids<ReplayId>,
    JsonObject(change): JsonObject<ReplayChange>,
) -> Answer<Replay> {
    Ok(Json(state.admin().change_replay(&caller, id, change).await?))
}
