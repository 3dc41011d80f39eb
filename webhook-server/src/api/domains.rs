//! `/v1/domains`

use axum::Json;
use webhook_core::{
    DomainId,
    model::{Domain, DomainSpec},
};

use super::{Answer, CreatedAnswer, Response, created};
use crate::api::{
    auth::Authenticated,
    extract::{Ids, JsonObject, PageOf},
    query::PageRequest,
};

/// List the account's reserved domains, oldest first.
///
/// Inputs name one of them in `custom_domain`.
#[utoipa::path(
    get,
    path = "/v1/domains",
    params(PageRequest),
    responses(
        (status = 200, description = "The domains", body = Vec<Domain>),
        (status = 400, description = "The query is wrong, and the text names the field"),
    ),
)]
pub(crate) async fn list_domains(
    Authenticated(state, caller): Authenticated,
    PageOf(page): PageOf,
) -> Answer<Vec<Domain>> {
    Ok(Json(state.admin().list(&caller, page).await?))
}

/// Reserve a domain.
///
/// Requests that name it as their host come to the inputs that have it as their `custom_domain`. An
/// internationalised name is answered in its ASCII form.
#[utoipa::path(
    post,
    path = "/v1/domains",
    request_body = Domain,
    responses(
        (status = 201, description = "The domain", body = Domain),
        (status = 400, description = "The body is wrong, or it is no domain; the text names the \
            field"),
        (status = 412, description = "The domain is taken, or the account has all of its domains"),
        (status = 451, description = "The operator lets nobody reserve this domain, or domains are \
            not part of the plan"),
    ),
)]
pub(crate) async fn create_domain(
    Authenticated(state, caller): Authenticated,
    JsonObject(spec): JsonObject<DomainSpec>,
) -> CreatedAnswer<Domain> {
    Ok(created(state.admin().reserve_domain(&caller, spec).await?))
}

/// Give a domain back.
///
/// Requests that name it are webhooks no more.
#[utoipa::path(
    delete,
    path = "/v1/domains/{id}",
    responses(
        (status = 200, description = "Deleted", body = Response),
        (status = 412, description = "An input uses the domain"),
    ),
)]
pub(crate) async fn delete_domain(
    Authenticated(state, caller): Authenticated,
    Ids(id): Ids<DomainId>,
) -> Answer<Response> {
    state.admin().delete_domain(&caller, id).await?;
    Ok(Response::deleted(id))
}
