//! All routes of the server except those of webhooks, which [`edge`](crate::listen::edge) takes.

use std::sync::Arc;

use axum::{
    Router,
    extract::{Request, State},
    http::{Method, StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse, Redirect, Response},
    routing::get,
};
use webhook_core::{Error, model::Secret};

use crate::{
    api::{
        auth,
        error::{ApiError, NOSNIFF, text},
        open_operations, operations,
    },
    config::Config,
    failure::Failure,
    pages::{
        self, dev, docs,
        scrape::{self, Readers},
    },
    socket::{self, Sockets},
    state::AppState,
};

/// All routes, with their middleware, and those of the dashboard when it is at the same
/// address.
///
/// # Errors
/// When the OpenAPI document cannot be written.
pub(crate) fn router(
    state: AppState,
    sockets: Arc<Sockets>,
    config: &Config,
    dashboard: Option<Router>,
) -> Result<Router, Failure> {
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

    let readers = (state.clone(), Arc::new(Readers::of(&config.metrics)));
    let metrics = Router::new()
        .route("/metrics", get(pages::metrics))
        .route_layer(middleware::from_fn_with_state(readers, scrape::permit));
    let pages = Router::new()
        .route("/", get(async || Redirect::to("/docs/")))
        .route("/healthz", get(pages::healthz))
        .route("/readyz", get(pages::readyz))
        .merge(metrics)
        .route(socket::PATH, get(socket::connect).with_state(sockets))
        .merge(docs::router(config.listen.public_url.as_deref())?);
    let mut router = operations.merge(open).merge(pages);
    if config.listen.dev {
        router = router.merge(dev::router());
    }
    if let Some(dashboard) = dashboard {
        router = router.merge(dashboard.with_state(()));
    }
    Ok(router
        .fallback(not_found)
        .method_not_allowed_fallback(method_not_allowed)
        .layer(middleware::from_fn_with_state(state.clone(), observe))
        .layer(middleware::map_response(as_it_says))
        .with_state(state))
}

/// The routes of the separate address for metrics.
pub(crate) fn scrapes(state: AppState, token: Option<Secret>) -> Router {
    let token = token.map(Arc::new);
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
