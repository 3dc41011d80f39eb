//! Running functions, and the logs of their runs.

use axum::Json;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};
use webhook_core::{
    Error, ExecutionId, FunctionId,
    admin::{ExecutionQuery, ExecutionsPage},
    model::{CompareRequest, Comparison, Execution, InvokeRequest, TryRequest},
};

use super::Answer;
use crate::api::{
    auth::Authenticated,
    extract::{JsonObject, KnownIds, OptionalObject, QueryOf},
    query,
};

/// A page of a function's runs.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ExecuteLogList)]
pub(crate) struct ExecuteLogs {
    /// The runs, newest first.
    execute_logs: Vec<Execution>,
    /// How many are kept in all.
    total: usize,
    /// How many were asked for.
    limit: usize,
    /// How many were skipped.
    offset: usize,
}

/// Run a function once on a request that you give, and see what it does.
///
/// Nothing is forwarded. The body may be left out. The answer is an `ExecuteResponse`: what the
/// function left, what of it it has changed, whether it stops the webhook, what it printed, how
/// many
/// milliseconds it took (`duration_ms`), and the error when it failed.
#[utoipa::path(
    post,
    path = "/v1/functions/{id}/invoke",
    request_body = InvokeRequest,
    responses(
        (status = 200, description = "What it left, or why it failed", body = Object),
        (status = 400, description = "The body is wrong, and the text names the field; or the \
            account has no such function"),
        (status = 429, description = "The account runs too many functions through the API"),
    ),
)]
pub(crate) async fn invoke_function(
    Authenticated(state, caller): Authenticated,
    KnownIds(id): KnownIds<FunctionId>,
    OptionalObject(request): OptionalObject<InvokeRequest>,
) -> Answer<Value> {
    Ok(Json(state.admin().invoke(&caller, id, request).await?))
}

/// Run a source once on a request that you give, before you make a function of it.
///
/// The source has no variables, sends no requests and keeps no values, and the run is not recorded.
/// The answer is that of a function that is run.
#[utoipa::path(
    post,
    path = "/v1/functions-invoke",
    request_body = TryRequest,
    responses(
        (status = 200, description = "What it left, or why it failed", body = Object),
        (status = 400, description = "The source does not compile, or the body is wrong, and the \
            text names the field"),
        (status = 429, description = "The account runs too many functions through the API"),
    ),
)]
pub(crate) async fn try_function(
    Authenticated(state, caller): Authenticated,
    OptionalObject(request): OptionalObject<TryRequest>,
) -> Answer<Value> {
    Ok(Json(state.admin().try_function(&caller, request).await?))
}

/// Run a candidate for a function on stored webhooks, and compare it with the saved function.
///
/// They are the newest webhooks of the outputs that the function is attached to, as they came to
/// it. The answer says how many of them the candidate changes, stops or fails on, and shows the
/// first with which it does something else than the saved function. Nothing is stored or sent:
/// requests of a function are refused, and values that it keeps are thrown away. A call looks at
/// webhooks within the bounds of a search: ask again with `next_cursor`.
#[utoipa::path(
    post,
    path = "/v1/functions/{id}/compare",
    request_body = CompareRequest,
    responses(
        (status = 200, description = "What the candidate does", body = Comparison),
        (status = 400, description = "The source does not compile, or the body is wrong, and the \
            text names the field; or the account has no such function"),
        (status = 429, description = "The account runs too many functions through the API, or has \
            two searches running"),
    ),
)]
pub(crate) async fn compare_function(
    Authenticated(state, caller): Authenticated,
    KnownIds(id): KnownIds<FunctionId>,
    JsonObject(request): JsonObject<CompareRequest>,
) -> Answer<Comparison> {
    Ok(Json(state.admin().compare_function(&caller, id, request).await?))
}

/// Which runs. Empty text says nothing.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub(crate) struct ExecutionRequest {
    /// How many; 25 when it is not said
    #[param(value_type = u64, minimum = 1, maximum = 100)]
    limit: String,
    /// How many runs to skip
    #[param(value_type = u64)]
    offset: String,
}

impl ExecutionRequest {
    fn read(&self) -> Result<ExecutionQuery, Error> {
        let mut query = ExecutionQuery::default();
        let limits = 1..=ExecutionQuery::MAX_LIMIT;
        query.limit = query::number("limit", &self.limit, limits, query.limit)?;
        let offsets = 0..=ExecutionQuery::MAX_OFFSET;
        query.offset = query::number("offset", &self.offset, offsets, query.offset)?;
        Ok(query)
    }
}

/// List the runs of a function, newest first.
///
/// A run has what the function printed, how long it took, and the error when it failed.
#[utoipa::path(
    get,
    path = "/v1/functions/{id}/logs",
    params(ExecutionRequest),
    responses(
        (status = 200, description = "A page of runs", body = ExecuteLogs),
        (status = 400, description = "The query is wrong, and the text names the field; or the \
            account has no such function"),
    ),
)]
pub(crate) async fn list_runs(
    Authenticated(state, caller): Authenticated,
    KnownIds(id): KnownIds<FunctionId>,
    QueryOf(request): QueryOf<ExecutionRequest>,
) -> Answer<ExecuteLogs> {
    let page = state.admin().executions(&caller, id, &request.read()?).await?;
    let ExecutionsPage { executions, total, limit, offset } = page;
    Ok(Json(ExecuteLogs { execute_logs: executions, total, limit, offset }))
}

/// Read one run of a function.
///
/// A run of another function is 404.
#[utoipa::path(
    get,
    path = "/v1/functions/{id}/logs/{log_id}",
    responses(
        (status = 200, description = "The run", body = Execution),
        (status = 400, description = "The account has no such function, or it no such run"),
    ),
)]
pub(crate) async fn get_run_of_function(
    Authenticated(state, caller): Authenticated,
    KnownIds((function, id)): KnownIds<(FunctionId, ExecutionId)>,
) -> Answer<Execution> {
    Ok(Json(state.admin().execution_of(&caller, function, id).await?))
}

/// Read one run of a function by its ID alone.
///
/// A log names it as `input_function_execution_id` or `output_function_execution_id`. It has what
/// the function printed, how long it took, and the error when it failed.
#[utoipa::path(
    get,
    path = "/v1/exec-logs/{id}",
    responses((status = 200, description = "The run", body = Execution)),
)]
pub(crate) async fn get_run(
    Authenticated(state, caller): Authenticated,
    KnownIds(id): KnownIds<ExecutionId>,
) -> Answer<Execution> {
    Ok(Json(state.admin().execution(&caller, id).await?))
}
