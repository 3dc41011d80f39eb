//! `/v1/domains`

use axum::{Json, http::StatusCode};
use webhook_core::{
    DomainId,
    model::{Domain, DomainSpec},
};

use super::{Answer, Response};
use crate::{
    auth::Authenticated,
    error::ApiError,
    extract::{Ids, JsonObject},
};

/// List the account's reserved domains, oldest first.
#[utoipa::path(
    get,
    path = "/v1/domains",
    tag = "Domains",
    responses((status = 200, description = "The domains", body = Vec<Domain>)),
)]
pub(crate) async fn list_domains(
    Authenticated(state, caller): Authenticated,
) -> Answer<Vec<Domain>> {
    Ok(Json(state.admin().domains(&caller).await?))
}

/// Reserve a domain: requests that name it as their host come to the inputs
/// that have it as their `custom_domain`. An internationalised name is answered
/// in its ASCII form.
#[utoipa::path(
    post,
    path = "/v1/domains",
    tag = "Domains",
    request_body = Domain,
    responses(
        (status = 201, description = "The domain", body = Domain),
        (status = 400, description = "The body is wrong, or it is no domain; the text names the \
            field", body = String),
        (status = 412, description = "The domain is taken, or the account has all of its domains",
            body = String),
        (status = 451, description = "The operator lets nobody reserve this domain, or domains \
            are not part of the plan", body = String),
    ),
)]
pub(crate) async fn create_domain(
    Authenticated(state, caller): Authenticated,
    JsonObject(spec): JsonObject<DomainSpec>,
) -> Result<(StatusCode, Json<Domain>), ApiError> {
    Ok((StatusCode::CREATED, Json(state.admin().reserve_domain(&caller, spec).await?)))
}

/// Give a domain back. Requests that name it are webhooks no more.
#[utoipa::path(
    delete,
    path = "/v1/domains/{id}",
    tag = "Domains",
    params(("id" = String, Path, description = "The domain's ID", format = Uuid)),
    responses(
        (status = 200, description = "Deleted", body = Response),
        (status = 404, description = "The account has no such domain", body = String),
        (status = 412, description = "An input uses the domain", body = String),
    ),
)]
pub(crate) async fn delete_domain(
    Authenticated(state, caller): Authenticated,
    Ids(id): Ids<DomainId>,
) -> Answer<Response> {
    state.admin().delete_domain(&caller, id).await?;
    Ok(Response::deleted(id))
}
