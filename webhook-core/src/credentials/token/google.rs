//! Tokens of Google, by the key of a service account (RFC 7523 section 2.1).
//!
//! <https://developers.google.com/identity/protocols/oauth2/service-account#httprest>

use std::fmt;

use base64::{
    Engine,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use http::HeaderMap;
use ring::{rand::SystemRandom, rsa, signature::RSA_PKCS1_SHA256};
use serde::Deserialize;
use serde_json::{Value, json};
use url::form_urlencoded::Serializer;

use super::{Fetch, Token, oauth2};
use crate::credentials::{CredentialError, GoogleAuth};

const TOKEN_URI: &str = "https://oauth2.googleapis.com/token";
const GRANT_TYPE: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
/// How long an assertion is valid, and the token that is granted for it.
const LIFE_SECS: i64 = 3_600;

pub(super) async fn ask(
    fetch: &dyn Fetch,
    auth: &GoogleAuth,
    now: i64,
) -> Result<Token, CredentialError> {
    let account = ServiceAccount::read(auth.service_account.expose())
        .map_err(|reason| CredentialError::new(format!("the service account {reason}")))?;
    let assertion = account.assertion(&auth.scope, &auth.target_audience, now)?;
    let form = Serializer::new(String::new())
        .append_pair("grant_type", GRANT_TYPE)
        .append_pair("assertion", &assertion)
        .finish();
    let answer = oauth2::send(fetch, account.token_uri(), HeaderMap::new(), form).await?;
    let granted = oauth2::granted(&answer, &assertion)?;
    if auth.target_audience.is_empty() {
        let text = granted.access_token;
        let text = text.ok_or_else(|| oauth2::unreadable("has no access_token"))?;
        return Token::new(text, granted.expires_in, now);
    }
    let text = granted.id_token.ok_or_else(|| oauth2::unreadable("has no id_token"))?;
    let life = expiry(&text).map_or(LIFE_SECS, |moment| moment.saturating_sub(now));
    Token::new(text, Some(life), now)
}

/// The claim `exp` of a token.
fn expiry(token: &str) -> Option<i64> {
    let payload = URL_SAFE_NO_PAD.decode(token.split('.').nth(1)?).ok()?;
    let claims: Value = serde_json::from_slice(&payload).ok()?;
    claims.get("exp")?.as_i64()
}

/// The key of a service account, as Google hands it out.
pub(crate) struct ServiceAccount {
    email: String,
    key_id: String,
    token_uri: String,
    key: rsa::KeyPair,
}

impl fmt::Debug for ServiceAccount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServiceAccount").field("email", &self.email).finish_non_exhaustive()
    }
}

impl ServiceAccount {
    /// Else what is wrong with it.
    pub(crate) fn read(json: &str) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct File {
            client_email: Option<String>,
            private_key: Option<String>,
            private_key_id: Option<String>,
            token_uri: Option<String>,
        }
        // What serde says could quote the key.
        let file: File = serde_json::from_str(json)
            .map_err(|_| "must be the JSON key of a service account".to_owned())?;
        let needed = |value: Option<String>, name: &str| {
            value.filter(|text| !text.is_empty()).ok_or_else(|| format!("has no {name}"))
        };
        let email = needed(file.client_email, "client_email")?;
        let pem = needed(file.private_key, "private_key")?;
        let key =
            rsa_key(&pem).ok_or("has a private_key that is no RSA key of 2048 bits or more")?;
        let key_id = file.private_key_id.unwrap_or_default();
        let token_uri = file.token_uri.unwrap_or_else(|| TOKEN_URI.to_owned());
        Ok(Self { email, key_id, token_uri, key })
    }

    /// Where its tokens are asked for.
    pub(crate) fn token_uri(&self) -> &str {
        &self.token_uri
    }

    /// A signed JSON Web Token that asks for a token.
    fn assertion(&self, scope: &str, audience: &str, now: i64) -> Result<String, CredentialError> {
        let mut header = json!({"alg": "RS256", "typ": "JWT"});
        if !self.key_id.is_empty() {
            header["kid"] = Value::from(self.key_id.as_str());
        }
        let mut claims = json!({
            "iss": self.email,
            "aud": self.token_uri,
            "iat": now,
            "exp": now.saturating_add(LIFE_SECS),
        });
        match audience {
            "" => claims["scope"] = Value::from(scope),
            audience => claims["target_audience"] = Value::from(audience),
        }
        let encoded = |part: &Value| URL_SAFE_NO_PAD.encode(part.to_string());
        let signed = format!("{}.{}", encoded(&header), encoded(&claims));
        let mut signature = vec![0; self.key.public().modulus_len()];
        self.key
            .sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), signed.as_bytes(), &mut signature)
            .map_err(|_| CredentialError::new("the service account's key does not sign"))?;
        Ok(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }
}

/// A private key in PEM (RFC 7468), PKCS #8 or PKCS #1.
fn rsa_key(pem: &str) -> Option<rsa::KeyPair> {
    let body = |label: &str| {
        let (_, rest) = pem.split_once(&format!("-----BEGIN {label}-----"))?;
        let (body, _) = rest.split_once(&format!("-----END {label}-----"))?;
        let text: String = body.split_ascii_whitespace().collect();
        STANDARD.decode(text).ok()
    };
    match body("PRIVATE KEY") {
        Some(der) => rsa::KeyPair::from_pkcs8(&der).ok(),
        None => rsa::KeyPair::from_der(&body("RSA PRIVATE KEY")?).ok(),
    }
}
