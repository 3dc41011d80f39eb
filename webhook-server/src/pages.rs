//! `/healthz`, `/readyz` and `/metrics`.

use std::time::Duration;

use axum::{
    Extension,
    extract::State,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};

use webhook_core::admin::Caller;

use crate::{
    error::{ApiError, text},
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
/// began to listen.
pub(crate) async fn readyz(State(state): State<AppState>) -> Response {
    let unready = |reason: &str| text(StatusCode::SERVICE_UNAVAILABLE, reason);
    if state.is_stopping() {
        return unready("shutting down");
    }
    let check = async {
        state.admin().accounts().await?;
        state.storage().check().await
    };
    match tokio::time::timeout(READY_TIMEOUT, check).await {
        Ok(Ok(())) => text(StatusCode::OK, "ready"),
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

/// The counters, in the text format of Prometheus. Who asks with credentials of an account
/// has to be let into all of it: the counters are of all accounts.
pub(crate) async fn metrics(
    State(state): State<AppState>,
    caller: Option<Extension<Caller>>,
) -> Result<Response, ApiError> {
    if let Some(Extension(caller)) = caller {
        caller.require_account()?;
    }
    let format = HeaderValue::from_static(telemetry::CONTENT_TYPE);
    Ok(([(header::CONTENT_TYPE, format)], state.metrics().text()).into_response())
}
