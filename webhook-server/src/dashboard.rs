//! The dashboard as a part of this server: where it is, and what keeps its sessions out of
//! webhooks.

use std::sync::Arc;

use axum::{
    Router,
    body::Body,
    http::{
        Response,
        header::{CONTENT_SECURITY_POLICY, X_CONTENT_TYPE_OPTIONS},
    },
    middleware,
};
use webhook_core::{AccountId, Error, Webhooks};
use webhook_dashboard::{Dashboard, DashboardOptions, SessionKey};
use webhook_storage::{DatabaseUrl, SecretKey};

use crate::{api::error::NOSNIFF, config::Config, failure::Failure, telemetry::Metrics};

/// What the session key is derived for.
const PURPOSE: &str = "sessions of the dashboard";

/// The dashboard of this server; none where nothing says that there is one.
pub(crate) fn build(
    config: &Config,
    webhooks: &Webhooks,
    metrics: &Arc<Metrics>,
    key: &SecretKey,
    public: &str,
) -> Result<Option<Dashboard>, Failure> {
    if !config.listen.dev && config.dashboard.dashboard_listen.is_none() {
        return Ok(None);
    }
    let mut options = DashboardOptions::new(SessionKey::new(key.derive_for(PURPOSE)?));
    options.input_base = public.trim_end_matches('/').to_owned();
    // What other servers receive into a shared store is counted there.
    if !matches!(config.storage.database_url, Some(DatabaseUrl::Postgres(_))) {
        let metrics = Arc::clone(metrics);
        options.activity = Some(Arc::new(move || metrics.activity()));
    }
    Ok(Some(Dashboard::new(webhooks.clone(), options)))
}

/// Whether the dashboard is at the address that all clients use.
pub(crate) fn shares_origin(config: &Config) -> bool {
    config.listen.dev && config.dashboard.dashboard_listen.is_none()
}

/// Keeps browsers from running what an input answers with the rights of the dashboard, and
/// from taking it for something that runs.
pub(crate) fn sandbox(mut response: Response<Body>) -> Response<Body> {
    let headers = response.headers_mut();
    let policy = axum::http::HeaderValue::from_static("sandbox");
    headers.insert(CONTENT_SECURITY_POLICY, policy);
    headers.insert(X_CONTENT_TYPE_OPTIONS, NOSNIFF);
    response
}

/// The routes at an address of the dashboard's own.
pub(crate) fn alone(dashboard: &Dashboard) -> Router {
    let first = || async { axum::response::Redirect::to(webhook_dashboard::PATH) };
    Router::new()
        .route("/", axum::routing::get(first))
        .merge(dashboard.router())
        .fallback(crate::router::not_found)
        .layer(middleware::map_response(crate::router::as_it_says))
}

/// What the server prints about it: its address, with `--dev` one that signs in.
pub(crate) fn notice(
    dashboard: &Dashboard,
    base: &str,
    account: Option<AccountId>,
) -> Result<String, Error> {
    Ok(match account {
        Some(account) => {
            let link = dashboard.sign_in_link(account)?;
            format!("dashboard at {base}{link} (signs in once, within an hour)\n")
        }
        None => format!("dashboard at {base}{}\n", webhook_dashboard::PATH),
    })
}
