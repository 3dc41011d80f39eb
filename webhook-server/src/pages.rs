//! `/healthz`, `/readyz` and `/metrics`.

use std::time::Duration;

use axum::{
    extract::State,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};

use crate::{error::text, state::AppState, telemetry};

/// How long the database may take to answer before the server is not ready.
const READY_TIMEOUT: Duration = Duration::from_secs(2);

/// The server is up.
pub(crate) async fn healthz() -> Response {
    text(StatusCode::OK, "ok")
}

/// The database answers. Its migrations ran before the server began to listen.
pub(crate) async fn readyz(State(state): State<AppState>) -> Response {
    let unready = |reason: &str| text(StatusCode::SERVICE_UNAVAILABLE, reason);
    if state.is_stopping() {
        return unready("shutting down");
    }
    match tokio::time::timeout(READY_TIMEOUT, state.admin().accounts()).await {
        Ok(Ok(_)) => text(StatusCode::OK, "ready"),
        Ok(Err(error)) => {
            tracing::warn!(error = &error as &dyn std::error::Error, "the database fails");
            unready("the database fails")
        }
        Err(_) => unready("the database does not answer"),
    }
}

/// The counters, in the text format of Prometheus.
pub(crate) async fn metrics(State(state): State<AppState>) -> Response {
    let format = HeaderValue::from_static(telemetry::CONTENT_TYPE);
    ([(header::CONTENT_TYPE, format)], state.metrics().text()).into_response()
}
