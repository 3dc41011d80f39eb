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

/// The user name that an API key goes with in `Basic` credentials.
const API_KEY_USER: &str = "whr";

/// Credentials as they were shown.
enum Shown {
    /// `Bearer sk-…`, or `Basic` with the user name of API keys.
    ApiKey(String),
    /// `Basic key:secret`.
    AccessToken,
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
        Shown::AccessToken => Err(unauthorized("unknown access token")),
    }
}

/// Who shows these two, as in the WebSocket's auth frame.
pub(crate) async fn of_pair(admin: &Admin, key: &str, secret: &str) -> Result<Caller, Error> {
    match key {
        API_KEY_USER => admin.authenticate_api_key(secret).await,
        _ => Err(unauthorized("unknown access token")),
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
            Some((API_KEY_USER, key)) => Ok(Shown::ApiKey(key.to_owned())),
            Some(_) => Ok(Shown::AccessToken),
            None => Err(unauthorized("malformed Basic credentials")),
        };
    }
    Err(unauthorized("the scheme must be Bearer or Basic"))
}

fn unauthorized(reason: &str) -> Error {
    Error::new(ErrorKind::Unauthorized, format!("unauthorized: {reason}"))
}

/// The caller that [`require`] let pass.
pub(crate) struct Authenticated(pub(crate) Caller);

impl<S: Send + Sync> FromRequestParts<S> for Authenticated {
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

    fn key(value: &str) -> Option<String> {
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, value.parse().expect("a header value"));
        match shown(&headers) {
            Ok(Shown::ApiKey(key)) => Some(key),
            _ => None,
        }
    }

    #[test]
    fn api_keys_come_in_two_forms() {
        assert_eq!(key("Bearer sk-a").as_deref(), Some("sk-a"));
        assert_eq!(key("bearer  sk-a ").as_deref(), Some("sk-a"));
        let basic = format!("Basic {}", STANDARD.encode("whr:sk-a:b"));
        assert_eq!(key(&basic).as_deref(), Some("sk-a:b"));
    }

    #[test]
    fn everything_else_is_no_api_key() {
        let other_user = format!("Basic {}", STANDARD.encode("someone:sk-a"));
        let no_colon = format!("Basic {}", STANDARD.encode("whr"));
        for value in ["", "sk-a", "Bearer", "Digest sk-a", "Basic %%%", &other_user, &no_colon] {
            assert_eq!(key(value), None, "{value:?}");
        }
    }
}
