//! `/v1/signature-providers`

use axum::Json;
use webhook_core::model::signatures::{Preset, presets};

use crate::api::auth::Authenticated;

/// List the providers whose webhooks an input can verify, with what each needs.
///
/// `signature.provider` of an input names one of them.
#[utoipa::path(
    get,
    path = "/v1/signature-providers",
    responses((status = 200, description = "All providers, by name", body = [Preset])),
)]
pub(crate) async fn list_signature_providers(_: Authenticated) -> Json<&'static [Preset]> {
    Json(presets())
}
