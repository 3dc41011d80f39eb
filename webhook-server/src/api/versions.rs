//! `/v1/functions/{id}/versions` and `/v1/functions/{id}/duplicate`

use axum::{Json, http::StatusCode};
use serde::Deserialize;
use utoipa::ToSchema;
use webhook_core::{
    Error, FunctionId,
    model::{Function, FunctionVersion},
};

use super::Answer;
use crate::{
    auth::Authenticated,
    error::ApiError,
    extract::{JsonObject, KnownIds},
    query,
};

/// The name of a copy.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default)]
pub(crate) struct DuplicateFunctionRequest {
    /// For people; it must not be empty.
    name: String,
}

fn number(version: &str) -> Result<u32, Error> {
    query::number("version", version, 1..=u32::MAX, 0)
}

/// List the versions of a function's source, without the sources, the newest first, which is
/// what the function has. A version is made when the source or its language changes; the newest
/// 100 are kept.
#[utoipa::path(
    get,
    path = "/v1/functions/{id}/versions",
    tag = "Functions",
    params(("id" = String, Path, description = "The function's ID", format = Uuid)),
    responses(
        (status = 200, description = "The versions", body = Vec<FunctionVersion>),
        (status = 400, description = "The account has no such function", body = String),
    ),
)]
pub(crate) async fn list_versions(
    Authenticated(state, caller): Authenticated,
    KnownIds(id): KnownIds<FunctionId>,
) -> Answer<Vec<FunctionVersion>> {
    Ok(Json(state.admin().function_versions(&caller, id).await?))
}

/// Read a version of a function with its source.
#[utoipa::path(
    get,
    path = "/v1/functions/{id}/versions/{version}",
    tag = "Functions",
    params(
        ("id" = String, Path, description = "The function's ID", format = Uuid),
        ("version" = u32, Path, description = "The version's number", minimum = 1),
    ),
    responses(
        (status = 200, description = "The version", body = FunctionVersion),
        (status = 400, description = "The account has no such function, or it no such version",
            body = String),
    ),
)]
pub(crate) async fn get_version(
    Authenticated(state, caller): Authenticated,
    KnownIds((id, version)): KnownIds<(FunctionId, String)>,
) -> Answer<FunctionVersion> {
    Ok(Json(state.admin().function_version(&caller, id, number(&version)?).await?))
}

/// Give a function the source of one of its versions again. The source is checked as in an
/// update; the name, labels, variables and runs stay. Unless it is what the function has, this
/// is a new version.
#[utoipa::path(
    post,
    path = "/v1/functions/{id}/versions/{version}/restore",
    tag = "Functions",
    params(
        ("id" = String, Path, description = "The function's ID", format = Uuid),
        ("version" = u32, Path, description = "The version's number", minimum = 1),
    ),
    responses(
        (status = 200, description = "The function", body = Function),
        (status = 400, description = "The source does not compile any more, and the text names \
            the line; the account has no such function, or it no such version", body = String),
    ),
)]
pub(crate) async fn restore_version(
    Authenticated(state, caller): Authenticated,
    KnownIds((id, version)): KnownIds<(FunctionId, String)>,
) -> Answer<Function> {
    Ok(Json(state.admin().restore_function(&caller, id, number(&version)?).await?))
}

/// Make a function like this one, with another name: its source, labels and variables are
/// copied; its runs, its versions and what it remembers are not.
#[utoipa::path(
    post,
    path = "/v1/functions/{id}/duplicate",
    tag = "Functions",
    params(("id" = String, Path, description = "The function's ID", format = Uuid)),
    request_body = DuplicateFunctionRequest,
    responses(
        (status = 201, description = "The copy", body = Function),
        (status = 400, description = "The body is wrong, and the text names the field; the \
            account has no such function, or all of its functions", body = String),
        (status = 412, description = "The plan's number of functions is used up", body = String),
    ),
)]
pub(crate) async fn duplicate_function(
    Authenticated(state, caller): Authenticated,
    KnownIds(id): KnownIds<FunctionId>,
    JsonObject(request): JsonObject<DuplicateFunctionRequest>,
) -> Result<(StatusCode, Json<Function>), ApiError> {
    let copy = state.admin().duplicate_function(&caller, id, request.name).await?;
    Ok((StatusCode::CREATED, Json(copy)))
}
