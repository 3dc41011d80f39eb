//! Who calls: the credentials of management requests.

use axum::{
    extract::{FromRequestParts, Request, State},
    http::{HeaderMap, header::AUTHORIZATION, request::Parts},
    middleware::Next,
    response::Response,
};
use base64::{Engine, engine::general_purpose::STANDARD};
use webhook_core::{
    Error, ErrorKind,
    admin::{Admin, Caller},
};

use crate::{error::ApiError, state::AppState};

/// Credentials as they were shown.
#[derive(Debug, PartialEq, Eq)]
enum Shown {
    /// `Bearer sk-…`
    ApiKey(String),
    /// `Basic key:secret`, of an access token or of an API key.
    KeyAndSecret(String, String),
}

/// Lets a request pass that shows valid credentials, and tells the handlers whose they are.
pub(crate) async fn require(
    State(state): State<AppState>,
    mut request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    let caller = caller(state.admin(), request.headers()).await?;
    request.extensions_mut().insert(caller);
    Ok(next.run(request).await)
}

/// The one place where credentials become a caller.
async fn caller(admin: &Admin, headers: &HeaderMap) -> Result<Caller, Error> {
    match shown(headers)? {
        Shown::ApiKey(key) => admin.authenticate_api_key(&key).await,
        Shown::KeyAndSecret(key, secret) => admin.authenticate(&key, &secret).await,
    }
}

fn shown(headers: &HeaderMap) -> Result<Shown, Error> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let value = values.next().ok_or_else(|| unauthorized("no Authorization header"))?;
    if values.next().is_some() {
        return Err(unauthorized("more than one Authorization header"));
    }
    let value = value.to_str().map_err(|_| unauthorized("malformed Authorization header"))?;
    let (scheme, credentials) =
        value.split_once(' ').ok_or_else(|| unauthorized("malformed Authorization header"))?;
    let credentials = credentials.trim();
    if scheme.eq_ignore_ascii_case("bearer") {
        return Ok(Shown::ApiKey(credentials.to_owned()));
    }
    if scheme.eq_ignore_ascii_case("basic") {
        let decoded = STANDARD.decode(credentials).ok().and_then(|d| String::from_utf8(d).ok());
        let decoded = decoded.ok_or_else(|| unauthorized("malformed Basic credentials"))?;
        return match decoded.split_once(':') {
            Some((key, secret)) => Ok(Shown::KeyAndSecret(key.to_owned(), secret.to_owned())),
            None => Err(unauthorized("malformed Basic credentials")),
        };
    }
    Err(unauthorized("the scheme must be Bearer or Basic"))
}

fn unauthorized(reason: &str) -> Error {
    Error::new(ErrorKind::Unauthorized, format!("unauthorized: {reason}"))
}

/// The caller that [`require`] let pass, who may call the management API.
pub(crate) struct Authenticated(pub(crate) Caller);

impl<S: Send + Sync> FromRequestParts<S> for Authenticated {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let Consumer(caller) = Consumer::from_request_parts(parts, state).await?;
        caller.require_api_access()?;
        Ok(Self(caller))
    }
}

/// The caller that [`require`] let pass, for the operations of those who
/// subscribe to webhooks: access tokens without API access are let in.
pub(crate) struct Consumer(pub(crate) Caller);

impl<S: Send + Sync> FromRequestParts<S> for Consumer {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        match parts.extensions.get::<Caller>() {
            Some(caller) => Ok(Self(caller.clone())),
            None => Err(unauthorized("no credentials").into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(value: &str) -> Option<Shown> {
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, value.parse().expect("a header value"));
        shown(&headers).ok()
    }

    #[test]
    fn bearer_is_an_api_key() {
        assert_eq!(show("Bearer sk-a"), Some(Shown::ApiKey("sk-a".to_owned())));
        assert_eq!(show("bearer  sk-a "), Some(Shown::ApiKey("sk-a".to_owned())));
    }

    #[test]
    fn basic_is_a_key_and_a_secret() {
        for (text, key, secret) in
            [("whr:sk-a:b", "whr", "sk-a:b"), ("id:s", "id", "s"), (":", "", "")]
        {
            let basic = format!("Basic {}", STANDARD.encode(text));
            assert_eq!(show(&basic), Some(Shown::KeyAndSecret(key.to_owned(), secret.to_owned())));
        }
    }

    #[test]
    fn everything_else_is_neither() {
        let no_colon = format!("Basic {}", STANDARD.encode("whr"));
        for value in ["", "sk-a", "Bearer", "Digest sk-a", "Basic %%%", &no_colon] {
            assert_eq!(show(value), None, "{value:?}");
        }
    }
}
