//! AWS Signature Version 4.
//!
//! <https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html>
//!
//! Signed are the method, the path, the query, the body, and of the headers `Host`,
//! `Content-Type`, `Content-MD5` and all of `X-Amz-*`: others may be changed on the way.

mod canonical;
#[cfg(test)]
mod tests;

use http::{
    HeaderName, HeaderValue,
    header::{AUTHORIZATION, CONTENT_TYPE, HOST},
};
use ring::{
    digest::{SHA256, digest},
    hmac::{HMAC_SHA256, Key as HmacKey, sign as hmac},
};

use crate::credentials::{
    CredentialError, Request,
    apply::{hidden, set},
    signing::hex,
};
use canonical::{Canonical, PathForm};

const ALGORITHM: &str = "AWS4-HMAC-SHA256";
static DATE: HeaderName = HeaderName::from_static("x-amz-date");
static CONTENT_SHA256: HeaderName = HeaderName::from_static("x-amz-content-sha256");
static SECURITY_TOKEN: HeaderName = HeaderName::from_static("x-amz-security-token");

/// An access key, and for what it signs.
pub(crate) struct Key<'a> {
    pub(crate) id: &'a str,
    pub(crate) secret: &'a str,
    /// Empty for a key that is not temporary.
    pub(crate) session_token: &'a str,
    pub(crate) region: &'a str,
    pub(crate) service: &'a str,
}

/// Signs `request` by its header `Authorization`.
pub(crate) fn sign(key: &Key<'_>, request: Request<'_>, now: i64) -> Result<(), CredentialError> {
    let Request { method, url, headers, body } = request;
    let date = date(now)?;
    headers.remove(AUTHORIZATION);
    set(headers, DATE.clone(), value(&date)?)?;
    let payload = hex(digest(&SHA256, body).as_ref());
    let path_form = PathForm::of(key.service);
    headers.remove(&CONTENT_SHA256);
    if path_form == PathForm::AsStored {
        set(headers, CONTENT_SHA256.clone(), value(&payload)?)?;
    }
    match key.session_token {
        "" => drop(headers.remove(&SECURITY_TOKEN)),
        token => set(headers, SECURITY_TOKEN.clone(), hidden(token)?)?,
    }

    let mut signed: Vec<(&str, &[u8])> = headers
        .iter()
        .filter(|(name, _)| {
            **name == CONTENT_TYPE || *name == HOST || {
                let name = name.as_str();
                name == "content-md5" || name.starts_with("x-amz-")
            }
        })
        .map(|(name, value)| (name.as_str(), value.as_bytes()))
        .collect();
    if !headers.contains_key(HOST) {
        let authority = url.authority().map_or("", |authority| authority.as_str());
        signed.push(("host", authority.as_bytes()));
    }
    let canonical = Canonical {
        method: method.as_str(),
        path: url.path(),
        path_form,
        query: url.query().unwrap_or_default(),
        headers: signed,
        payload: &payload,
    };
    let authorization = authorization(key, &canonical, &date);
    set(headers, AUTHORIZATION, hidden(&authorization)?)
}

/// The value of the header.
fn authorization(key: &Key<'_>, canonical: &Canonical<'_>, date: &str) -> String {
    let (text, signed_headers) = canonical.text();
    let scope = key.scope(date);
    let signature = key.signature(date, &string_to_sign(&text, &scope, date));
    let id = key.id;
    format!(
        "{ALGORITHM} Credential={id}/{scope}, SignedHeaders={signed_headers}, Signature={signature}"
    )
}

fn string_to_sign(canonical: &[u8], scope: &str, date: &str) -> String {
    let canonical = hex(digest(&SHA256, canonical).as_ref());
    format!("{ALGORITHM}\n{date}\n{scope}\n{canonical}")
}

impl Key<'_> {
    fn scope(&self, date: &str) -> String {
        let day = day(date);
        format!("{day}/{}/{}/aws4_request", self.region, self.service)
    }

    fn signature(&self, date: &str, text: &str) -> String {
        let first = format!("AWS4{}", self.secret).into_bytes();
        let chain = [day(date), self.region, self.service, "aws4_request"];
        let key = chain.iter().fold(first, |key, part| keyed(&key, part));
        hex(&keyed(&key, text))
    }
}

fn keyed(key: &[u8], text: &str) -> Vec<u8> {
    hmac(&HmacKey::new(HMAC_SHA256, key), text.as_bytes()).as_ref().to_vec()
}

/// `20150830T123600Z`.
fn date(now: i64) -> Result<String, CredentialError> {
    let moment = jiff::Timestamp::from_second(now);
    let moment = moment.map_err(|_| CredentialError::new("the clock shows no time of this era"))?;
    Ok(moment.strftime("%Y%m%dT%H%M%SZ").to_string())
}

fn day(date: &str) -> &str {
    date.split('T').next().unwrap_or_default()
}

fn value(text: &str) -> Result<HeaderValue, CredentialError> {
    HeaderValue::try_from(text).map_err(|_| CredentialError::new("a date cannot be sent"))
}
