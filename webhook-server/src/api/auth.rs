//! The credentials of management requests.

use std::net::IpAddr;

use axum::{
    extract::{FromRequestParts, Request, State},
    http::{HeaderMap, header::AUTHORIZATION, request::Parts},
    middleware::Next,
    response::Response,
};
use base64::{Engine, engine::general_purpose::STANDARD};
use webhook_core::{
    Error, ErrorKind, TokenId,
    admin::{API_KEY_PREFIX, API_KEY_USER, Admin, Caller},
    relay::ClientAddr,
};

use crate::{
    api::{error::ApiError, if_match},
    state::{AppState, permit::RequestPermit},
};

/// Credentials as a request carries them.
#[derive(Clone, PartialEq, Eq, Hash)]
#[cfg_attr(test, derive(Debug))]
pub(crate) enum Shown {
    /// `Bearer sk-…`
    ApiKey(String),
    /// `Basic key:secret`, of an access token or of an API key.
    KeyAndSecret(String, String),
}

impl Shown {
    /// Whether they still make this caller.
    pub(crate) async fn makes(&self, admin: &Admin, caller: &Caller) -> Result<bool, Error> {
        match self {
            Self::ApiKey(key) => admin.is_still(caller, API_KEY_USER, key).await,
            Self::KeyAndSecret(key, secret) => admin.is_still(caller, key, secret).await,
        }
    }

    fn has_our_form(&self) -> bool {
        match self {
            Self::ApiKey(key) => key.starts_with(API_KEY_PREFIX),
            Self::KeyAndSecret(key, secret) if key == API_KEY_USER => {
                secret.starts_with(API_KEY_PREFIX)
            }
            Self::KeyAndSecret(key, _) => key.parse::<TokenId>().is_ok(),
        }
    }
}

/// Middleware that lets requests with valid credentials pass, and tells the handlers whose
/// credentials they are.
pub(crate) async fn require(
    State(state): State<AppState>,
    mut request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    let shown = shown(request.headers())?;
    let from = request.extensions().get::<ClientAddr>().map(|client| client.ip);
    let permit = request.extensions().get::<RequestPermit>().cloned();
    // A request whose answer is delayed gives its permit back, so that others go on.
    let before_delay = || permit.iter().for_each(RequestPermit::give_back);
    let caller = identify(&state, from, &shown, before_delay).await?;
    request.extensions_mut().insert(caller);
    Ok(next.run(request).await)
}

/// Finds the caller of credentials; nothing else in the server does. The answer to an
/// address that has shown many wrong ones is delayed, and `before_delay` is called before.
pub(crate) async fn identify(
    state: &AppState,
    from: Option<IpAddr>,
    shown: &Shown,
    before_delay: impl FnOnce(),
) -> Result<Caller, Error> {
    let attempt = state.guesses().attempt(from, shown)?;
    let caller = match shown {
        Shown::ApiKey(key) => state.admin().authenticate_api_key(key).await,
        Shown::KeyAndSecret(key, secret) => state.admin().authenticate(key, secret).await,
    };
    match &caller {
        Ok(_) => attempt.right(),
        Err(error) if error.kind() == ErrorKind::Unauthorized => {
            let delay = attempt.wrong();
            if !delay.is_zero() {
                before_delay();
                tokio::time::sleep(delay).await;
            }
        }
        Err(_) => {}
    }
    caller
}

fn shown(headers: &HeaderMap) -> Result<Shown, Error> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let value = values.next().ok_or_else(|| unauthorized("no Authorization header"))?;
    if values.next().is_some() {
        return Err(unauthorized("more than one Authorization header"));
    }
    parse(value.to_str().map_err(|_| unauthorized("malformed Authorization header"))?)
}

fn parse(value: &str) -> Result<Shown, Error> {
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

/// The credentials in `Authorization` that have the form of this server's. It costs other
/// requests nothing but reading that header. An API key counts without a scheme as well.
pub(crate) fn candidates(headers: &HeaderMap) -> Vec<Shown> {
    let values = headers.get_all(AUTHORIZATION).iter().filter_map(|value| value.to_str().ok());
    let shown = values.filter_map(|value| match value.trim() {
        key if key.starts_with(API_KEY_PREFIX) => Some(Shown::ApiKey(key.to_owned())),
        value => parse(value).ok(),
    });
    shown.filter(Shown::has_our_form).collect()
}

/// Whether any of these credentials belongs to an account.
pub(crate) async fn any_is_known(admin: &Admin, candidates: Vec<Shown>) -> Result<bool, Error> {
    for shown in candidates {
        let known = match &shown {
            Shown::ApiKey(key) => admin.is_credential(API_KEY_USER, key).await?,
            Shown::KeyAndSecret(key, secret) => admin.is_credential(key, secret).await?,
        };
        if known {
            return Ok(true);
        }
    }
    Ok(false)
}

fn unauthorized(reason: &str) -> Error {
    Error::new(ErrorKind::Unauthorized, format!("unauthorized: {reason}"))
}

/// The caller that [`require`] let pass, who may call the management API, and what it calls.
pub(crate) struct Authenticated(pub(crate) AppState, pub(crate) Caller);

impl FromRequestParts<AppState> for Authenticated {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, ApiError> {
        let Consumer(state, caller) = Consumer::from_request_parts(parts, state).await?;
        caller.require_api_access()?;
        let expected = if_match(&parts.headers)?;
        Ok(Self(state, caller.expecting(expected)))
    }
}

/// The caller that [`require`] let pass, for the operations of those who
/// subscribe to webhooks: access tokens without API access are let in.
pub(crate) struct Consumer(pub(crate) AppState, pub(crate) Caller);

impl FromRequestParts<AppState> for Consumer {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, ApiError> {
        match parts.extensions.get::<Caller>() {
            Some(caller) => Ok(Self(state.clone(), caller.clone())),
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
    fn only_what_has_the_form_of_a_credential_is_looked_at() {
        let token = "01890a5d-ac96-774b-bcce-b302099a8057";
        let ours = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.append(AUTHORIZATION, "Bearer other".parse().expect("a header value"));
            headers.append(AUTHORIZATION, value.parse().expect("a header value"));
            candidates(&headers).len()
        };
        let basic = |text: &str| format!("Basic {}", STANDARD.encode(text));
        for value in ["Bearer sk-a", "bearer  sk-a", " sk-a "] {
            assert_eq!(ours(value), 1, "{value}");
        }
        for text in ["whr:sk-a".to_owned(), format!("{token}:s")] {
            assert_eq!(ours(&basic(&text)), 1, "{text}");
        }
        for value in ["", "Bearer", "Bearer a", "a sk-a", "Digest sk-a"] {
            assert_eq!(ours(value), 0, "{value}");
        }
        for text in ["whr:a", "user:sk-a", "whr", ":"] {
            assert_eq!(ours(&basic(text)), 0, "{text}");
        }
        assert_eq!(candidates(&HeaderMap::new()).capacity(), 0, "it costs nothing");
    }

    #[test]
    fn everything_else_is_neither() {
        let no_colon = format!("Basic {}", STANDARD.encode("whr"));
        for value in ["", "sk-a", "Bearer", "Digest sk-a", "Basic %%%", &no_colon] {
            assert_eq!(show(value), None, "{value:?}");
        }
    }
}
