//! What the tests of handshakes and of bad input share.

use http::{HeaderMap, HeaderName, HeaderValue};
use ring::hmac;
use webhook_signatures::{Now, Request, Secret, SecretSpec, SignatureSpec, Timestamp, Verifier};

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

pub(crate) fn spec(provider: &str, secrets: &[&str], parameters: &[(&str, &str)]) -> SignatureSpec {
    let secret = |secret: &&str| SecretSpec {
        secret: Secret::new(*secret),
        expires_at: Timestamp::default(),
    };
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
    Verifier::new(&spec).unwrap_or_else(|invalid| panic!("{provider}: {invalid}"))
}

/// The HMAC-SHA256 of a text, in hexadecimal digits.
pub(crate) fn mac(secret: &str, text: &str) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    let made = hmac::sign(&key, text.as_bytes());
    made.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}
