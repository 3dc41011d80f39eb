//! Errors as answers to management requests.

use axum::{
    body::Body,
    http::{HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use webhook_core::{Error, ErrorKind};

use crate::failure::with_causes;

/// The header of every answer that identifies its request in the log.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("request-id");
/// Tells browsers to believe the `Content-Type` of an answer.
pub(crate) const NOSNIFF: HeaderValue = HeaderValue::from_static("nosniff");

/// An extension of answers whose body is in memory only once for all clients that read it. Such
/// an answer takes no part of the memory for answers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shared;

/// An error as a caller sees it: the status, and plain text that says what is wrong.
#[derive(Debug)]
pub(crate) struct ApiError(Error);

impl From<Error> for ApiError {
    fn from(error: Error) -> Self {
        Self(error)
    }
}

impl ApiError {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Error::new(kind, message))
    }

    /// 400 in place of 404, for operations whose document lists no 404
    /// (`docs/interface.md`, "Statuses").
    pub(crate) fn missing_is_invalid(self) -> Self {
        match self.0.kind() {
            ErrorKind::NotFound => Self(self.0.with_kind(ErrorKind::Invalid)),
            _ => self,
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let Self(error) = self;
        let status = error.kind().status();
        if status.is_server_error() {
            tracing::error!(cause = cause(&error), "{error}");
        }
        let mut response = text(status, error.to_string());
        if let Some(after) = error.retry_after() {
            // Rounded up, because an earlier request would be refused again.
            let seconds = after.as_secs() + u64::from(after.subsec_nanos() > 0);
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds.max(1)));
        }
        if status == StatusCode::UNAUTHORIZED {
            let challenge = HeaderValue::from_static("Bearer");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
        }
        response
    }
}

/// A plain text answer.
pub(crate) fn text(status: StatusCode, text: impl Into<String>) -> Response {
    let mut response = Response::new(Body::from(text.into()));
    *response.status_mut() = status;
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, plain);
    response.headers_mut().insert(header::X_CONTENT_TYPE_OPTIONS, NOSNIFF);
    response
}

/// All causes in one line, for the log.
fn cause(error: &Error) -> String {
    with_causes("", std::error::Error::source(error))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn internal_causes_stay_inside() {
        let error = Error::internal("no such table: bucket in /var/lib/webhooks.db");
        let response = ApiError::from(error).into_response();
        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
        let body = axum::body::to_bytes(response.into_body(), 1024).await.expect("a short body");
        assert_eq!(body, "internal error");
    }

    #[test]
    fn retry_after_is_in_whole_seconds_rounded_up() {
        let error = Error::unavailable("the store is busy", Duration::from_millis(1200));
        let response = ApiError::from(error).into_response();
        assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(response.headers()[header::RETRY_AFTER], "2");
    }
}
