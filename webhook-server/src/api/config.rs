//! `/v1/config`

use axum::Json;
use serde::Serialize;
use utoipa::ToSchema;

/// What a client may want to know of the server.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ServerConfig {
    /// The version of the server.
    version: &'static str,
    /// Whether senders are spared a challenge: always.
    turnstile_disabled: bool,
}

/// Read the server's configuration.
///
/// It is the same for all callers.
#[utoipa::path(
    get,
    path = "/v1/config",
    responses((status = 200, description = "The configuration", body = ServerConfig)),
)]
pub(crate) async fn get_config() -> Json<ServerConfig> {
    Json(ServerConfig { version: env!("CARGO_PKG_VERSION"), turnstile_disabled: true })
}
