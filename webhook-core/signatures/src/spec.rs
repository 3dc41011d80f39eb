//! What an account writes: `signature` of an input.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Algorithm, Encoding, Scheme, Secret};

/// How the webhooks of an input are verified, as it is on the wire.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Signature))]
pub struct SignatureSpec {
    /// Whether webhooks are verified at all.
    pub enabled: bool,
    /// The name of a preset; `hmac` for an HMAC of the body, with the four fields at the
    /// end; `custom` for `scheme`.
    pub provider: String,
    /// One to five, of which any may verify; none where the provider needs none.
    #[cfg_attr(feature = "openapi", schema(max_items = 5))]
    pub secrets: Vec<SecretSpec>,
    /// What a provider needs beside a secret, by name: `verify_token`, `webhook_id`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[cfg_attr(feature = "openapi", schema(value_type = BTreeMap<String, String>))]
    pub parameters: BTreeMap<String, Secret>,
    /// How far the timestamp of a webhook may be from now, in nanoseconds, before and
    /// after: one second to one day. 0 is what the provider advises, mostly five minutes.
    #[cfg_attr(feature = "openapi", schema(minimum = 0, maximum = 86_400_000_000_000i64))]
    pub tolerance: i64,
    /// The URL as the sender has it, where that is part of what is signed. Empty is the
    /// input's public URL.
    #[cfg_attr(feature = "openapi", schema(max_length = 2048))]
    pub url: String,
    /// What becomes of a webhook that is not verified.
    pub on_failure: OnFailure,
    /// Whether handshakes of the provider are answered.
    pub challenge: bool,
    /// The scheme of the provider `custom`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheme: Option<Scheme>,
    /// For the provider `hmac`: the header of the signature.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub header: String,
    /// For the provider `hmac`: `hmac-sha1`, `hmac-sha256` (which it is without) or
    /// `hmac-sha512`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub algorithm: Option<Algorithm>,
    /// For the provider `hmac`: how the signature is written; `hex` without.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoding: Option<Encoding>,
    /// For the provider `hmac`: what the header begins with before the signature.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub prefix: String,
}

impl Default for SignatureSpec {
    fn default() -> Self {
        Self {
            enabled: true,
            provider: String::new(),
            secrets: Vec::new(),
            parameters: BTreeMap::new(),
            tolerance: 0,
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

/// A secret, and until when it verifies.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = SignatureSecret))]
pub struct SecretSpec {
    /// The secret, as the provider shows it.
    #[cfg_attr(feature = "openapi", schema(value_type = String, max_length = 16_384))]
    pub secret: Secret,
    /// From this moment on, in seconds since 1970, it verifies nothing; 0 is never.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(minimum = 0))]
    pub expires_at: i64,
}

/// What becomes of a webhook that is not verified.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = SignatureOnFailure))]
pub enum OnFailure {
    /// It is answered 401 and not forwarded.
    #[default]
    Reject,
    /// It is forwarded, and its log says that it is not verified.
    Mark,
}

/// What is wrong with a [`SignatureSpec`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {reason}")]
pub struct Invalid {
    /// Which field: `signature.secrets[0].secret`.
    pub field: String,
    /// What is wrong with it.
    pub reason: String,
}

impl Invalid {
    pub(crate) fn new(field: impl AsRef<str>, reason: impl Into<String>) -> Self {
        Self { field: format!("signature.{}", field.as_ref()), reason: reason.into() }
    }
}
