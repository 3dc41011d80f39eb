//! What an account writes: `signature` of an input.

use std::{collections::BTreeMap, time::Duration};

use serde::{Deserialize, Serialize};
use webhook_wire::{
    Choice, Described, Timestamp,
    described::{days, seconds},
    json as wire,
};

use crate::{Algorithm, Encoding, Scheme, Secret};

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
    /// What becomes of a webhook that is not verified.
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

/// What becomes of a webhook that is not verified.
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
