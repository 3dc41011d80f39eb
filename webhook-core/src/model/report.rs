//! What callers ask of a log.

use std::time::Duration;

use bytes::Bytes;
use serde::{Deserialize, Deserializer, de};

use super::{DeliveryStatus, Headers, ProcessPolicy, Resend, resend::process_policy, wire};
use crate::{
    encoding::Base64,
    error::Error,
    id::{DeliveryId, OutputId},
};

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
    /// With `preparing`, in nanoseconds: how much longer the client has a webhook that it leased,
    /// from now on, 1 second to 12 hours. Zero says nothing.
    #[serde(default, with = "wire::nanoseconds")]
    #[cfg_attr(feature = "openapi", schema(value_type = i64))]
    pub lease: Duration,
}

/// What became of many webhooks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Acknowledgement {
    /// Their logs, 1 to 100.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<String>))]
    pub ids: Vec<DeliveryId>,
    /// What became of them, `sent` without it. `received` gives back what was leased, and
    /// `preparing` keeps it.
    #[serde(default, deserialize_with = "optional_status")]
    pub status: Option<DeliveryStatus>,
    /// As [`LogReport::lease`].
    #[serde(default, with = "wire::nanoseconds")]
    #[cfg_attr(feature = "openapi", schema(value_type = i64))]
    pub lease: Duration,
}

/// What is to be done with a log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LogAction {
    /// `resend`.
    #[serde(default, deserialize_with = "action")]
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub action: Option<Action>,
    /// The ID of another output of the webhook's bucket. Without it the same
    /// one, or all enabled outputs when the log is of none.
    #[serde(default, deserialize_with = "wire::optional_id::deserialize")]
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub output: Option<OutputId>,
    /// `skip` (what is meant by nothing) sends the request again that was sent;
    /// `force` runs rules and functions anew.
    #[serde(default, deserialize_with = "process_policy")]
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub process_policy: ProcessPolicy,
}

/// The actions on a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action {
    /// The webhook is sent again.
    Resend,
}

impl LogAction {
    /// What is sent again, for the log `log`.
    ///
    /// # Errors
    ///
    /// [`Invalid`](crate::ErrorKind::Invalid) when no action was named.
    pub fn resend(self, log: DeliveryId) -> Result<Resend, Error> {
        let Self { action, output, process_policy: policy } = self;
        match action {
            Some(Action::Resend) => Ok(Resend { log, output, policy }),
            None => Err(Error::invalid("action", NO_ACTION)),
        }
    }
}

/// What is said when something else is asked for than there is.
const NO_ACTION: &str = "must be \"resend\"";

fn action<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Action>, D::Error> {
    match Option::<String>::deserialize(deserializer)?.as_deref() {
        None => Ok(None),
        Some("resend") => Ok(Some(Action::Resend)),
        Some(_) => Err(de::Error::custom(NO_ACTION)),
    }
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
    let text = Option::<String>::deserialize(deserializer)?.unwrap_or_default();
    let decoded = Base64::Standard.decode(text.as_bytes());
    decoded.map(Bytes::from).map_err(|_| de::Error::custom("must be base64"))
}
