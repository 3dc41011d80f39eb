//! The credentials of the account: its API key, and access tokens.

mod tokens;

use askama::Template;
use axum::{
    Router,
    extract::Extension,
    http::HeaderMap,
    routing::{get, post},
};
use webhook_core::{
    Error,
    admin::API_KEY_USER,
    model::{AccessToken, ApiAccess, ApiKey},
    relay::ClientAddr,
};

use super::{Asked, done};
use crate::{
    Dashboard, PATH,
    form::Submitted,
    page::{Frame, Problem, Reply, page},
    session::{Browser, Session},
    show,
};

pub(crate) fn router() -> Router<Dashboard> {
    Router::new()
        .route("/keys", get(show))
        .route("/keys/reveal", post(reveal))
        .route("/keys/rotate", post(rotate))
        .route("/keys/switch", post(switch))
        .route("/keys/tokens/new", get(tokens::new).post(tokens::create))
        .route("/keys/tokens/{token}", get(tokens::show).post(tokens::save))
        .route("/keys/tokens/{token}/delete", post(tokens::delete))
}

#[derive(Template)]
#[template(path = "keys.html")]
struct Keys {
    frame: Frame,
    key: String,
    /// Whether the whole key is shown.
    whole: bool,
    enabled: bool,
    /// Whether this browser is signed in with it.
    own: bool,
    made: String,
    tokens: Vec<Row>,
}

struct Row {
    path: String,
    id: String,
    description: String,
    reaches: String,
    api: bool,
    used: String,
}

fn row(token: AccessToken) -> Row {
    let AccessToken { id, spec, last_login, .. } = token;
    let buckets = spec.scopes.buckets;
    Row {
        path: format!("{PATH}/keys/tokens/{id}"),
        id: id.to_string(),
        description: spec.description,
        reaches: if buckets.is_empty() { "everything".to_owned() } else { buckets.join(", ") },
        api: spec.api_access != ApiAccess::Disabled,
        used: last_login.map_or("never".to_owned(), show::moment),
    }
}

/// Enough of a key to know which one it is.
fn masked(key: &str) -> String {
    let end = key.len().checked_sub(4).and_then(|at| key.get(at..)).unwrap_or_default();
    let start = if key.starts_with("sk-") { "sk-" } else { "" };
    format!("{start}…{end}")
}

async fn keys(session: &Session, key: ApiKey, whole: bool) -> Result<Keys, Problem> {
    let tokens = session.admin().tokens(&session.caller).await?;
    let text = key.key.expose();
    Ok(Keys {
        frame: Frame::new(session, "Keys", "Keys and tokens"),
        key: if whole { text.to_owned() } else { masked(text) },
        whole,
        enabled: key.enabled,
        own: session.ticket.key == API_KEY_USER,
        made: show::moment(key.created_at),
        tokens: tokens.into_iter().map(row).collect(),
    })
}

async fn show(session: Session, asked: Asked) -> Reply {
    let key = session.admin().api_key(&session.caller).await?;
    let mut shown = keys(&session, key, false).await?;
    shown.frame = shown.frame.noticing(asked.get("done"));
    Ok(page(&shown))
}

async fn reveal(session: Session) -> Reply {
    let key = session.admin().api_key(&session.caller).await?;
    Ok(page(&keys(&session, key, true).await?))
}

/// Takes the API key out of use, or back into it. Whoever takes away what they are signed in
/// with is led to signing in.
async fn switch(session: Session, submitted: Submitted) -> Reply {
    let enabled = submitted.text("enabled") == "true";
    let own = session.ticket.key == API_KEY_USER;
    if own && !enabled && !submitted.has("sure") {
        let reason = "say that you have a token to sign in with: this browser is signed out";
        return Err(Error::invalid("sure", reason).into());
    }
    session.admin().set_api_key_enabled(&session.caller, enabled).await?;
    Ok(done("/keys", "saved"))
}

/// Replaces the API key. Whoever was signed in with the old one goes on with the new one.
async fn rotate(
    session: Session,
    client: Option<Extension<ClientAddr>>,
    headers: HeaderMap,
) -> Reply {
    let key = session.admin().regenerate_api_key(&session.caller).await?;
    let new = (session.ticket.key == API_KEY_USER).then(|| key.key.expose().to_owned());
    let mut shown = keys(&session, key, true).await?;
    shown.frame = shown.frame.noticing(Some("rotated"));
    let shown = page(&shown);
    let Some(secret) = new else { return Ok(shown) };
    let browser = Browser::of(&headers, client.as_deref());
    session.admin().end_session(&session.ticket.id).await?;
    Ok(browser.begin(&session.dashboard, &session.caller, None, &secret, shown).await?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_masked_key_says_which_one_it_is_and_no_more() {
        assert_eq!(masked("sk-abcdefghijklmnop"), "sk-…mnop");
        assert_eq!(masked("own key of an operator"), "…ator");
        assert_eq!(masked("é"), "…");
    }
}
