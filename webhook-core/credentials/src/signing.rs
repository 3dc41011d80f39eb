//! Signatures of webhooks.

use base64::{Engine, engine::general_purpose::STANDARD};
use http::{HeaderMap, HeaderName, HeaderValue};
use ring::{hmac, signature::Ed25519KeyPair};
use serde::{Deserialize, Serialize};
use webhook_wire::Secret;

use crate::{CredentialError, Invalid};

const MAX_SECRETS: usize = 2;
const MAX_SECRET_BYTES: usize = 1_024;
const MAX_PREFIX_BYTES: usize = 64;
/// The bounds of the Standard Webhooks specification, for HMAC.
const STANDARD_KEY_BYTES: std::ops::RangeInclusive<usize> = 24..=64;

/// How the webhooks of an output are signed, as it is on the wire (`docs/signing.md`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = OutputSigning))]
pub struct SigningSpec {
    /// Whether webhooks are signed at all.
    pub enabled: bool,
    /// How.
    pub format: SigningFormat,
    /// One, or two while receivers change from the first to the second: each signs until it
    /// expires. One must not expire.
    pub secrets: Vec<SigningSecret>,
    /// What the names of the headers begin with, before `id`, `timestamp` and `signature`.
    /// Empty is `webhook-`.
    pub prefix: String,
}

impl Default for SigningSpec {
    fn default() -> Self {
        let (format, secrets) = (SigningFormat::default(), Vec::new());
        Self { enabled: true, format, secrets, prefix: "webhook-".to_owned() }
    }
}

/// How a webhook is signed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum SigningFormat {
    /// [Standard Webhooks](https://www.standardwebhooks.com) by HMAC-SHA-256: `v1,` and
    /// base64, of `{id}.{timestamp}.{body}`. Secrets are `whsec_` and base64.
    #[default]
    StandardWebhooks,
    /// HMAC-SHA-256 of the body: `sha256=` and hex, as GitHub signs. The secret is its text.
    HmacBody,
    /// HMAC-SHA-256 of `{timestamp}.{body}`: `t=…,v1=` and hex, as Stripe signs. The secret
    /// is its text.
    HmacTimestampBody,
    /// Standard Webhooks by Ed25519: `v1a,` and base64. Secrets are `whsk_` and base64 of
    /// the seed, or of seed and public key.
    Ed25519,
}

/// A secret, and until when it signs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SigningSecret {
    /// The secret, in the form of the format. Answers show a mask, which stands for the
    /// stored secret when it is sent back.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub secret: Secret,
    /// From this moment on, in seconds since 1970, it signs nothing; 0 is never.
    #[serde(default)]
    pub expires_at: i64,
}

/// What is signed.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    /// Identifies the webhook, over all attempts.
    pub id: &'a str,
    /// When this attempt is made, in seconds since 1970.
    pub timestamp: i64,
    /// The body as it is sent.
    pub body: &'a [u8],
}

impl SigningSpec {
    /// Whether it can sign, from `now` (in seconds since 1970) on.
    ///
    /// # Errors
    /// What is wrong, with the field as `signing.…`.
    pub fn check(&self, now: i64) -> Result<(), Invalid> {
        let Self { enabled, format, secrets, prefix } = self;
        if !prefix.is_empty() {
            let name = HeaderName::try_from(format!("{prefix}signature"));
            let reason = match name {
                Err(_) => "must be what the name of a header can begin with, such as webhook-",
                Ok(_) if prefix.len() > MAX_PREFIX_BYTES => "must be at most 64 bytes long",
                Ok(_) if prefix.eq_ignore_ascii_case("x-webhook-relay-") => "is the relay's own",
                Ok(_) => "",
            };
            if !reason.is_empty() {
                return Err(Invalid::new("signing.prefix", reason));
            }
        }
        if secrets.len() > MAX_SECRETS || (*enabled && secrets.is_empty()) {
            let reason = format!("must be one or two, not {}", secrets.len());
            return Err(Invalid::new("signing.secrets", reason));
        }
        for (at, SigningSecret { secret, expires_at }) in secrets.iter().enumerate() {
            let field = |name| format!("signing.secrets[{at}].{name}");
            Key::new(*format, secret).map_err(|reason| Invalid::new(field("secret"), reason))?;
            if *expires_at < 0 {
                return Err(Invalid::new(field("expires_at"), "must not be negative"));
            }
        }
        let lasts = |secret: &SigningSecret| secret.expires_at == 0;
        if *enabled && !secrets.iter().any(lasts) {
            let last = secrets.iter().map(|secret| secret.expires_at).enumerate();
            let (at, moment) = last.max_by_key(|(_, moment)| *moment).unwrap_or_default();
            let reason = match moment <= now {
                true => "has passed, and no other secret signs",
                false => "must be 0 for one secret, or nothing would sign afterwards",
            };
            return Err(Invalid::new(format!("signing.secrets[{at}].expires_at"), reason));
        }
        Ok(())
    }

