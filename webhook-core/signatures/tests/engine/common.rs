//! What the tests share.

use std::{collections::BTreeMap, time::Duration};

use http::{HeaderMap, HeaderName, HeaderValue};
use ring::hmac;
use serde::{Deserialize, Deserializer};
use webhook_signatures::{
    Algorithm, Encoding, Invalid, Now, Request, Scheme, Secret, SignatureField, Verifier,
};

pub(crate) const NOW: Now = Now::from_unix_seconds(1_767_225_600);
pub(crate) const URL: &str = "https://hooks.example.com/v1/webhooks/abc";

/// A request to verify, and what it borrows from.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) method: &'static str,
    pub(crate) url: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

impl Sent {
    pub(crate) fn get(query: &str) -> Self {
        let url = if query.is_empty() { URL.to_owned() } else { format!("{URL}?{query}") };
        Self { method: "GET", url, headers: HeaderMap::new(), body: String::new() }
    }

    pub(crate) fn post(body: impl Into<String>) -> Self {
        Self { method: "POST", body: body.into(), ..Self::get("") }
    }

    pub(crate) fn header(mut self, name: &str, value: impl AsRef<str>) -> Self {
        let name = HeaderName::try_from(name).expect("the name of a header");
        self.headers.append(name, HeaderValue::from_str(value.as_ref()).expect("a value"));
        self
    }

    pub(crate) fn request(&self) -> Request<'_> {
        Request {
            method: self.method,
            url: &self.url,
            raw_query: self.url.split_once('?').map_or("", |(_, query)| query),
            headers: &self.headers,
            body: self.body.as_bytes(),
        }
    }
}

/// A signature as `docs/signatures.md` shows it, as far as it is this crate's.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct SignatureSpec {
    pub(crate) provider: String,
    pub(crate) secrets: Vec<SecretSpec>,
    pub(crate) parameters: BTreeMap<String, Secret>,
    #[serde(deserialize_with = "nanoseconds")]
    pub(crate) tolerance: Duration,
    pub(crate) url: String,
    pub(crate) challenge: bool,
    pub(crate) scheme: Option<Scheme>,
    pub(crate) header: String,
    pub(crate) algorithm: Algorithm,
    pub(crate) encoding: Encoding,
    pub(crate) prefix: String,
}

/// A secret, and the seconds since 1970 until which it verifies.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub(crate) struct SecretSpec {
    pub(crate) secret: Secret,
    #[serde(default)]
    pub(crate) expires_at: Option<i64>,
}

fn nanoseconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    u64::deserialize(deserializer).map(Duration::from_nanos)
}

impl Default for SignatureSpec {
    fn default() -> Self {
        Self {
            provider: String::new(),
            secrets: Vec::new(),
            parameters: BTreeMap::new(),
            tolerance: Duration::ZERO,
            url: String::new(),
            challenge: true,
            scheme: None,
            header: String::new(),
            algorithm: Algorithm::default(),
            encoding: Encoding::default(),
            prefix: String::new(),
        }
    }
}

impl SignatureSpec {
    pub(crate) fn verifier(&self) -> Result<Verifier, Invalid> {
        let Self { provider, header, algorithm, encoding, prefix, .. } = self.clone();
        let mut builder = match (&*provider, &self.scheme) {
            ("custom", Some(scheme)) => Verifier::custom(scheme.clone()),
            ("hmac", _) => {
                let field =
                    SignatureField { name: header, prefix, encoding, ..SignatureField::default() };
                Verifier::custom(Scheme::hmac_of_body(field, algorithm))
            }
            _ => Verifier::preset(provider),
        };
        for SecretSpec { secret, expires_at } in self.secrets.clone() {
            builder = builder.secret_until(secret, expires_at.map(Now::from_unix_seconds));
        }
        for (name, value) in self.parameters.clone() {
            builder = builder.parameter(name, value);
        }
        builder.tolerance(self.tolerance).url(&self.url).challenges(self.challenge).build()
    }
}

pub(crate) fn spec(provider: &str, secrets: &[&str], parameters: &[(&str, &str)]) -> SignatureSpec {
    let secret = |secret: &&str| SecretSpec { secret: Secret::new(*secret), expires_at: None };
    let parameter = |(name, value): &(&str, &str)| ((*name).to_owned(), Secret::new(*value));
    SignatureSpec {
        provider: provider.to_owned(),
        secrets: secrets.iter().map(secret).collect(),
        parameters: parameters.iter().map(parameter).collect(),
        ..SignatureSpec::default()
    }
}

pub(crate) fn verifier(provider: &str, secrets: &[&str], parameters: &[(&str, &str)]) -> Verifier {
    let spec = spec(provider, secrets, parameters);
    spec.verifier().unwrap_or_else(|invalid| panic!("{provider}: {invalid}"))
}

/// The HMAC-SHA256 of a text, in hexadecimal digits.
pub(crate) fn mac(secret: &str, text: &str) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    let made = hmac::sign(&key, text.as_bytes());
    made.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}
