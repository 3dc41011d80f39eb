//! What an account writes: `signature` of an input.

use std::{collections::BTreeMap, time::Duration};

use serde::{Deserialize, Serialize};
use webhook_signatures::{
    Algorithm, Encoding, Invalid as InvalidPart, Now, Scheme, SignatureField, Verifier,
    VerifierBuilder,
};

use crate::wire::{
    Choice, Described, Secret, Timestamp,
    described::{self, Invalid, Optional, Shape, days, seconds},
    json as wire,
};

/// The field of an input that has a signature.
const PLACE: &str = "signature.";

/// How the webhooks of an input are verified, as it is on the wire.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Described)]
#[serde(default)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Signature))]
pub struct SignatureSpec {
    /// Whether webhooks are verified at all.
    #[field(label = "Verify webhooks by this", brief)]
    pub enabled: bool,
    /// The name of a preset; `hmac` for an HMAC of the body, with the four fields at the
    /// end; `custom` for `scheme`.
    #[field(hidden)]
    pub provider: String,
    /// One to five secrets. Each of them may verify. None where the provider needs none.
    #[field(label = "Secret", max = 5)]
    pub secrets: Vec<SecretSpec>,
    /// The values that a provider needs next to a secret, by name: `verify_token`, `webhook_id`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[cfg_attr(feature = "openapi", schema(value_type = BTreeMap<String, String>))]
    #[field(hidden)]
    pub parameters: BTreeMap<String, Secret>,
    /// The greatest difference between the timestamp of a webhook and now, before and after; 0
    /// stands for the advice of the provider, mostly 5m.
    #[serde(with = "wire::nanoseconds")]
    #[cfg_attr(feature = "openapi", schema(value_type = i64, default = 0))]
    #[field(label = "How far its time may be from now", range = seconds(1)..=days(1), or_zero)]
    pub tolerance: Duration,
    /// The URL as the sender has it, where that is part of what is signed. Empty is the
    /// input's public URL.
    #[field(label = "URL", max = 2_048)]
    pub url: String,
    /// How the relay treats a webhook that is not verified.
    #[field(label = "A webhook that is not verified", brief)]
    pub on_failure: OnFailure,
    /// Whether handshakes of the provider are answered.
    #[field(label = "Answer the provider's handshake", brief)]
    pub challenge: bool,
    /// JSON for the provider `custom`: where the signature is, and what it is made of.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[field(label = "Scheme", lines = 12)]
    pub scheme: Option<Scheme>,
    /// For the provider `hmac`: the header of the signature.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[field(label = "Header of the signature")]
    pub header: String,
    /// The algorithm, for the provider `hmac`; `hmac-sha256` unless it is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[field(label = "Algorithm", brief)]
    pub algorithm: Option<Algorithm>,
    /// The encoding of the signature, for the provider `hmac`; `hex` unless it is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[field(label = "Written as", brief)]
    pub encoding: Option<Encoding>,
    /// The text before the signature in its header, for the provider `hmac`, such as sha256=.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[field(label = "Begins with", example = "sha256=")]
    pub prefix: String,
}

impl Default for SignatureSpec {
    fn default() -> Self {
        Self {
            enabled: true,
            provider: String::new(),
            secrets: Vec::new(),
            parameters: BTreeMap::new(),
            tolerance: Duration::ZERO,
            url: String::new(),
            on_failure: OnFailure::Reject,
            challenge: true,
            scheme: None,
            header: String::new(),
            algorithm: None,
            encoding: None,
            prefix: String::new(),
        }
    }
}

impl SignatureSpec {
    /// Compiles what is written here. Whether secrets have ended is not looked at:
    /// [`check`](Self::check) does that when they are written.
    ///
    /// # Errors
    /// [`Invalid`] names the field below the input: a provider that is not known, a secret that
    /// the scheme cannot decode, a scheme that signs nothing, a tolerance out of range.
    pub fn verifier(&self) -> Result<Verifier, Invalid> {
        let built = described::check(self, "").and_then(|()| self.builder()).and_then(|builder| {
            let is_hmac = self.provider == "hmac";
            builder.build().map_err(|InvalidPart { field, reason }| match &*field {
                "scheme.signature.name" if is_hmac => Invalid::new("header", reason),
                _ => Invalid::new(field, reason),
            })
        });
        built.map_err(|invalid| invalid.below(PLACE))
    }

