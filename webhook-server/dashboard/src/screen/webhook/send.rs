//! Sends a webhook to an input of this relay, the way that any sender does.

use axum::http::{HeaderValue, Request as HttpRequest, header::AUTHORIZATION};
use base64::{Engine, engine::general_purpose::STANDARD};
use webhook_core::{
    Error, ErrorKind, InputId,
    model::{AuthType, Bucket, Request},
    relay::ClientAddr,
};

use crate::session::Session;

/// Headers that belong to the connection, or are made anew.
const LEFT_OUT: [&str; 4] = ["host", "content-length", "transfer-encoding", "connection"];

/// Sends it with the bucket's own credentials.
///
/// # Errors
///
/// With what the input answers when that is no success, and with the part that can be in
/// no request.
pub(crate) async fn send(
    session: &Session,
    bucket: &Bucket,
    input: InputId,
    request: Request,
    client: Option<ClientAddr>,
) -> Result<(), Error> {
    let Request { method, extra_path, raw_query, headers, body } = request;
    if !extra_path.is_empty() && !extra_path.starts_with('/') {
        return Err(Error::invalid("path", "must begin with a slash, or be empty"));
    }
    let query = if raw_query.is_empty() { "" } else { "?" };
    let path = format!("/v1/webhooks/{input}{extra_path}{query}{raw_query}");
    let built = HttpRequest::builder().method(method).uri(path);
    let mut sent = built
        .body(http_body_util::Full::new(body))
        .map_err(|_| Error::invalid("path", "path and query must be percent-encoded"))?;
    *sent.headers_mut() = headers;
    for name in LEFT_OUT {
        sent.headers_mut().remove(name);
    }
    if let Some(credentials) = credentials(bucket) {
        sent.headers_mut().insert(AUTHORIZATION, credentials);
    }
    if let Some(client) = client {
        sent.extensions_mut().insert(client);
    }
    let response = session.dashboard.webhooks().ingest().receive(sent).await;
    let status = response.status();
    // A rejection of the sender's own: everything else was received and is in the log.
    match status.as_u16() {
        401 | 404 | 413 | 429 | 503 => {
            let message = format!("the input answered {status}");
            Err(Error::new(ErrorKind::Conflict, message))
        }
        _ => Ok(()),
    }
}

fn credentials(bucket: &Bucket) -> Option<HeaderValue> {
    let auth = &bucket.spec.auth;
    let value = match auth.kind {
        AuthType::None => return None,
        AuthType::Basic => {
            let pair = format!("{}:{}", auth.username, auth.password.expose());
            format!("Basic {}", STANDARD.encode(pair))
        }
        AuthType::Token => format!("Bearer {}", auth.token.expose()),
    };
    HeaderValue::try_from(value).ok()
}