    /// Puts the signature of `message` into `headers`, in place of what is there under the
    /// same names.
    ///
    /// # Errors
    /// No secret signs at this time, or a secret cannot be used, which
    /// [`check`](Self::check) would have said.
    pub fn sign(
        &self,
        message: &Message<'_>,
        headers: &mut HeaderMap,
    ) -> Result<(), CredentialError> {
        if !self.enabled {
            return Ok(());
        }
        let now = message.timestamp;
        let valid = self.secrets.iter().filter(|it| it.expires_at == 0 || now < it.expires_at);
        let mut signatures = Vec::with_capacity(MAX_SECRETS);
        for SigningSecret { secret, .. } in valid {
            let key = Key::new(self.format, secret);
            signatures
                .push(key.map_err(|reason| CredentialError::new(format!("a secret {reason}")))?);
        }
        if signatures.is_empty() {
            return Err(CredentialError::new("every secret of signing has expired"));
        }
        let Message { id, timestamp, body } = message;
        let stamped = format!("{timestamp}.");
        let named = format!("{id}.{stamped}");
        let each =
            |parts: &[&[u8]]| signatures.iter().map(|key| key.sign(parts)).collect::<Vec<_>>();
        let signature = match self.format {
            SigningFormat::StandardWebhooks | SigningFormat::Ed25519 => {
                self.set(headers, "id", id)?;
                self.set(headers, "timestamp", &timestamp.to_string())?;
                each(&[named.as_bytes(), body]).join(" ")
            }
            SigningFormat::HmacBody => each(&[body]).join(","),
            SigningFormat::HmacTimestampBody => {
                let signatures = each(&[stamped.as_bytes(), body]).join(",");
                format!("t={timestamp},{signatures}")
            }
        };
        self.set(headers, "signature", &signature)
    }

    fn set(&self, headers: &mut HeaderMap, name: &str, value: &str) -> Result<(), CredentialError> {
        let prefix = if self.prefix.is_empty() { "webhook-" } else { &self.prefix };
        let name = HeaderName::try_from(format!("{prefix}{name}"));
        let value = HeaderValue::try_from(value);
        let (Ok(name), Ok(value)) = (name, value) else {
            return Err(CredentialError::new("the signature cannot be sent in a header"));
        };
        crate::apply::set(headers, name, value)
    }
}

/// A secret that can sign.
enum Key {
    Hmac(hmac::Key, fn(&[u8]) -> String),
    Ed25519(Box<Ed25519KeyPair>),
}

impl Key {
    /// Else what is wrong with the secret.
    fn new(format: SigningFormat, secret: &Secret) -> Result<Self, String> {
        let text = secret.expose();
        if text.is_empty() {
            return Err("must not be empty".to_owned());
        }
        if text.len() > MAX_SECRET_BYTES {
            return Err(format!("must be at most {MAX_SECRET_BYTES} bytes long"));
        }
        let hmac = |key: &[u8], write| Self::Hmac(hmac::Key::new(hmac::HMAC_SHA256, key), write);
        match format {
            SigningFormat::HmacBody => {
                Ok(hmac(text.as_bytes(), |tag| format!("sha256={}", hex(tag))))
            }
            SigningFormat::HmacTimestampBody => {
                Ok(hmac(text.as_bytes(), |tag| format!("v1={}", hex(tag))))
            }
            SigningFormat::StandardWebhooks => {
                let key = decoded(text, "whsec_")?;
                match STANDARD_KEY_BYTES.contains(&key.len()) {
                    true => Ok(hmac(&key, |tag| format!("v1,{}", STANDARD.encode(tag)))),
                    false => Err(format!("must be 24 to 64 bytes in base64, not {}", key.len())),
                }
            }
            SigningFormat::Ed25519 => {
                let key = decoded(text, "whsk_")?;
                let pair = match key.split_first_chunk::<32>() {
                    Some((seed, [])) => Ed25519KeyPair::from_seed_unchecked(seed),
                    Some((seed, public)) => Ed25519KeyPair::from_seed_and_public_key(seed, public),
                    None => return Err("must be a seed of 32 bytes in base64".to_owned()),
                };
                let wrong = "must be a seed of 32 bytes, alone or with its public key, in base64";
                pair.map(|pair| Self::Ed25519(Box::new(pair))).map_err(|_| wrong.to_owned())
            }
        }
    }

    /// The signature of all `parts` together, as it is written.
    fn sign(&self, parts: &[&[u8]]) -> String {
        match self {
            Self::Hmac(key, write) => {
                let mut context = hmac::Context::with_key(key);
                parts.iter().for_each(|part| context.update(part));
                write(context.sign().as_ref())
            }
            Self::Ed25519(pair) => {
                format!("v1a,{}", STANDARD.encode(pair.sign(&parts.concat())))
            }
        }
    }
}

/// What stands after `prefix`, out of base64.
fn decoded(text: &str, prefix: &str) -> Result<Vec<u8>, String> {
    let wrong = || format!("must be {prefix} followed by base64");
    STANDARD.decode(text.strip_prefix(prefix).ok_or_else(wrong)?).map_err(|_| wrong())
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}

#[cfg(test)]
mod tests;
