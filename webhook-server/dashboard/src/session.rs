//! Who is signed in: a sealed cookie, and nothing stored.

mod links;
mod seal;
mod strip;

use std::sync::Arc;

use axum::{
    extract::{FromRequestParts, Request, State},
    http::{
        HeaderMap, HeaderValue, Method, StatusCode,
        header::{COOKIE, SET_COOKIE},
        request::Parts,
    },
    middleware::Next,
    response::{IntoResponse, Redirect, Response},
};
use webhook_core::{
    Error, ErrorKind, Timestamp,
    admin::{API_KEY_USER, Admin, Caller, Credential},
    relay::ClientAddr,
};

pub(crate) use links::Links;
pub use seal::SessionKey;
pub(crate) use seal::{Seal, Ticket};
pub use strip::strip_session;

use crate::{Dashboard, PATH, page::Problem};

/// The cookie's name over TLS, where browsers keep other hosts and plain http from
/// setting it.
const SECURE_NAME: &str = "__Secure-webhook-session";
/// Its name over plain http.
const NAME: &str = "webhook-session";

/// The caller of a session, read again for each request, and the dashboard of the session.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    pub(crate) dashboard: Dashboard,
    pub(crate) caller: Caller,
    /// The credential, for what outlives a request.
    pub(crate) ticket: Arc<Ticket>,
}

impl Session {
    pub(crate) fn admin(&self) -> &Admin {
        self.dashboard.admin()
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.dashboard.now()
    }

    /// What the pages call the credential.
    pub(crate) fn who(&self) -> String {
        match self.caller.credential() {
            Credential::AccessToken { id, .. } => {
                let id = id.to_string();
                format!("token {}…", id.get(..8).unwrap_or(&id))
            }
            _ => "API key".to_owned(),
        }
    }

    /// Whether it reaches what belongs to the account as a whole.
    pub(crate) fn has_account(&self) -> bool {
        self.caller.require_account().is_ok()
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Session {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let session = parts.extensions.get::<Self>().cloned();
        session.ok_or_else(|| Error::new(ErrorKind::Unauthorized, "not signed in").into())
    }
}

/// Middleware that lets those pass who are signed in, and leads all others to signing in
/// and back. The credential is looked up at each request: one that was replaced,
/// disabled or removed ends the session at once.
pub(crate) async fn require(
    State(dashboard): State<Dashboard>,
    mut request: Request,
    next: Next,
) -> Response {
    let now = dashboard.now();
    let secure = is_secure(&request);
    let Some(ticket) = ticket(&dashboard, request.headers()) else {
        return to_sign_in(&request);
    };
    let caller = match dashboard.admin().authenticate(&ticket.key, &ticket.secret).await {
        Ok(caller) => caller,
        Err(error) if error.kind() == ErrorKind::Unauthorized => return to_sign_in(&request),
        Err(error) => return Problem::from(error).into_response(),
    };
    if let Err(error) = caller.require_api_access() {
        return Problem::from(error).into_response();
    }
    let renewed = ticket.renewed(now);
    let session = Session { dashboard: dashboard.clone(), caller, ticket: Arc::new(ticket) };
    request.extensions_mut().insert(session);
    let mut response = next.run(request).await;
    // What signs out sets a cookie of its own.
    if let Some(ticket) = renewed
        && !response.headers().contains_key(SET_COOKIE)
    {
        match dashboard.shared.seal.seal(&ticket) {
            Ok(sealed) => set(&mut response, &sealed, secure),
            Err(error) => tracing::warn!(%error, "a session could not be renewed"),
        }
    }
    response
}

fn ticket(dashboard: &Dashboard, headers: &HeaderMap) -> Option<Ticket> {
    let now = dashboard.now();
    let values = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let cookies = values.flat_map(|value| value.split(';')).filter_map(|it| it.split_once('='));
    let ours = cookies.filter(|(name, _)| [NAME, SECURE_NAME].contains(&name.trim()));
    let mut tickets = ours.filter_map(|(_, value)| dashboard.shared.seal.open(value.trim()));
    tickets.find(|ticket| ticket.is_valid(now))
}

fn to_sign_in(request: &Request) -> Response {
    // A part of a page cannot lead anywhere: its page is asked for the next time.
    if request.headers().contains_key("hx-request") {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    // The router is nested: the beginning of the address is off the request's own.
    let (path, query) = (request.uri().path(), request.uri().query());
    let path = if path == "/" { "" } else { path };
    let next = match *request.method() {
        Method::GET => {
            format!("{PATH}{path}{}", query.map(|it| format!("?{it}")).unwrap_or_default())
        }
        _ => PATH.to_owned(),
    };
    let next: String = form_urlencoded::byte_serialize(next.as_bytes()).collect();
    Redirect::to(&format!("{PATH}/sign-in?next={next}")).into_response()
}

/// Makes a session for a credential that was just found right.
pub(crate) fn begin(
    dashboard: &Dashboard,
    key: Option<&str>,
    secret: &str,
    secure: bool,
    next: &str,
) -> Result<Response, Error> {
    let ticket = Ticket::new(key.unwrap_or(API_KEY_USER), secret, dashboard.now());
    let sealed = dashboard.shared.seal.seal(&ticket)?;
    let mut response = Redirect::to(own_path(next)).into_response();
    set(&mut response, &sealed, secure);
    Ok(response)
}

/// Ends the session in this browser.
pub(crate) fn end() -> Response {
    let mut response = Redirect::to(&format!("{PATH}/sign-in")).into_response();
    for (name, secure) in [(NAME, ""), (SECURE_NAME, "; Secure")] {
        let gone = format!("{name}=; Path={PATH}; Max-Age=0; HttpOnly; SameSite=Strict{secure}");
        append(&mut response, &gone);
    }
    response
}

/// A path of these pages; the first page in place of anything else.
fn own_path(next: &str) -> &str {
    let rest = next.strip_prefix(PATH);
    let is_own = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?']));
    let is_plain = next.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    if is_own && is_plain { next } else { PATH }
}

fn set(response: &mut Response, sealed: &str, secure: bool) {
    let (name, mark) = if secure { (SECURE_NAME, "; Secure") } else { (NAME, "") };
    append(response, &format!("{name}={sealed}; Path={PATH}; HttpOnly; SameSite=Strict{mark}"));
}

fn append(response: &mut Response, cookie: &str) {
    if let Ok(value) = HeaderValue::try_from(cookie) {
        response.headers_mut().append(SET_COOKIE, value);
    }
}

pub(crate) fn is_secure(request: &Request) -> bool {
    request.extensions().get::<ClientAddr>().is_some_and(|client| client.secure)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signing_in_leads_to_own_pages_only() {
        for own in ["/dashboard", "/dashboard/buckets?q=a%20b", "/dashboard?x"] {
            assert_eq!(own_path(own), own);
        }
        for other in [
            "",
            "/",
            "//evil",
            "/dashboardx",
            "https://evil/dashboard",
            "/dashboard/\\",
            "/dashboard/\r\nx",
        ] {
            assert_eq!(own_path(other), PATH, "{other:?}");
        }
    }
}
