//! `/v1/functions/{id}/config`

use axum::{Json, http::Uri};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use webhook_core::{
    FunctionId,
    model::{self, Secret},
};

use super::{Answer, functions::DeleteFunctionResponse, time};
use crate::api::{
    auth::Authenticated,
    extract::{JsonObject, KnownIds, PageOf},
    query::PageRequest,
};

/// A variable that a function reads with `cfg`. It is encrypted at rest.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Variable {
    /// Its name, unique in the function.
    key: String,
    /// Its value.
    #[schema(value_type = String)]
    value: Secret,
    /// The function.
    #[schema(read_only, format = Uuid)]
    function_id: String,
    /// When it was first set.
    #[schema(read_only, format = DateTime)]
    created_at: String,
    /// When it was last set.
    #[schema(read_only, format = DateTime)]
    updated_at: String,
}

/// What a caller may write of a variable.
#[derive(Debug, Deserialize)]
pub(crate) struct WrittenVariable {
    key: String,
    #[serde(default)]
    value: Secret,
}

/// List a function's variables with their values, in the order of their keys.
///
/// The function reads them while it runs. Their values are stored encrypted when the server has a
/// key for that.
#[utoipa::path(
    get,
    path = "/v1/functions/{id}/config",
    params(PageRequest),
    responses(
        (status = 200, description = "The variables", body = Vec<Variable>),
        (status = 400, description = "The query is wrong, and the text names the field; or the \
            account has no such function"),
    ),
)]
pub(crate) async fn list_variables(
    Authenticated(state, caller): Authenticated,
    KnownIds(id): KnownIds<FunctionId>,
    PageOf(page): PageOf,
) -> Answer<Vec<Variable>> {
    // A function has few.
    let variables = state.admin().variables(&caller, id).await?;
    Ok(Json(page.of(variables.into_iter()).map(Variable::from).collect()))
}

/// Set a variable of a function; the next run reads it.
///
/// A key that exists gets the new value.
#[utoipa::path(
    put,
    path = "/v1/functions/{id}/config",
    request_body = Variable,
    responses(
        (status = 200, description = "The variable", body = Variable),
        (status = 400, description = "The body is wrong, and the text names the field; the \
            function has all of its variables; or the account has no such function"),
    ),
)]
pub(crate) async fn put_variable(
    Authenticated(state, caller): Authenticated,
    KnownIds(id): KnownIds<FunctionId>,
    JsonObject(WrittenVariable { key, value }): JsonObject<WrittenVariable>,
) -> Answer<Variable> {
    Ok(Json(state.admin().put_variable(&caller, id, key, value).await?.into()))
}

/// Remove a variable of a function.
///
/// A key may have slashes, escaped or not; a client may escape those of the path as well.
#[utoipa::path(
    delete,
    path = "/v1/functions/{id}/config/{key}",
    params(("key" = String, Path, description = "The variable's key")),
    responses(
        (status = 200, description = "Removed", body = DeleteFunctionResponse),
        (status = 400, description = "The account has no such function, or it no such variable"),
    ),
)]
pub(crate) async fn delete_variable(
    Authenticated(state, caller): Authenticated,
    KnownIds((id, key)): KnownIds<(FunctionId, String)>,
) -> Answer<DeleteFunctionResponse> {
    state.admin().delete_variable(&caller, id, &key).await?;
    Ok(Json(DeleteFunctionResponse {}))
}

impl From<model::Variable> for Variable {
    fn from(variable: model::Variable) -> Self {
        let model::Variable { key, value, function_id, created_at, updated_at } = variable;
        Self {
            key,
            value,
            function_id: function_id.to_string(),
            created_at: time::rfc3339(created_at),
            updated_at: time::rfc3339(updated_at),
        }
    }
}

/// The path that is meant, where it is that of a variable: clients escape the
/// slashes of the whole path as `%2F`, and keys may have some. None when it is
/// written as the route has it already, or is not of this kind.
pub(crate) fn meant(uri: &Uri) -> Option<Uri> {
    let path = uri.path();
    let plain = path.replace("%2F", "/").replace("%2f", "/");
    let (id, key) = plain.strip_prefix("/v1/functions/")?.split_once("/config/")?;
    if id.contains('/') || key.is_empty() {
        return None;
    }
    let path_and_query = format!("/v1/functions/{id}/config/{}", key.replace('/', "%2F"));
    if path_and_query == path {
        return None;
    }
    let path_and_query = match uri.query() {
        Some(query) => format!("{path_and_query}?{query}"),
        None => path_and_query,
    };
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(path_and_query.parse().ok()?);
    Uri::from_parts(parts).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaped_slashes() {
        let meant = |path: &str| {
            let meant = meant(&path.parse().expect(path));
            meant.map(|uri| uri.to_string())
        };
        for path in [
            "/v1/functions%2Fid%2Fconfig%2Fa%2Fb",
            "/v1/functions/id%2fconfig%2fa/b",
            "/v1%2Ffunctions%2Fid/config/a%2fb",
            "/v1/functions/id/config/a/b",
        ] {
            assert_eq!(meant(path).as_deref(), Some("/v1/functions/id/config/a%2Fb"), "{path}");
        }
        let query = "/v1/functions/id/config/a/b?x=1%2F2";
        assert_eq!(meant(query).as_deref(), Some("/v1/functions/id/config/a%2Fb?x=1%2F2"));
        for path in [
            "/v1/functions/id/config/a%2Fb",
            "/v1/functions/id/config/a%252Fb",
            "/v1/functions/id/config",
            "/v1/functions/id/config/",
            "/v1/functions/a/b/config/c",
            "/v1/buckets%2Fid",
            "/v1/webhooks/id/v1/functions/id/config/a%2Fb",
        ] {
            assert_eq!(meant(path), None, "{path}");
        }
    }
}
