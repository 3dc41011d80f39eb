//! Cron jobs.

use http::Method;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{Headers, wire};
use crate::{
    clock::Timestamp,
    id::{AccountId, BucketId, CronId, FunctionId, InputId, OutputId},
};

/// A job that puts a webhook into a bucket of its own at certain times.
#[derive(Clone, Debug, PartialEq)]
pub struct Cron {
    /// Identifies the cron.
    pub id: CronId,
    /// The account that owns it.
    pub account_id: AccountId,
    /// Which version of it this is: 1 when it is made, one more with each change of what it is
    /// configured to be. Pauses and other states are no part of it.
    pub version: u64,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed by a caller.
    pub updated_at: Timestamp,
    /// The run that comes next, or is due; none when it is disabled or over.
    pub next_run: Option<Timestamp>,
    /// The bucket that was made for it, and goes with it.
    pub bucket_id: BucketId,
    /// The input of that bucket whose function and name its webhooks get.
    pub input_id: InputId,
    /// The output of that bucket that leads to the destination.
    pub output_id: OutputId,
    /// What a caller may write.
    pub spec: CronSpec,
}

/// What a caller may write of a [`Cron`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
#[non_exhaustive]
pub struct CronSpec {
    /// For people. An update without a name keeps the old one.
    #[serde(deserialize_with = "wire::null_default")]
    pub name: String,
    /// Whether it runs at all; on by default.
    #[serde(deserialize_with = "wire::null_true")]
    pub enabled: bool,
    /// Whether it runs again and again; on by default. One that does not is
    /// disabled after its run.
    #[serde(deserialize_with = "wire::null_true")]
    pub recurring: bool,
    /// Five fields (minute, hour, day of month, month, day of week), `@daily`
    /// and the like, or `@every 1h30m`.
    #[serde(deserialize_with = "wire::null_default")]
    pub schedule: String,
    /// The IANA time zone of the five fields; `""` on the wire is read as `UTC`.
    #[serde(deserialize_with = "wire::null_default")]
    #[cfg_attr(feature = "openapi", schema(default = "UTC"))]
    pub timezone: String,
    /// The method of its webhooks; `""` on the wire is read as `POST`.
    #[serde(with = "method")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, default = "POST"))]
    pub method: Method,
    /// Where they go: an absolute `http` or `https` URL.
    #[serde(deserialize_with = "wire::null_default")]
    pub destination: String,
    /// Their body.
    #[serde(deserialize_with = "wire::null_default")]
    pub payload: String,
    /// Their headers. Without a `Content-Type` a payload gets
    /// `application/json` when it is JSON, else `text/plain; charset=utf-8`.
    #[serde(deserialize_with = "wire::null_default")]
    #[cfg_attr(feature = "openapi", schema(value_type = std::collections::BTreeMap<String, Vec<String>>))]
    pub headers: Headers,
    /// The function that transforms or filters them for the destination; empty for none.
    #[serde(with = "wire::optional_id")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, default = ""))]
    pub function_id: Option<FunctionId>,
    /// It does not run before this moment.
    #[serde(with = "wire::optional_rfc3339", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub starts_at: Option<Timestamp>,
    /// It does not run after this moment.
    #[serde(with = "wire::optional_rfc3339", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub ends_at: Option<Timestamp>,
}

impl CronSpec {
    /// A cron whose runs go to `destination`, in UTC.
    #[must_use]
    pub fn new(schedule: impl Into<String>, destination: impl Into<String>) -> Self {
        Self { schedule: schedule.into(), destination: destination.into(), ..Self::default() }
    }
}

impl Default for CronSpec {
    fn default() -> Self {
        Self {
            name: String::new(),
            enabled: true,
            recurring: true,
            schedule: String::new(),
            timezone: String::new(),
            method: Method::POST,
            destination: String::new(),
            payload: String::new(),
            headers: Headers::default(),
            function_id: None,
            starts_at: None,
            ends_at: None,
        }
    }
}

/// A method by its name, in any case.
mod method {
    use super::*;

    pub(super) fn serialize<S: Serializer>(
        method: &Method,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(method.as_str())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Method, D::Error> {
        let name = Option::<String>::deserialize(deserializer)?.unwrap_or_default();
        match name.to_ascii_uppercase().as_str() {
            "" => Ok(Method::POST),
            upper => Method::from_bytes(upper.as_bytes())
                .map_err(|_| de::Error::custom(format!("{name:?} is not a method"))),
        }
    }
}
