//! Credentials become part of a request.

use base64::{Engine, engine::general_purpose::STANDARD};
use http::{
    HeaderMap, HeaderName, HeaderValue, Method, Uri,
    header::AUTHORIZATION,
    uri::{Parts, PathAndQuery},
};
use url::form_urlencoded;

use crate::credentials::{AuthSpec, CredentialError, KeyPlace, Token, sigv4};

/// The request that is to be authenticated, otherwise ready to be sent.
#[derive(Debug)]
pub struct Request<'a> {
    /// Its method.
    pub method: &'a Method,
    /// Where it goes: absolute.
    pub url: &'a mut Uri,
    /// Its headers. Without `Host`, that is the authority of the URL.
    pub headers: &'a mut HeaderMap,
    /// Its body.
    pub body: &'a [u8],
}

impl AuthSpec {
    /// Puts the credentials into `request`, in place of what is there under the same names.
    /// `token` is what [`Tokens::token`](crate::credentials::Tokens::token) gave, where there is one, and
    /// `now` is the time in seconds since 1970.
    ///
    /// # Errors
    /// They cannot be sent, which the check of the output would have said, or the token is
    /// missing.
    pub fn apply(
        &self,
        request: Request<'_>,
        token: Option<&Token>,
        now: i64,
    ) -> Result<(), CredentialError> {
        match self {
            Self::None(_) => Ok(()),
            Self::Basic(auth) => {
                let pair = format!("{}:{}", auth.username, auth.password.expose());
                authorization(request.headers, "Basic", &STANDARD.encode(pair))
            }
            Self::Bearer(auth) => authorization(request.headers, "Bearer", auth.token.expose()),
            Self::ApiKey(auth) => match auth.place.unwrap_or_default() {
                KeyPlace::Header => {
                    let name = HeaderName::try_from(&auth.name).map_err(|_| unsendable())?;
                    set(request.headers, name, hidden(auth.value.expose())?)
                }
                KeyPlace::Query => append(request.url, &auth.name, auth.value.expose()),
            },
            Self::Oauth2ClientCredentials(_) | Self::GcpServiceAccount(_) => {
                let token = token.ok_or_else(|| CredentialError::new("there is no token"))?;
                authorization(request.headers, "Bearer", token.expose())
            }
            Self::AwsSigv4(auth) => {
                let key = sigv4::Key {
                    id: &auth.access_key_id,
                    secret: auth.secret_access_key.expose(),
                    session_token: auth.session_token.expose(),
                    region: &auth.region,
                    service: &auth.service,
                };
                sigv4::sign(&key, request, now)
            }
        }
    }
}

fn authorization(headers: &mut HeaderMap, scheme: &str, text: &str) -> Result<(), CredentialError> {
    set(headers, AUTHORIZATION, hidden(&format!("{scheme} {text}"))?)
}

/// A value that `Debug` hides.
pub(crate) fn hidden(text: &str) -> Result<HeaderValue, CredentialError> {
    let mut value = HeaderValue::try_from(text).map_err(|_| unsendable())?;
    value.set_sensitive(true);
    Ok(value)
}

/// `HeaderMap::insert` that fails instead of panicking when the map is full.
pub(crate) fn set(
    headers: &mut HeaderMap,
    name: HeaderName,
    value: HeaderValue,
) -> Result<(), CredentialError> {
    match headers.try_insert(name, value) {
        Ok(_) => Ok(()),
        Err(_) => Err(CredentialError::new("the request has too many headers")),
    }
}

fn unsendable() -> CredentialError {
    CredentialError::new("the credentials cannot be sent in a header")
}

/// Adds a parameter to the end of the query.
fn append(url: &mut Uri, name: &str, value: &str) -> Result<(), CredentialError> {
    let added = form_urlencoded::Serializer::new(String::new()).append_pair(name, value).finish();
    let (path, query) = (url.path(), url.query());
    let query = match query {
        None | Some("") => format!("{path}?{added}"),
        Some(query) => format!("{path}?{query}&{added}"),
    };
    let unsendable = || CredentialError::new("the key cannot be sent in the query");
    let mut parts: Parts = url.clone().into_parts();
    parts.path_and_query = Some(PathAndQuery::try_from(query).map_err(|_| unsendable())?);
    *url = Uri::from_parts(parts).map_err(|_| unsendable())?;
    Ok(())
}
