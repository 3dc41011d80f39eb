//! All routes of the server except those of webhooks, which [`edge`](crate::listen::edge) takes.

use std::sync::Arc;

use axum::{
    Router,
    extract::{Request, State},
    http::{Method, StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse, Redirect, Response},
    routing::{any, get},
};
use utoipa::OpenApi;
use utoipa_axum::{router::OpenApiRouter, routes};
use webhook_core::{Error, model::Secret};

use crate::{
    api::{
        account, auth, billing, buckets, checkout, clients, config, crons, domains, erasures,
        error::{ApiError, NOSNIFF, text},
        events, functions, generate, inputs, logs, notifications, outputs, replays, runs,
        signature_providers, stripe_webhook, tokens, traces, usage, variables, versions,
    },
    openapi::Document,
    pages::{self, dev, docs, scrape},
    socket,
    state::AppState,
};

/// The management operations. The OpenAPI document is made from them.
pub(crate) fn operations() -> OpenApiRouter<AppState> {
    OpenApiRouter::with_openapi(Document::openapi())
        .routes(routes!(
            account::get_api_key,
            account::update_api_key_status,
            account::regenerate_api_key
        ))
        .routes(routes!(buckets::list_buckets, buckets::create_bucket))
        .routes(routes!(buckets::get_bucket, buckets::update_bucket, buckets::delete_bucket))
        .routes(routes!(inputs::create_input))
        .routes(routes!(inputs::get_input, inputs::update_input, inputs::delete_input))
        .routes(routes!(inputs::check_signature))
        .routes(routes!(signature_providers::list_signature_providers))
        .routes(routes!(outputs::create_output))
        .routes(routes!(outputs::get_output, outputs::update_output, outputs::delete_output))
        .routes(routes!(outputs::get_output_state))
        .routes(routes!(outputs::pause_output))
        .routes(routes!(outputs::resume_output))
        .routes(routes!(outputs::put_rules, outputs::delete_rules))
        .routes(routes!(logs::list_logs))
        .routes(routes!(logs::get_log, logs::report_log, logs::erase_log))
        .routes(routes!(erasures::create_erasure))
        .routes(routes!(erasures::get_erasure))
        .routes(routes!(logs::act_on_log))
        .routes(routes!(traces::get_trace))
        .routes(routes!(traces::explain_log))
        .routes(routes!(logs::get_bucket_log))
        .routes(routes!(logs::log_stats))
        .routes(routes!(logs::log_histogram))
        .routes(routes!(replays::list_replays, replays::create_replay))
        .routes(routes!(replays::get_replay, replays::update_replay))
        .routes(routes!(events::take_events))
        .routes(routes!(events::acknowledge_events))
        .routes(routes!(tokens::list_tokens, tokens::create_token))
        .routes(routes!(tokens::update_token, tokens::delete_token))
        .routes(routes!(functions::list_functions, functions::create_function))
        .routes(routes!(
            functions::get_function,
            functions::update_function,
            functions::delete_function
        ))
        .routes(routes!(versions::list_versions))
        .routes(routes!(versions::get_version))
        .routes(routes!(versions::restore_version))
        .routes(routes!(versions::duplicate_function))
        .routes(routes!(generate::generate_function))
        .routes(routes!(variables::list_variables, variables::put_variable))
        .routes(routes!(variables::delete_variable))
        .routes(routes!(runs::invoke_function))
        .routes(routes!(runs::try_function))
        .routes(routes!(runs::compare_function))
        .routes(routes!(runs::list_runs))
        .routes(routes!(runs::get_run_of_function))
        .routes(routes!(runs::get_run))
        .routes(routes!(crons::list_crons, crons::create_cron))
        .routes(routes!(crons::get_cron, crons::update_cron, crons::delete_cron))
        .routes(routes!(notifications::list_notifications, notifications::create_notification))
        .routes(routes!(
            notifications::get_notification,
            notifications::update_notification,
            notifications::delete_notification
        ))
        .routes(routes!(notifications::test_notification))
        .routes(routes!(clients::connected_clients))
        .routes(routes!(domains::list_domains, domains::create_domain))
        .routes(routes!(domains::delete_domain))
        .routes(routes!(config::get_config))
        .routes(routes!(billing::get_billing_details, billing::put_billing_details))
        .routes(routes!(checkout::start_checkout))
        .routes(routes!(checkout::start_checkout_setup))
        .routes(routes!(usage::get_usage))
}

