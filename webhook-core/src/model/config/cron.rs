//! Cron jobs.

use crate::wire::{
    Described,
    described::{Invalid, Value},
};
use http::{Method, header::HOST};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::model::{Headers, wire};
use crate::{
    clock::Timestamp,
    id::{AccountId, BucketId, CronId, FunctionId, InputId, OutputId},
};

use super::{MAX_DESTINATION, MAX_HEADERS, MAX_HEADERS_BYTES, MAX_NAME, REQUEST, refuse, sendable};

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

/// The methods that its webhooks can have.
pub const METHODS: [Method; 7] = [
    Method::GET,
    Method::HEAD,
    Method::POST,
    Method::PUT,
    Method::PATCH,
    Method::DELETE,
    Method::OPTIONS,
];

/// What a caller may write of a [`Cron`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Described)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
#[non_exhaustive]
#[described(rules)]
pub struct CronSpec {
    /// The name, for people. An update without a name keeps the old one.
    #[serde(deserialize_with = "wire::null_default")]
    #[field(label = "Name", is_name, max = MAX_NAME, brief)]
    pub name: String,
    /// Whether it runs at all; on by default.
    #[serde(deserialize_with = "wire::null_true")]
    #[field(label = "It runs", brief)]
    pub enabled: bool,
    /// Whether it runs again and again; on by default. One that does not is
    /// disabled after its run.
    #[serde(deserialize_with = "wire::null_true")]
    #[field(label = "Again and again; otherwise once", group = REQUEST, brief)]
    pub recurring: bool,
    /// Five fields (minute, hour, day of month, month, day of week) as in `30 2 * * *`, six with
    /// seconds before them, or `@daily` and the like, or `@every 1h30m`. `L`, `W` and `#` name days
    /// of the month, and `TZ=Europe/Berlin` before the fields a time zone.
    #[serde(deserialize_with = "wire::null_default")]
    #[field(label = "Schedule", required, example = "30 2 * * *")]
    pub schedule: String,
    /// The IANA time zone of the schedule, such as Europe/Berlin; empty stands for `UTC`.
    #[serde(deserialize_with = "wire::null_default")]
    #[cfg_attr(feature = "openapi", schema(default = "UTC"))]
    #[field(label = "Time zone", example = "UTC")]
    pub timezone: String,
    /// The method of its webhooks; empty stands for `POST`.
    #[serde(with = "method")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, default = "POST"))]
    #[field(label = "Method", group = REQUEST, brief, example = "PUT")]
    pub method: Method,
    /// The destination of its webhooks: an absolute `http` or `https` URL.
    #[serde(deserialize_with = "wire::null_default")]
    #[field(label = "Destination", required, max = MAX_DESTINATION, brief, example = "https://example.com/hook")]
    pub destination: String,
    /// The body of its webhooks.
    #[serde(deserialize_with = "wire::null_default")]
    #[field(label = "Body", lines = 4, raw, brief)]
    pub payload: String,
    /// The headers of its webhooks. Without a `Content-Type` a body gets `application/json` when it
    /// is JSON, else `text/plain; charset=utf-8`.
    #[serde(deserialize_with = "wire::null_default")]
    #[cfg_attr(feature = "openapi", schema(value_type = std::collections::BTreeMap<String, Vec<String>>))]
    #[field(label = "Headers", group = REQUEST, max = MAX_HEADERS, max_bytes = MAX_HEADERS_BYTES, example = "X-Team: billing", sealed)]
    pub headers: Headers,
    /// The function that changes or filters the webhooks for the destination; empty for none.
    #[serde(with = "wire::optional_id")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, default = ""))]
    #[field(label = "Function", group = REQUEST, brief)]
    pub function_id: Option<FunctionId>,
    /// The moment before which it does not run, such as 2026-03-29T02:30:00Z.
    #[serde(with = "wire::optional_rfc3339", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    #[field(label = "Not before", group = REQUEST)]
    pub starts_at: Option<Timestamp>,
    /// The moment after which it does not run.
    #[serde(with = "wire::optional_rfc3339", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    #[field(label = "Not after", group = REQUEST, brief)]
    pub ends_at: Option<Timestamp>,
}

impl CronSpec {
    /// A cron whose runs go to `destination`, in UTC.
    #[must_use]
    pub fn new(schedule: impl Into<String>, destination: impl Into<String>) -> Self {
        Self { schedule: schedule.into(), destination: destination.into(), ..Self::default() }
    }

    fn rules(&self) -> Result<(), Invalid> {
        let is_known = METHODS.contains(&self.method);
        let reason = "must be one of GET, HEAD, POST, PUT, PATCH, DELETE and OPTIONS";
        Invalid::when(!is_known, "method", reason)?;
        sendable(&self.headers.0)?;
        match self.headers.0.contains_key(HOST) {
            true => refuse(
                &HOST,
                "cannot be set here: it follows from the destination; set it on the bucket's output",
            ),
            false => Ok(()),
        }
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
        let mut method = Method::POST;
        method.set_text(&name).map_err(de::Error::custom).map(|()| method)
    }
}
