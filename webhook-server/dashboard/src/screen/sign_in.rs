//! Signing in and out.

use askama::Template;
use axum::{
    extract::{Extension, FromRequest, Path, Request, State},
    http::{HeaderMap, StatusCode},
    response::Response,
};
use webhook_core::{Error, ErrorKind, admin::Caller, relay::ClientAddr};

use super::Asked;
use crate::{
    Dashboard, PATH, cross_origin,
    form::Submitted,
    page::{Frame, Reply, page, page_with},
    session::{self, Browser},
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
    let browser = Browser::asking(&request);
    let submitted = Submitted::from_request(request, &()).await?;
    let next = submitted.text("next");
    let (key, secret) = (submitted.text("key").trim(), submitted.text("secret").trim());
    let admin = dashboard.admin();
    let found = match secret {
        "" => admin.authenticate_api_key(key).await.map(|caller| (caller, None, key)),
        _ => {
            let caller = admin.authenticate(key, secret).await;
            caller.map(|caller| (caller, Some(key), secret))
        }
    };
    let found = found.and_then(|(caller, key, secret)| {
        caller.require_api_access()?;
        Ok((caller, key, secret))
    });
    match found {
        Ok((caller, key, secret)) => {
            Ok(browser.begin(&dashboard, &caller, key, secret, session::to(next)).await?)
        }
        Err(error) if error.kind() == ErrorKind::Unauthorized => {
            let message = "This is no API key and no token of this server, or it is disabled.";
            let page = SignIn::new(next, Some(message.to_owned()));
            let mut response = page_with(StatusCode::UNAUTHORIZED, &page);
            if let Some(held_back) = dashboard.shared.tries.wrong(from, dashboard.now()) {
                response.extensions_mut().insert(held_back);
            }
            Ok(response)
        }
        Err(error) => {
            let page = SignIn::new(next, Some(error.to_string()));
            Ok(page_with(error.kind().status(), &page))
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
    let caller = dashboard.admin().authenticate_api_key(key.key.expose()).await?;
    let (browser, page) = (Browser::asking(&request), session::to(PATH));
    Ok(browser.begin(&dashboard, &caller, None, key.key.expose(), page).await?)
}

pub(crate) async fn sign_out(
    State(dashboard): State<Dashboard>,
    client: Option<Extension<ClientAddr>>,
    headers: HeaderMap,
) -> Reply {
    Ok(session::end(&dashboard, &headers, client.as_deref()).await?)
}