/// The operations whose callers show no credentials of this server.
pub(crate) fn open_operations() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(stripe_webhook::take_stripe_event))
}

/// All routes, with their middleware, and those of the dashboard when it is at the same
/// address.
pub(crate) fn router(state: AppState, dashboard: Option<Router>) -> Router {
    let (operations, _) = operations().split_for_parts();
    let (open, _) = open_operations().split_for_parts();
    let open = open
        .method_not_allowed_fallback(method_not_allowed)
        .route_layer(middleware::from_fn(to_the_end))
        .route_layer(middleware::from_fn_with_state(state.clone(), within_limit));
    // A request passes the layers from the last to the first.
    let operations = operations
        .method_not_allowed_fallback(method_not_allowed)
        .route_layer(middleware::from_fn(to_the_end))
        .route_layer(middleware::from_fn_with_state(state.clone(), auth::require))
        .route_layer(middleware::from_fn_with_state(state.clone(), within_limit));

    let metrics = Router::new()
        .route("/metrics", get(pages::metrics))
        .route_layer(middleware::from_fn_with_state(state.clone(), scrape::permit));
    let pages = Router::new()
        .route("/", get(async || Redirect::to("/docs/")))
        .route("/healthz", get(pages::healthz))
        .route("/readyz", get(pages::readyz))
        .merge(metrics)
        .route(socket::PATH, get(socket::connect))
        .merge(docs::router());
    let mut router = operations.merge(open).merge(pages);
    if state.inbox().is_some() {
        let inbox = Router::new()
            .route(dev::INBOX_PATH, any(dev::receive))
            .route(dev::INBOX_SUBPATHS, any(dev::receive))
            .route(dev::RECEIVED_PATH, get(dev::received))
            .route_layer(middleware::from_fn(dev::only_here));
        router = router.merge(inbox);
    }
    if let Some(dashboard) = dashboard {
        router = router.merge(dashboard.with_state(()));
    }
    router
        .fallback(not_found)
        .method_not_allowed_fallback(method_not_allowed)
        .layer(middleware::from_fn_with_state(state.clone(), observe))
        .layer(middleware::map_response(as_it_says))
        .with_state(state)
}

/// The routes of the separate address for metrics.
pub(crate) fn scrapes(state: AppState, token: Option<Arc<Secret>>) -> Router {
    Router::new()
        .route("/metrics", get(pages::metrics))
        .route_layer(middleware::from_fn_with_state(token, scrape::permit_there))
        .route("/healthz", get(pages::healthz))
        .route("/readyz", get(pages::readyz))
        .fallback(not_found)
        .method_not_allowed_fallback(method_not_allowed)
        .layer(middleware::map_response(as_it_says))
        .with_state(state)
}

/// Management requests beyond the limit are refused at once rather than queued.
async fn within_limit(
    State(state): State<AppState>,
    mut request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    let permit = state.request_permit()?;
    request.extensions_mut().insert(permit.clone());
    let response = next.run(request).await;
    permit.give_back();
    Ok(response)
}

/// Finishes an operation even when its caller hangs up. Otherwise a change could be stored
/// without the relay learning of it.
async fn to_the_end(request: Request, next: Next) -> Response {
    match tokio::spawn(next.run(request)).await {
        Ok(response) => response,
        Err(panic) => ApiError::from(Error::internal(panic)).into_response(),
    }
}

async fn observe(State(state): State<AppState>, request: Request, next: Next) -> Response {
    let started = std::time::Instant::now();
    let method = request.method().clone();
    let response = next.run(request).await;
    state.metrics().answered(&method, response.status(), started.elapsed());
    response
}

/// Tells browsers to believe the `Content-Type` of management operations and pages. The
/// answers of inputs are left alone: their owners choose the headers.
pub(crate) async fn as_it_says(mut response: Response) -> Response {
    response.headers_mut().insert(header::X_CONTENT_TYPE_OPTIONS, NOSNIFF);
    response
}

pub(crate) async fn not_found() -> Response {
    text(StatusCode::NOT_FOUND, "no such path")
}

async fn method_not_allowed(method: Method) -> Response {
    text(StatusCode::METHOD_NOT_ALLOWED, format!("the method {method} is not allowed here"))
}
