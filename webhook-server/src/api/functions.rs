//! `/v1/functions`

use axum::Json;
use serde::Serialize;
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{RefOr, schema::Schema},
};
use webhook_core::{
    FunctionId,
    model::{Function, FunctionSpec},
};

use super::{Answer, CreatedAnswer, Tagged, TaggedAnswer, created};
use crate::api::{
    auth::Authenticated,
    compatibility::as_sent,
    extract::{JsonObject, KnownIds, PageOf},
    query::PageRequest,
};

/// A new function.
pub(crate) struct CreateFunctionRequest;

/// What becomes of a function.
pub(crate) struct UpdateFunctionRequest;

/// That a function, or a variable of one, is gone.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DeleteFunctionResponse {}

/// List the account's functions, oldest first.
///
/// Their variables, versions and runs have operations of their own.
#[utoipa::path(
    get,
    path = "/v1/functions",
    params(PageRequest),
    responses(
        (status = 200, description = "The functions", body = Vec<Function>),
        (status = 400, description = "The query is wrong, and the text names the field"),
    ),
)]
pub(crate) async fn list_functions(
    Authenticated(state, caller): Authenticated,
    PageOf(page): PageOf,
) -> Answer<Vec<Function>> {
    let functions = state.admin().list(&caller, page).await?.into_iter();
    Ok(Json(functions.map(|function| as_sent(&state, function)).collect()))
}

/// Make a function.
///
/// `payload` is its source, or base64 of it; it must compile.
#[utoipa::path(
    post,
    path = "/v1/functions",
    request_body = CreateFunctionRequest,
    responses(
        (status = 201, description = "The function", body = Function),
        (status = 400, description = "The body is wrong, and the text names the field; the source \
            does not compile, and the text names the line; or the account has all of its \
            functions"),
        (status = 412, description = "The plan's number of functions is used up"),
    ),
)]
pub(crate) async fn create_function(
    Authenticated(state, caller): Authenticated,
    JsonObject(spec): JsonObject<FunctionSpec>,
) -> CreatedAnswer<Function> {
    Ok(created(as_sent(&state, state.admin().create_function(&caller, spec).await?)))
}

/// Read a function with its source.
///
/// The header `ETag` has its version, which an update can name in `If-Match`.
#[utoipa::path(
    get,
    path = "/v1/functions/{id}",
    responses((status = 200, description = "The function", body = Function)),
)]
pub(crate) async fn get_function(
    Authenticated(state, caller): Authenticated,
    KnownIds(id): KnownIds<FunctionId>,
) -> TaggedAnswer<Function> {
    Ok(Tagged(as_sent(&state, state.admin().function(&caller, id).await?)))
}

/// Replace a function.
///
/// An absent name keeps the old one, variables and runs stay; the next webhook meets the new
/// source.
#[utoipa::path(
    put,
    path = "/v1/functions/{id}",
    request_body = UpdateFunctionRequest,
    responses(
        (status = 200, description = "The function", body = Function),
        (status = 400, description = "The body is wrong, and the text names the field; the source \
            does not compile, and the text names the line; or the account has no such function"),
    ),
)]
pub(crate) async fn update_function(
    Authenticated(state, caller): Authenticated,
    KnownIds(id): KnownIds<FunctionId>,
    JsonObject(spec): JsonObject<FunctionSpec>,
) -> TaggedAnswer<Function> {
    Ok(Tagged(as_sent(&state, state.admin().update_function(&caller, id, spec).await?)))
}

/// Delete a function with its variables and the logs of its runs.
///
/// One that an input or output uses is not deleted, because without it that would fail every
/// webhook: detach it first.
#[utoipa::path(
    delete,
    path = "/v1/functions/{id}",
    responses(
        (status = 200, description = "Deleted", body = DeleteFunctionResponse),
        (status = 400, description = "The account has no such function, or an input or output uses \
            it, which the text names"),
    ),
)]
pub(crate) async fn delete_function(
    Authenticated(state, caller): Authenticated,
    KnownIds(id): KnownIds<FunctionId>,
) -> Answer<DeleteFunctionResponse> {
    state.admin().delete_function(&caller, id).await?;
    Ok(Json(DeleteFunctionResponse {}))
}

/// The interface has a name of its own for the same fields in each operation.
macro_rules! same_as_the_spec {
    ($name:ident) => {
        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                FunctionSpec::schema()
            }
        }

        impl ToSchema for $name {
            fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
                FunctionSpec::schemas(schemas);
            }
        }
    };
}

same_as_the_spec!(CreateFunctionRequest);
same_as_the_spec!(UpdateFunctionRequest);
