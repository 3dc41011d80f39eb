//! The server's own pages. `/healthz`, `/readyz` and `/metrics` are in this file, the reference
//! is in [`docs`], and the inbox of `--dev` in [`dev`]. [`scrape`] protects the metrics.

pub(crate) mod dev;
pub(crate) mod docs;
pub(crate) mod scrape;

use std::time::Duration;

use axum::{
    Extension,
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};

use webhook_core::admin::Caller;

use crate::{
    api::error::{ApiError, text},
    state::AppState,
    telemetry,
};

/// How long the database may take to answer before the server is not ready.
const READY_TIMEOUT: Duration = Duration::from_secs(2);

/// The server is up.
pub(crate) async fn healthz() -> Response {
    text(StatusCode::OK, "ok")
}

/// The database answers and takes webhooks. Its migrations ran before the server
/// began to listen. While NATS is away, the server stays ready, because only latency suffers.
pub(crate) async fn readyz(State(state): State<AppState>) -> Response {
    let nats = match state.metrics().is_nats_connected() {
        Some(true) => "\nnats: connected",
        Some(false) => "\nnats: away",
        None => "",
    };
    let unready = |reason: &str| text(StatusCode::SERVICE_UNAVAILABLE, format!("{reason}{nats}"));
    if state.is_stopping() {
        return unready("shutting down");
    }
    let check = async {
        state.admin().accounts().await?;
        state.storage().check().await
    };
    match tokio::time::timeout(READY_TIMEOUT, check).await {
        Ok(Ok(())) => text(StatusCode::OK, format!("ready{nats}")),
        Ok(Err(error)) => {
            // Without a cause the log said it a moment ago.
            if let Some(cause) = std::error::Error::source(&error) {
                tracing::warn!(%error, cause, "not ready");
            }
            unready("the database fails")
        }
        Err(_) => unready("the database does not answer"),
    }
}

/// The counters, as OpenMetrics for clients that accept it, otherwise in the older text format of
/// Prometheus. A caller with credentials of an account must reach all of the account: the counters
/// are of all accounts.
pub(crate) async fn metrics(
    State(state): State<AppState>,
    headers: HeaderMap,
    caller: Option<Extension<Caller>>,
) -> Result<Response, ApiError> {
    if let Some(Extension(caller)) = caller {
        caller.require_account()?;
    }
    let text = state.metrics().text(state.slow_outputs());
    let mut accepted = headers.get_all(header::ACCEPT).iter().filter_map(|it| it.to_str().ok());
    let (format, text) = match accepted.any(|it| it.contains("application/openmetrics-text")) {
        true => (telemetry::CONTENT_TYPE, text),
        false => (telemetry::plain::CONTENT_TYPE, telemetry::plain::plain(&text)),
    };
    Ok(([(header::CONTENT_TYPE, format)], text).into_response())
}
