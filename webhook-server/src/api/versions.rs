//! `/v1/functions/{id}/versions` and `/v1/functions/{id}/duplicate`

use axum::Json;
use serde::Deserialize;
use utoipa::ToSchema;
use webhook_core::{
    Error, FunctionId,
    model::{Function, FunctionVersion},
};

use super::{Answer, CreatedAnswer, Tagged, TaggedAnswer, created};
use crate::api::{
    auth::Authenticated,
    compatibility::as_sent,
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

/// List the versions of a function, without their sources, newest first.
///
/// The first one is what the function has. A version is made when the source or its language
/// changes; the newest 100 are kept.
#[utoipa::path(
    get,
    path = "/v1/functions/{id}/versions",
    responses((status = 200, description = "The versions", body = Vec<FunctionVersion>)),
)]
pub(crate) async fn list_versions(
    Authenticated(state, caller): Authenticated,
    KnownIds(id): KnownIds<FunctionId>,
) -> Answer<Vec<FunctionVersion>> {
    Ok(Json(state.admin().function_versions(&caller, id).await?))
}

/// Read a version of a function with its source.
///
/// Versions are numbered from 1.
#[utoipa::path(
    get,
    path = "/v1/functions/{id}/versions/{version}",
    params(("version" = u32, Path, description = "The version's number", minimum = 1)),
    responses(
        (status = 200, description = "The version", body = FunctionVersion),
        (status = 400, description = "The account has no such function, or it no such version"),
    ),
)]
pub(crate) async fn get_version(
    Authenticated(state, caller): Authenticated,
    KnownIds((id, version)): KnownIds<(FunctionId, String)>,
) -> Answer<FunctionVersion> {
    Ok(Json(state.admin().function_version(&caller, id, number(&version)?).await?))
}

/// Give a function the source of one of its versions again.
///
/// The source is checked as in an update; the name, labels, variables and runs stay. Unless it is
/// what the function has, this is a new version.
#[utoipa::path(
    post,
    path = "/v1/functions/{id}/versions/{version}/restore",
    params(("version" = u32, Path, description = "The version's number", minimum = 1)),
    responses(
        (status = 200, description = "The function", body = Function),
        (status = 400, description = "The source does not compile any more, and the text names the \
            line; the account has no such function, or it no such version"),
    ),
)]
pub(crate) async fn restore_version(
    Authenticated(state, caller): Authenticated,
    KnownIds((id, version)): KnownIds<(FunctionId, String)>,
) -> TaggedAnswer<Function> {
    let function = state.admin().restore_function(&caller, id, number(&version)?).await?;
    Ok(Tagged(as_sent(&state, function)))
}

/// Make a function like this one, with another name.
///
/// The source, labels and variables are copied. Runs, versions and what the function remembers are
/// not. Inputs and outputs continue to use the function that they name.
#[utoipa::path(
    post,
    path = "/v1/functions/{id}/duplicate",
    request_body = DuplicateFunctionRequest,
    responses(
        (status = 201, description = "The copy", body = Function),
        (status = 400, description = "The body is wrong, and the text names the field; the account \
            has no such function, or all of its functions"),
        (status = 412, description = "The plan's number of functions is used up"),
    ),
)]
pub(crate) async fn duplicate_function(
    Authenticated(state, caller): Authenticated,
    KnownIds(id): KnownIds<FunctionId>,
    JsonObject(request): JsonObject<DuplicateFunctionRequest>,
) -> CreatedAnswer<Function> {
    let copy = state.admin().duplicate_function(&caller, id, request.name).await?;
    Ok(created(as_sent(&state, copy)))
}
