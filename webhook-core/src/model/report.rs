//! What callers ask of a log.

use base64::{
    Engine, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use bytes::Bytes;
use serde::{Deserialize, Deserializer, de};

use super::{DeliveryStatus, Headers, wire};
use crate::id::OutputId;

/// What a client did with a webhook; everything may be left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LogReport {
    /// What became of it. Without it a status code of 200 to 300 is `sent`,
    /// anything else `failed`.
    #[serde(default, deserialize_with = "optional_status")]
    pub status: Option<DeliveryStatus>,
    /// The target's status; 0 when there was no answer.
    #[serde(default, deserialize_with = "wire::null_default")]
    pub status_code: u16,
    /// The target's body, in base64.
    #[serde(default, deserialize_with = "base64_text")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = Byte))]
    pub response_body: Bytes,
    /// The target's headers.
    #[serde(default, deserialize_with = "wire::null_default")]
    #[cfg_attr(feature = "openapi", schema(value_type = HashMap<String, Vec<String>>))]
    pub response_headers: Headers,
    /// Attempts beyond the first.
    #[serde(default, deserialize_with = "wire::null_default")]
    pub retries: u32,
    /// How long the last one took, in milliseconds.
    #[serde(default, deserialize_with = "wire::null_default")]
    pub duration_ms: u64,
}

/// What is to be done with a log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LogAction {
    /// `resend`.
    #[serde(default, deserialize_with = "wire::null_default")]
    pub action: String,
    /// The ID of another output of the webhook's bucket. Without it the same
    /// one, or all enabled outputs when the log is of none.
    #[serde(default, deserialize_with = "wire::optional_id::deserialize")]
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub output: Option<OutputId>,
    /// `skip` (what is meant by nothing) sends the request again that was sent;
    /// `force` runs rules and functions anew.
    #[serde(default, deserialize_with = "wire::null_default")]
    pub process_policy: String,
}

/// `""` and `null` say nothing.
fn optional_status<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<DeliveryStatus>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        Text(String),
        Number(i64),
    }
    let text = match Option::<Written>::deserialize(deserializer)? {
        None => return Ok(None),
        Some(Written::Text(text)) if text.is_empty() => return Ok(None),
        Some(Written::Text(text)) => text,
        Some(Written::Number(number)) => number.to_string(),
    };
    DeliveryStatus::from_wire(&text).map(Some).ok_or_else(|| {
        de::Error::custom(
            "must be one of preparing, sent, failed, stalled, received, rejected, or 0 to 5",
        )
    })
}

fn base64_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Bytes, D::Error> {
    const LENIENT: GeneralPurpose = GeneralPurpose::new(
        &alphabet::STANDARD,
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
    );
    let text = Option::<String>::deserialize(deserializer)?.unwrap_or_default();
    LENIENT.decode(text).map(Bytes::from).map_err(|_| de::Error::custom("must be base64"))
}
