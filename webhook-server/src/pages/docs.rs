//! `/openapi.json` and `/docs`: the reference, as data and as a page. The page
//! is built into the binary and loads nothing from elsewhere.

use std::{borrow::Cow, sync::Arc};

use axum::{
    Extension, Router,
    extract::{Path, State, rejection::PathRejection},
    http::{HeaderValue, StatusCode, Uri, header},
    response::{IntoResponse, Redirect, Response},
    routing::get,
};
use bytes::Bytes;
use utoipa_swagger_ui::Config;
use webhook_core::Error;

use crate::{
    api::error::{ApiError, Shared, text},
    failure::Failure,
    openapi,
};

fn config() -> Config<'static> {
    Config::from("/openapi.json")
        .doc_expansion("list")
        .default_models_expand_depth(1)
        // The badge of the public validator would be fetched from the internet.
        .validator_url("none")
        // Without the bar for other documents.
        .use_base_layout()
}

/// The page, and how it differs from the library's: it fits a phone.
const PAGE: &str = include_str!("docs/index.html");
const STYLES: &str = include_str!("docs/reference.css");

/// What the page may load: its own files, and the operations that it is there to try, also
/// at the address that the document names. The page has no script but its files; its
/// library sets styles in the elements, and draws its pictures as `data:`.
fn policy(public_url: Option<&str>) -> HeaderValue {
    let own = HeaderValue::from_static(POLICY);
    let uri = public_url.and_then(|url| url.parse::<Uri>().ok());
    let origin = uri.and_then(|uri| Some(format!("{}://{}", uri.scheme_str()?, uri.authority()?)));
    let Some(origin) = origin else { return own };
    let policy = POLICY.replace("connect-src 'self'", &format!("connect-src 'self' {origin}"));
    HeaderValue::try_from(policy).unwrap_or(own)
}

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
    img-src 'self' data:; font-src 'self' data:; connect-src 'self'; base-uri 'none'; \
    form-action 'none'; frame-ancestors 'none'";

/// The routes of the reference of a server with this public address.
pub(crate) fn router<S>(public_url: Option<&str>) -> Result<Router<S>, Failure> {
    let document = Bytes::from(openapi::document_text(public_url)?);
    let json = HeaderValue::from_static("application/json");
    Ok(Router::new()
        .route("/openapi.json", get(async || whole(json, document)))
        .route("/docs", get(async || Redirect::to("/docs/")))
        .route("/docs/", get(async |State(policy): State<HeaderValue>| file(policy, "")))
        .route("/docs/{*file}", get(named_file))
        .with_state(policy(public_url)))
}

async fn named_file(
    State(policy): State<HeaderValue>,
    name: Result<Path<String>, PathRejection>,
) -> Response {
    // A name that is no text is no file's.
    file(policy, name.as_ref().map_or("unknown", |Path(name)| name))
}

/// A part of the page, with the page's Content-Security-Policy.
fn file(policy: HeaderValue, name: &str) -> Response {
    let own = match name {
        "" | "index.html" => Some((PAGE, "text/html; charset=utf-8")),
        "reference.css" => Some((STYLES, "text/css; charset=utf-8")),
        _ => None,
    };
    if let Some((content, content_type)) = own {
        let content_type = HeaderValue::from_static(content_type);
        return page(policy, content_type, Bytes::from_static(content.as_bytes()));
    }
    let file = match utoipa_swagger_ui::serve(name, Arc::new(config())) {
        Ok(Some(file)) => file,
        Ok(None) => return text(StatusCode::NOT_FOUND, "no such path"),
        Err(error) => return ApiError::from(Error::internal(error.to_string())).into_response(),
    };
    let bytes = match file.bytes {
        Cow::Borrowed(bytes) => Bytes::from_static(bytes),
        // A short one, with the options in it.
        Cow::Owned(bytes) => bytes.into(),
    };
    match HeaderValue::try_from(file.content_type) {
        Ok(content_type) => page(policy, content_type, bytes),
        Err(error) => ApiError::from(Error::internal(error.to_string())).into_response(),
    }
}

fn page(policy: HeaderValue, content_type: HeaderValue, bytes: Bytes) -> Response {
    let mut response = whole(content_type, bytes);
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    response
}

/// An answer whose body all who ask share, however many read it slowly.
fn whole(content_type: HeaderValue, bytes: Bytes) -> Response {
    ([(header::CONTENT_TYPE, content_type)], Extension(Shared), bytes).into_response()
}
