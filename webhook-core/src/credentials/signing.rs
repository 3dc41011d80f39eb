//! Signatures of webhooks.

use crate::wire::{Choice, Described, Secret, Timestamp, described::Invalid};
use base64::{Engine, engine::general_purpose::STANDARD};
use http::{HeaderMap, HeaderName, HeaderValue};
use ring::{hmac, signature::Ed25519KeyPair};
use serde::{Deserialize, Serialize};

use crate::credentials::CredentialError;

const MAX_SECRETS: usize = 2;
const MAX_SECRET_BYTES: usize = 1_024;
const MAX_PREFIX_BYTES: usize = 64;
/// The bounds of the Standard Webhooks specification, for HMAC.
const STANDARD_KEY_BYTES: std::ops::RangeInclusive<usize> = 24..=64;

/// How the webhooks of an output are signed, as it is on the wire.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Described)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = OutputSigning))]
#[described(rules)]
pub struct SigningSpec {
    /// Whether webhooks are signed at all.
    #[field(label = "Sign what is sent", brief)]
    pub enabled: bool,
    /// The format of the signature.
    #[field(label = "Format", brief)]
    pub format: SigningFormat,
    /// One, or two while receivers change from the first to the second: each signs until it
    /// expires. One must not expire.
    #[field(label = "Secret", max = MAX_SECRETS)]
    pub secrets: Vec<SigningSecret>,
    /// The beginning of the names of the headers, before `id`, `timestamp` and `signature`; empty
    /// stands for `webhook-`.
    #[field(label = "Headers begin with", max = MAX_PREFIX_BYTES, example = "x-shop-")]
    pub prefix: String,
}

impl Default for SigningSpec {
    fn default() -> Self {
        let (format, secrets) = (SigningFormat::default(), Vec::new());
        Self { enabled: true, format, secrets, prefix: "webhook-".to_owned() }
    }
}

/// How a webhook is signed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Choice)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum SigningFormat {
    /// [Standard Webhooks](https://www.standardwebhooks.com) by HMAC-SHA-256: `v1,` and
    /// base64, of `{id}.{timestamp}.{body}`. Secrets are `whsec_` and base64.
    #[default]
    #[choice("Standard Webhooks: v1, and base64")]
    StandardWebhooks,
    /// HMAC-SHA-256 of the body: `sha256=` and hex, as GitHub signs. The secret is its text.
    #[choice("HMAC-SHA-256 of the body: sha256= and hex, as GitHub")]
    HmacBody,
    /// HMAC-SHA-256 of `{timestamp}.{body}`: `t=…,v1=` and hex, as Stripe signs. The secret
    /// is its text.
    #[choice("HMAC-SHA-256 of time and body: t=…,v1=…, as Stripe")]
    HmacTimestampBody,
    /// Standard Webhooks by Ed25519: `v1a,` and base64. Secrets are `whsk_` and base64 of
    /// the seed, or of seed and public key.
    #[choice("Standard Webhooks by Ed25519: v1a, and base64")]
    Ed25519,
}

/// A secret, and until when it signs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Described)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[described(row)]
pub struct SigningSecret {
    /// The secret in the form of the format: whsec_ and base64 of 24 to 64 bytes for Standard
    /// Webhooks, whsk_ and base64 of the seed for Ed25519, any text for the others. Answers show a
    /// mask, which stands for the stored secret when it is sent back.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    #[field(label = "Secret", max = MAX_SECRET_BYTES, required, raw)]
    pub secret: Secret,
    /// The moment from which on it signs nothing; 0 for never.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = i64))]
    #[field(label = "Ends")]
    pub expires_at: Timestamp,
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
    fn rules(&self) -> Result<(), Invalid> {
        let Self { enabled, format, secrets, prefix } = self;
        let is_beginning = HeaderName::try_from(format!("{prefix}signature")).is_ok();
        let reason = "must be what the name of a header can begin with, such as webhook-";
        Invalid::when(!is_beginning, "prefix", reason)?;
        let is_ours = prefix.eq_ignore_ascii_case("x-webhook-relay-");
        Invalid::when(is_ours, "prefix", "is the relay's own")?;
        Invalid::when(*enabled && secrets.is_empty(), "secrets", "must be one or two, not 0")?;
        for (at, SigningSecret { secret, .. }) in secrets.iter().enumerate() {
            let place = || format!("secrets[{at}].secret");
            Key::new(*format, secret).map_err(|reason| Invalid::new(place(), reason))?;
        }
        Ok(())
    }

    /// Whether one secret signs from `now` (in seconds since 1970) on, and forever; and whether
    /// the fields fit together.
    ///
    /// # Errors
    /// The field and the reason: `secrets[0].secret`.
    pub fn check(&self, now: i64) -> Result<(), Invalid> {
        self.rules()?;
        let never = Timestamp::default();
        if !self.enabled || self.secrets.iter().any(|secret| secret.expires_at == never) {
            return Ok(());
        }
        let moments = self.secrets.iter().map(|secret| secret.expires_at).enumerate();
        let (at, moment) = moments.max_by_key(|(_, moment)| *moment).unwrap_or_default();
        let reason = match moment.as_secs() <= now {
            true => "has passed, and no other secret signs",
            false => "must be 0 for one secret, or nothing would sign afterwards",
        };
        Err(Invalid::new(format!("secrets[{at}].expires_at"), reason))
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
        let lasts = |at: Timestamp| at == Timestamp::default() || now < at.as_secs();
        let valid = self.secrets.iter().filter(|it| lasts(it.expires_at));
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
        crate::credentials::apply::set(headers, name, value)
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
