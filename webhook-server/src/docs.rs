//! `/openapi.json` and `/docs`: the reference, as data and as a page. The page
//! is built into the binary and loads nothing from elsewhere.

use axum::{
    Router,
    extract::State,
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
};
use utoipa_swagger_ui::{Config, SwaggerUi};

use crate::state::AppState;

pub(crate) fn router() -> Router<AppState> {
    let config = Config::from("/openapi.json")
        .doc_expansion("list")
        .default_models_expand_depth(1)
        // The badge of the public validator would be fetched from the internet.
        .validator_url("none");
    SwaggerUi::new("/docs").config(config).into()
}

pub(crate) async fn document(State(state): State<AppState>) -> Response {
    let json = HeaderValue::from_static("application/json");
    ([(header::CONTENT_TYPE, json)], state.document()).into_response()
}