    /// Checks what is written here, for an account that writes it at this moment.
    ///
    /// # Errors
    /// As [`verifier`](Self::verifier), and when no secret is valid any more.
    pub fn check(&self, now: Timestamp) -> Result<(), Invalid> {
        self.verifier()?;
        let has_ended = |secret: &SecretSpec| secret.end().is_some_and(|end| end <= now);
        match self.secrets.len().checked_sub(1) {
            Some(last) if self.secrets.iter().all(has_ended) => {
                let field = format!("secrets[{last}].expires_at");
                let reason = "is in the past, and no other secret is valid";
                Err(Invalid::new(field, reason).below(PLACE))
            }
            _ => Ok(()),
        }
    }

    fn builder(&self) -> Result<VerifierBuilder, Invalid> {
        let mut builder = self.scheme()?;
        for secret in &self.secrets {
            let end = secret.end().map(|end| Now::from_unix_seconds(end.as_secs()));
            builder = builder.secret_until(secret.secret.clone(), end);
        }
        for (name, value) in &self.parameters {
            builder = builder.parameter(name, value.clone());
        }
        Ok(builder.tolerance(self.tolerance).url(&self.url).challenges(self.challenge))
    }

    /// The scheme: a provider's, the account's own, or an HMAC of the body.
    fn scheme(&self) -> Result<VerifierBuilder, Invalid> {
        let Self { provider, scheme, header, algorithm, encoding, prefix, .. } = self;
        if provider != "custom" && scheme.is_some() {
            return Err(Invalid::new("scheme", "is for the provider custom"));
        }
        if provider != "hmac" {
            let set = [
                ("header", !header.is_empty()),
                ("algorithm", algorithm.is_some()),
                ("encoding", encoding.is_some()),
                ("prefix", !prefix.is_empty()),
            ];
            if let Some((field, _)) = set.iter().find(|(_, is_set)| *is_set) {
                return Err(Invalid::new(*field, "is for the provider hmac"));
            }
        }
        match provider.as_str() {
            "" => Err(Invalid::new("provider", "is missing")),
            "custom" => {
                let scheme = scheme.clone();
                Ok(Verifier::custom(scheme.ok_or_else(|| Invalid::new("scheme", "is missing"))?))
            }
            "hmac" => {
                Invalid::when(header.is_empty(), "header", "is missing")?;
                let algorithm = algorithm.unwrap_or_default();
                let reason = "is not hmac-sha1, -sha256 or -sha512";
                Invalid::when(!algorithm.is_hmac(), "algorithm", reason)?;
                let signature = SignatureField {
                    name: header.clone(),
                    prefix: prefix.clone(),
                    encoding: encoding.unwrap_or_default(),
                    ..SignatureField::default()
                };
                Ok(Verifier::custom(Scheme::hmac_of_body(signature, algorithm)))
            }
            name => Ok(Verifier::preset(name)),
        }
    }
}

/// A secret, and until when it verifies.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Described)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = SignatureSecret))]
#[described(row)]
pub struct SecretSpec {
    /// The secret, as the provider shows it.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    #[field(label = "Secret", max = 16 << 10, required, raw)]
    pub secret: Secret,
    /// The moment from which on it verifies nothing; 0 for never.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = i64))]
    #[field(label = "Ends")]
    pub expires_at: Timestamp,
}

impl SecretSpec {
    /// The moment from which on it verifies nothing, if there is one.
    fn end(&self) -> Option<Timestamp> {
        Some(self.expires_at).filter(|end| *end != Timestamp::default())
    }
}

/// How the relay treats a webhook that is not verified.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Choice)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = SignatureOnFailure))]
pub enum OnFailure {
    /// It is answered 401 and not forwarded.
    #[default]
    #[choice("is refused with 401 and not forwarded")]
    Reject,
    /// It is forwarded, and its log says that it is not verified.
    #[choice("is forwarded, and marked in the log")]
    Mark,
}

/// A scheme in a form is JSON.
impl Optional for Scheme {
    const SHAPE: Shape = Shape::Json;

    fn text(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    fn typed(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }
}

impl Choice for Encoding {
    const VALUES: &'static [Self] = &[Self::Hex, Self::HexUpper, Self::Base64, Self::Base64url];
    const NAMES: &'static [(&'static str, &'static str)] = &[
        ("hex", "hex"),
        ("hex-upper", "hex-upper"),
        ("base64", "base64"),
        ("base64url", "base64url"),
    ];
}

/// The algorithms that the provider `hmac` can have.
impl Choice for Algorithm {
    const VALUES: &'static [Self] = &[Self::HmacSha1, Self::HmacSha256, Self::HmacSha512];
    const NAMES: &'static [(&'static str, &'static str)] = &[
        ("hmac-sha1", "hmac-sha1"),
        ("hmac-sha256", "hmac-sha256"),
        ("hmac-sha512", "hmac-sha512"),
    ];
}

#[cfg(test)]
mod tests;
