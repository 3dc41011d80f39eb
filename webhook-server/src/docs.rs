//! `/openapi.json` and `/docs`: the reference, as data and as a page. The page
//! is built into the binary and loads nothing from elsewhere.

use std::sync::Arc;

use axum::{
    Router,
    extract::{Path, State, rejection::PathRejection},
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Redirect, Response},
    routing::get,
};
use utoipa_swagger_ui::Config;
use webhook_core::Error;

use crate::{
    error::{ApiError, text},
    state::AppState,
};

fn config() -> Config<'static> {
    Config::from("/openapi.json")
        .doc_expansion("list")
        .default_models_expand_depth(1)
        // The badge of the public validator would be fetched from the internet.
        .validator_url("none")
}

pub(crate) fn router() -> Router<AppState> {
    Router::new()
        .route("/openapi.json", get(document))
        .route("/docs", get(async || Redirect::to("/docs/")))
        .route("/docs/", get(async || file("")))
        .route("/docs/{*file}", get(named_file))
}

async fn document(State(state): State<AppState>) -> Response {
    let json = HeaderValue::from_static("application/json");
    ([(header::CONTENT_TYPE, json)], state.document()).into_response()
}

async fn named_file(name: Result<Path<String>, PathRejection>) -> Response {
    // A name that is no text is no file's.
    file(name.as_ref().map_or("unknown", |Path(name)| name))
}

/// A part of the page.
fn file(name: &str) -> Response {
    match utoipa_swagger_ui::serve(name, Arc::new(config())) {
        Ok(Some(file)) => {
            ([(header::CONTENT_TYPE, file.content_type)], file.bytes.into_owned()).into_response()
        }
        Ok(None) => text(StatusCode::NOT_FOUND, "no such path"),
        Err(error) => ApiError::from(Error::internal(error.to_string())).into_response(),
    }
}
