//! What Stripe says when it does not do what it was asked for.

use std::error::Error as StdError;

use http::StatusCode;
use serde::Deserialize;
use webhook_core::billing::BillingError;

/// Why there is no answer to go on with.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Stripe says no, and would again.
    Refused(Refusal),
    /// There is no answer, or none that makes sense.
    Failed { message: &'static str, source: Box<dyn StdError + Send + Sync> },
}

/// An answer of 400, 402 or 404 (<https://docs.stripe.com/api/errors>).
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    pub(crate) detail: Detail,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Detail {
    #[serde(rename = "type")]
    kind: Option<String>,
    code: Option<String>,
    param: Option<String>,
    message: Option<String>,
}

const UNREACHABLE: &str = "the payment processor cannot be reached; try again later";
const MISCONFIGURED: &str = "the payment processor does not accept this server's credentials";
const BUSY: &str = "the payment processor has too much to do; try again later";

impl Failure {
    pub(crate) fn unreachable(source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::Failed { message: UNREACHABLE, source: source.into() }
    }

    /// What an answer other than 2xx comes to.
    pub(crate) fn of(status: StatusCode, body: &[u8]) -> Self {
        #[derive(Default, Deserialize)]
        struct Body {
            #[serde(default)]
            error: Detail,
        }
        let Body { error: detail } = serde_json::from_slice(body).unwrap_or_default();
        match status.as_u16() {
            // Stripe's message repeats a part of the key.
            401 | 403 => Self::failed(MISCONFIGURED, status, &Detail { message: None, ..detail }),
            409 | 429 => Self::failed(BUSY, status, &detail),
            // Something that is no such API says 404 in words of its own.
            400 | 402 | 404 => Self::Refused(Refusal { status: status.as_u16(), detail }),
            _ => Self::failed(UNREACHABLE, status, &detail),
        }
    }

    fn failed(message: &'static str, status: StatusCode, detail: &Detail) -> Self {
        let Detail { kind, code, param: _, message: said } = detail;
        let part = |part: &Option<String>| part.as_deref().map(without_keys).unwrap_or_default();
        let text = format!("{status}: {} {} {}", part(kind), part(code), part(said));
        Self::Failed { message, source: text.trim_end().into() }
    }

    /// The parameter that names something which is not there.
    pub(crate) fn missing(&self) -> Option<&str> {
        match self {
            Self::Refused(Refusal { detail: Detail { code: Some(code), param, .. }, .. })
                if code == "resource_missing" =>
            {
                param.as_deref()
            }
            _ => None,
        }
    }

    /// Whether the object itself that the request was about is not there.
    pub(crate) fn is_missing(&self) -> bool {
        matches!(self, Self::Refused(refusal) if refusal.status == 404)
            || self.missing().is_some_and(|param| matches!(param, "id" | "customer"))
    }
}

impl From<Failure> for BillingError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Failed { message, source } => Self::Failed { message, source },
            Failure::Refused(Refusal { status, detail }) => {
                let reason = match (detail.message, detail.code) {
                    (Some(message), _) if !message.is_empty() => without_keys(&message),
                    (_, Some(code)) => without_keys(&code),
                    _ => format!("status {status}"),
                };
                Self::Refused(format!("the payment processor refuses this: {reason}"))
            }
        }
    }
}

/// The same text, with everything that could be a key or a part of one left out.
pub(crate) fn without_keys(text: &str) -> String {
    let is_key = |word: &str| ["sk_", "rk_", "whsec_"].iter().any(|prefix| word.contains(prefix));
    let words = text.split(' ').map(|word| if is_key(word) { "[key]" } else { word });
    words.collect::<Vec<_>>().join(" ")
}
