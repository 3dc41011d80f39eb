//! Browsers that are signed in: the cookie of each, and the session in the store that it names.

mod links;
mod seal;
mod strip;

use std::{net::IpAddr, sync::Arc};

use axum::{
    extract::{FromRequestParts, Request, State},
    http::{
        HeaderMap, HeaderValue, Method, StatusCode,
        header::{COOKIE, SET_COOKIE, USER_AGENT},
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
pub use strip::{strip_session, strip_set_session};

use crate::{Dashboard, PATH, page::Problem};

/// The cookie's name over TLS, where browsers keep other hosts, pages of plain http and other
/// paths from setting it.
const SECURE_NAME: &str = "__Host-webhook-session";
/// Its name over TLS in earlier versions.
const EARLIER_NAME: &str = "__Secure-webhook-session";
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

    /// Whether the credential still makes the same caller, and the session has not ended: for what
    /// outlives a request.
    pub(crate) async fn goes_on(&self) -> Result<bool, Error> {
        let (admin, ticket) = (self.admin(), &self.ticket);
        Ok(admin.is_still(&self.caller, &ticket.key, &ticket.secret).await?
            && admin.session(&self.caller, &ticket.id).await?.is_some())
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
    let Some(ticket) = ticket(&dashboard, request.headers(), is_secure(request.extensions().get()))
    else {
        return to_sign_in(&request);
    };
    let caller = match caller(dashboard.admin(), &ticket).await {
        Ok(Some(caller)) => caller,
        Ok(None) => return to_sign_in(&request),
        Err(error) if error.kind() == ErrorKind::Unauthorized => return to_sign_in(&request),
        Err(error) => return Problem::from(error).into_response(),
    };
    let session = Session { dashboard: dashboard.clone(), caller, ticket: Arc::new(ticket) };
    request.extensions_mut().insert(session);
    next.run(request).await
}

/// Who shows the ticket; none when the session has ended.
async fn caller(admin: &Admin, ticket: &Ticket) -> Result<Option<Caller>, Error> {
    let caller = admin.authenticate(&ticket.key, &ticket.secret).await?;
    caller.require_api_access()?;
    let Some(session) = admin.session(&caller, &ticket.id).await? else { return Ok(None) };
    admin.note_session(&session).await?;
    Ok(Some(caller))
}

/// The ticket that a request carries. Over TLS the cookie of plain http is ignored: a page of plain
/// http could have set it.
pub(crate) fn ticket(dashboard: &Dashboard, headers: &HeaderMap, secure: bool) -> Option<Ticket> {
    let name = if secure { SECURE_NAME } else { NAME };
    let values = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let cookies = values.flat_map(|value| value.split(';')).filter_map(|it| it.split_once('='));
    let mut ours = cookies.filter(|(found, _)| found.trim() == name);
    ours.find_map(|(_, value)| dashboard.shared.seal.open(value.trim()))
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

/// A browser that signs in.
#[derive(Debug)]
pub(crate) struct Browser {
    secure: bool,
    address: Option<IpAddr>,
    agent: String,
}

impl Browser {
    pub(crate) fn of(headers: &HeaderMap, client: Option<&ClientAddr>) -> Self {
        let agent = headers.get(USER_AGENT).map(|it| String::from_utf8_lossy(it.as_bytes()));
        Self {
            secure: is_secure(client),
            address: client.map(|client| client.ip),
            agent: agent.unwrap_or_default().into_owned(),
        }
    }

    pub(crate) fn asking(request: &Request) -> Self {
        Self::of(request.headers(), request.extensions().get())
    }

    /// Begins a session with a credential that was just found right, and adds its cookie to the
    /// answer.
    pub(crate) async fn begin(
        &self,
        dashboard: &Dashboard,
        caller: &Caller,
        key: Option<&str>,
        secret: &str,
        mut response: Response,
    ) -> Result<Response, Error> {
        let id = dashboard.admin().begin_session(caller, self.address, &self.agent).await?;
        let key = key.unwrap_or(API_KEY_USER).to_owned();
        let sealed = dashboard.shared.seal.seal(&Ticket { key, secret: secret.to_owned(), id })?;
        let (name, path, mark) = match self.secure {
            // The prefix asks for this path.
            true => (SECURE_NAME, "/", "; Secure"),
            false => (NAME, PATH, ""),
        };
        append(
            &mut response,
            &format!("{name}={sealed}; Path={path}; HttpOnly; SameSite=Strict{mark}"),
        );
        Ok(response)
    }
}

/// Ends the session that a request carries, on the server and in the browser.
pub(crate) async fn end(
    dashboard: &Dashboard,
    headers: &HeaderMap,
    client: Option<&ClientAddr>,
) -> Result<Response, Error> {
    if let Some(ticket) = ticket(dashboard, headers, is_secure(client)) {
        dashboard.admin().end_session(&ticket.id).await?;
    }
    let mut response = Redirect::to(&format!("{PATH}/sign-in")).into_response();
    for (name, path, mark) in
        [(NAME, PATH, ""), (EARLIER_NAME, PATH, "; Secure"), (SECURE_NAME, "/", "; Secure")]
    {
        let gone = format!("{name}=; Path={path}; Max-Age=0; HttpOnly; SameSite=Strict{mark}");
        append(&mut response, &gone);
    }
    Ok(response)
}

/// To a page of these, after signing in.
pub(crate) fn to(next: &str) -> Response {
    Redirect::to(own_path(next)).into_response()
}

/// A path of these pages; the first page in place of anything else.
fn own_path(next: &str) -> &str {
    let rest = next.strip_prefix(PATH);
    let is_own = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?']));
    let is_plain = next.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    if is_own && is_plain { next } else { PATH }
}

fn append(response: &mut Response, cookie: &str) {
    if let Ok(value) = HeaderValue::try_from(cookie) {
        response.headers_mut().append(SET_COOKIE, value);
    }
}

/// Whether a request came over TLS, to this server or to a proxy in front of it.
pub(crate) fn is_secure(client: Option<&ClientAddr>) -> bool {
    client.is_some_and(|client| client.secure)
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
