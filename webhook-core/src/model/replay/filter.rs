//! What logs are filtered by, as people and programs write it.

use crate::wire::Described;
use serde::{Deserialize, Deserializer, Serialize};

use crate::id::DeliveryId;

/// Which logs, in the words of the query string of `GET /v1/logs`. Empty text says nothing.
///
/// ```
/// use webhook_core::model::ReplayFilter;
///
/// let filter: ReplayFilter = serde_json::from_str(r#"{"status":"failed","status_code":503}"#)?;
/// assert_eq!(filter.log_filter()?.status_code, Some(503..=503));
///
/// let wrong = ReplayFilter { status_code: "all".to_owned(), ..ReplayFilter::default() };
/// let error = wrong.log_filter().expect_err("no status code");
/// assert!(error.to_string().starts_with("filter.status_code: must be"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Described)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ReplayFilter {
    /// Of this bucket: its ID or name.
    #[serde(deserialize_with = "text", skip_serializing_if = "String::is_empty")]
    #[field]
    pub bucket: String,
    /// Received at this input: its ID.
    #[serde(deserialize_with = "text", skip_serializing_if = "String::is_empty")]
    #[field]
    pub input: String,
    /// For this output: its ID.
    #[serde(deserialize_with = "text", skip_serializing_if = "String::is_empty")]
    #[field]
    pub output: String,
    /// In this status: its name or integer.
    #[serde(deserialize_with = "text", skip_serializing_if = "String::is_empty")]
    #[field]
    pub status: String,
    /// The last attempt came to this status code, or one of a class: `404`, `5xx`; 0 is no
    /// answer.
    #[serde(deserialize_with = "text", skip_serializing_if = "String::is_empty")]
    #[field]
    pub status_code: String,
    /// Ended for this reason: `rules`, `signature`, `attempts_exhausted`, ….
    #[serde(deserialize_with = "text", skip_serializing_if = "String::is_empty")]
    #[field]
    pub reason: String,
    /// Received with this method.
    #[serde(deserialize_with = "text", skip_serializing_if = "String::is_empty")]
    #[field]
    pub method: String,
    /// What followed the input's address has this in it.
    #[serde(deserialize_with = "text", skip_serializing_if = "String::is_empty")]
    #[field]
    pub path: String,
    /// The last attempt took so long: `300ms`, `1.5s`, or nanoseconds.
    #[serde(deserialize_with = "text", skip_serializing_if = "String::is_empty")]
    #[field]
    pub min_duration: String,
    /// Whether the webhook is from whom it says it is: `true` or `false`.
    #[serde(deserialize_with = "text", skip_serializing_if = "String::is_empty")]
    #[field]
    pub verified: String,
    /// The first moment: `YYYY-MM-DD` (UTC), RFC 3339, or unix seconds.
    #[serde(deserialize_with = "text", skip_serializing_if = "String::is_empty")]
    #[field]
    pub from: String,
    /// The last moment, inclusive: of a day, the whole day. Without it, and when it lies in the
    /// future, now.
    #[serde(deserialize_with = "text", skip_serializing_if = "String::is_empty")]
    #[field]
    pub to: String,
    /// The path, the query, a header, the body, the answer or the error has this in it; 3 to 256
    /// bytes.
    #[serde(deserialize_with = "text", skip_serializing_if = "String::is_empty")]
    #[field]
    pub search: String,
    /// A header has this in it, as `Name:text`; `Name:` is there.
    #[serde(deserialize_with = "text", skip_serializing_if = "String::is_empty")]
    #[field]
    pub header: String,
    /// The body has this at a path, as `path:text`.
    #[serde(deserialize_with = "text", skip_serializing_if = "String::is_empty")]
    #[field]
    pub payload: String,
    /// These logs and no others, at most 1 000, as far as they are like the rest of the filter.
    #[serde(
        deserialize_with = "crate::model::wire::null_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<String>))]
    #[field]
    pub ids: Vec<DeliveryId>,
}

impl ReplayFilter {
    /// How many logs may be named one by one.
    pub const MAX_IDS: usize = 1_000;
}

/// Text, or what is written as a number or a truth and means the same.
fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "must be text or a number")]
    enum Written {
        Text(String),
        Number(u64),
        Truth(bool),
    }
    Ok(match Option::<Written>::deserialize(deserializer)? {
        None => String::new(),
        Some(Written::Text(text)) => text,
        Some(Written::Number(number)) => number.to_string(),
        Some(Written::Truth(truth)) => truth.to_string(),
    })
}
