//! Signing in and out.

use askama::Template;
use axum::{
    extract::{FromRequest, Path, Request, State},
    http::StatusCode,
    response::Response,
};
use webhook_core::{
    Error, ErrorKind,
    admin::{API_KEY_USER, Caller},
    relay::ClientAddr,
};

use super::Asked;
use crate::{
    Dashboard, PATH, cross_origin,
    form::Submitted,
    page::{Frame, Reply, page, page_with},
    session,
};

#[derive(Template)]
#[template(path = "sign_in.html")]
struct SignIn {
    frame: Frame,
    next: String,
    error: Option<String>,
}

impl SignIn {
    fn new(next: &str, error: Option<String>) -> Self {
        Self { frame: Frame::anonymous("Sign in"), next: next.to_owned(), error }
    }
}

pub(crate) async fn show(asked: Asked) -> Response {
    page(&SignIn::new(asked.text("next"), None))
}

pub(crate) async fn sign_in(State(dashboard): State<Dashboard>, request: Request) -> Reply {
    let from = request.extensions().get::<ClientAddr>().map(|client| client.ip);
    let secure = session::is_secure(&request);
    let tried = dashboard.shared.tries.count(from, dashboard.now());
    let submitted = Submitted::from_request(request, &()).await?;
    let next = submitted.text("next");
    let (key, secret) = (submitted.text("key").trim(), submitted.text("secret").trim());
    let admin = dashboard.admin();
    let found = match (tried, secret) {
        (Err(error), _) => Err(error),
        (Ok(()), "") => admin.authenticate_api_key(key).await.map(|caller| (caller, None, key)),
        (Ok(()), _) => {
            let caller = admin.authenticate(key, secret).await;
            caller.map(|caller| (caller, Some(key), secret))
        }
    };
    let found =
        found.and_then(|(caller, key, secret)| caller.require_api_access().map(|()| (key, secret)));
    match found {
        Ok((key, secret)) => Ok(session::begin(&dashboard, key, secret, secure, next)?),
        Err(error) => {
            let status = error.kind().status();
            let message = match error.kind() {
                ErrorKind::Unauthorized => {
                    "This is no API key and no token of this server, or it is disabled.".to_owned()
                }
                _ => error.to_string(),
            };
            Ok(page_with(status, &SignIn::new(next, Some(message))))
        }
    }
}

/// Signs the first visitor of a link in.
pub(crate) async fn by_link(
    State(dashboard): State<Dashboard>,
    Path(token): Path<String>,
    request: Request,
) -> Reply {
    if cross_origin::is_foreign(request.headers()) {
        let reason = "open the link in the address bar of the browser";
        return Err(Error::new(ErrorKind::Forbidden, reason).into());
    }
    let Some(account) = dashboard.shared.links.take(&token, dashboard.now()) else {
        let message = "This link was used already, or is too old. Sign in with the API key.";
        let page = SignIn::new("", Some(message.to_owned()));
        return Ok(page_with(StatusCode::NOT_FOUND, &page));
    };
    let key = dashboard.admin().api_key(&Caller::for_account(account)).await?;
    let secure = session::is_secure(&request);
    Ok(session::begin(&dashboard, Some(API_KEY_USER), key.key.expose(), secure, PATH)?)
}

pub(crate) async fn sign_out() -> Response {
    session::end()
}
