//! Client credentials of OAuth2 (RFC 6749 section 4.4), and the answers of its servers.

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use http::{
    HeaderMap, HeaderValue, Uri,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE},
};
use serde::Deserialize;
use serde_json::Value;
use url::form_urlencoded::{Serializer, byte_serialize};

use super::{Answer, Fetch, Question, Token};
use crate::credentials::{ClientAuth, CredentialError, OAuth2Auth, apply::hidden};

/// How much of a server's own words is passed on.
const MAX_QUOTED_CHARS: usize = 200;

pub(super) async fn ask(
    fetch: &dyn Fetch,
    auth: &OAuth2Auth,
    now: i64,
) -> Result<Token, CredentialError> {
    let (headers, form) = question(auth)?;
    let answer = send(fetch, &auth.token_url, headers, form).await?;
    let granted = granted(&answer, auth.client_secret.expose())?;
    let text = granted.access_token.ok_or_else(|| unreadable("has no access_token"))?;
    Token::new(text, granted.expires_in, now)
}

fn question(auth: &OAuth2Auth) -> Result<(HeaderMap, String), CredentialError> {
    let (id, secret) = (auth.client_id.as_str(), auth.client_secret.expose());
    let mut form = Serializer::new(String::new());
    form.append_pair("grant_type", "client_credentials");
    for (name, value) in [("scope", &auth.scope), ("audience", &auth.audience)] {
        if !value.is_empty() {
            form.append_pair(name, value);
        }
    }
    let mut headers = HeaderMap::new();
    match auth.client_auth.unwrap_or_default() {
        ClientAuth::ClientSecretBasic => {
            // Each half is form-encoded first (RFC 6749 section 2.3.1).
            let encoded = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
            let pair = STANDARD.encode(format!("{}:{}", encoded(id), encoded(secret)));
            headers.insert(AUTHORIZATION, hidden(&format!("Basic {pair}"))?);
        }
        ClientAuth::ClientSecretPost => {
            form.append_pair("client_id", id).append_pair("client_secret", secret);
        }
    }
    Ok((headers, form.finish()))
}

/// Sends a form to a server of tokens.
pub(super) async fn send(
    fetch: &dyn Fetch,
    url: &str,
    mut headers: HeaderMap,
    form: String,
) -> Result<Answer, CredentialError> {
    let url: Uri = url.parse().map_err(|_| CredentialError::new("the token url is no url"))?;
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"));
    headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    let question = Question { url, headers, body: Bytes::from(form) };
    let sent = fetch.fetch(question).await;
    sent.map_err(|error| CredentialError::new(format!("no token could be asked for: {error}")))
}

/// What a server grants (RFC 6749 section 5.1; `id_token` as Google has it).
#[derive(Debug)]
pub(super) struct Granted {
    pub(super) access_token: Option<String>,
    pub(super) id_token: Option<String>,
    pub(super) expires_in: Option<i64>,
}

/// Else why it grants nothing, in words that do not have `secret` in them.
pub(super) fn granted(answer: &Answer, secret: &str) -> Result<Granted, CredentialError> {
    #[derive(Deserialize)]
    struct Body {
        access_token: Option<String>,
        id_token: Option<String>,
        token_type: Option<String>,
        expires_in: Option<Value>,
    }
    if !answer.status.is_success() {
        let said = refusal(&answer.body, secret);
        let status = answer.status.as_u16();
        return Err(CredentialError::new(format!("the token server answered {status}{said}")));
    }
    let body: Body = serde_json::from_slice(&answer.body)
        .map_err(|_| unreadable("is not a JSON object of RFC 6749"))?;
    let is_bearer = |kind: &String| kind.eq_ignore_ascii_case("bearer");
    if body.token_type.as_ref().is_some_and(|kind| !is_bearer(kind)) {
        return Err(unreadable("has a token_type other than Bearer"));
    }
    let expires_in = match body.expires_in {
        Some(Value::String(text)) => text.trim().parse().ok(),
        Some(Value::Number(number)) => number.as_f64().map(|secs| secs as i64),
        _ => None,
    };
    Ok(Granted { access_token: body.access_token, id_token: body.id_token, expires_in })
}

pub(super) fn unreadable(what: &str) -> CredentialError {
    CredentialError::new(format!("the answer of the token server {what}"))
}

/// What the server says of its refusal (RFC 6749 section 5.2).
fn refusal(body: &[u8], secret: &str) -> String {
    #[derive(Default, Deserialize)]
    struct Body {
        #[serde(default)]
        error: Value,
        #[serde(default)]
        error_description: Value,
    }
    let body: Body = serde_json::from_slice(body).unwrap_or_default();
    let mut said = String::new();
    for part in [&body.error, &body.error_description] {
        let Some(part) = part.as_str().filter(|part| !part.is_empty()) else { continue };
        // Some servers repeat what they were sent.
        if !secret.is_empty() && part.contains(secret) {
            continue;
        }
        let shown = part.chars().filter(|c| !c.is_control()).take(MAX_QUOTED_CHARS);
        said.push_str(": ");
        said.extend(shown);
    }
    said
}
