//! Outputs: the destinations of a bucket.

use std::time::Duration;

use crate::credentials::{AuthSpec, SigningSpec};
use crate::wire::{
    Choice, Described,
    described::{Invalid, days, seconds},
};
use http::{HeaderMap, header::HOST, uri::Authority};
use serde::{Deserialize, Serialize};

use crate::model::{
    Extension, FunctionMust, Headers, Health, OnDisabled, Outcomes, PausedBy, Pauses, wire,
};
use crate::{
    clock::Timestamp,
    error::Error,
    id::{BucketId, CronId, FunctionId, OutputId},
    rule::{AnswerRules, Rules},
};

/// How many `retries` an output may have.
pub const MAX_RETRIES: i32 = 1_000;
/// How many `custom_delays` an output may have.
pub const MAX_CUSTOM_DELAYS: usize = 100;

use super::{
    MAX_DESCRIPTION, MAX_DESTINATION, MAX_HEADERS, MAX_HEADERS_BYTES, MAX_NAME, REQUEST, RETRIES,
    keep_choice, refuse, sendable,
};

/// A destination of a bucket.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Output {
    /// Identifies the output.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = Uuid, read_only))]
    pub id: OutputId,
    /// The bucket it belongs to.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = Uuid, read_only))]
    pub bucket_id: BucketId,
    /// Which version of it this is: 1 when it is made, one more with each change of what it is
    /// configured to be. Pauses and other states are no part of it. Not on the wire: the `ETag`.
    #[serde(skip)]
    pub version: u64,
    /// When it was made, in unix seconds.
    #[cfg_attr(feature = "openapi", schema(value_type = i64, read_only))]
    pub created_at: Timestamp,
    /// When it was last changed, in unix seconds.
    #[cfg_attr(feature = "openapi", schema(value_type = i64, read_only))]
    pub updated_at: Timestamp,
    /// Which credential made it, for people; may be empty.
    #[cfg_attr(feature = "openapi", schema(read_only))]
    pub created_by: String,
    /// The cron job that it serves; empty when there is none.
    #[serde(with = "wire::optional_id")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, read_only))]
    pub cron_id: Option<CronId>,
    /// Since when its destination fails, in unix seconds; not there while it works, and without
    /// `health`. Failures of less than a minute do not count.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<i64>, read_only))]
    pub failing_since: Option<Timestamp>,
    /// The pause that it is in, and the time of those that are over.
    #[serde(flatten)]
    #[cfg_attr(feature = "openapi", schema(value_type = crate::model::Pause))]
    pub pauses: Pauses,
    /// What a caller may write.
    #[serde(flatten)]
    pub spec: OutputSpec,
}

impl Output {
    /// An output of this bucket, made now.
    #[must_use]
    pub fn new(id: OutputId, bucket_id: BucketId, now: Timestamp, spec: OutputSpec) -> Self {
        let (created_by, cron_id) = (String::new(), None);
        let mut pauses = Pauses::default();
        pauses.set_disabled(spec.disabled, now);
        let failing_since = None;
        Self {
            id,
            bucket_id,
            version: 1,
            created_at: now,
            updated_at: now,
            created_by,
            cron_id,
            failing_since,
            pauses,
            spec,
        }
    }

    /// Whether it is paused because its destination fails, which is tried once an hour.
    #[must_use]
    pub fn is_probed(&self, now: Timestamp) -> bool {
        let by = self.pauses.current(now).map(|pause| pause.by);
        by == Some(PausedBy::Failing) && !self.spec.disabled
    }

    /// How long its destination has failed that fails since then: pauses do not count.
    pub(crate) fn has_failed_for(&self, since: Timestamp, now: Timestamp) -> Duration {
        now.since(since).saturating_sub(self.pauses.stood_still(since, now))
    }

    /// The end of what somebody has to end.
    pub(crate) const NEVER: Timestamp = Timestamp::from_millis(i64::MAX);

    /// Until when nothing leaves: it is paused or disabled. None when it is neither.
    #[must_use]
    pub fn paused_until(&self, now: Timestamp) -> Option<Timestamp> {
        match self.pauses.until(now) {
            _ if self.spec.disabled => Some(Self::NEVER),
            until => until.map(|end| end.unwrap_or(Self::NEVER)),
        }
    }
}

/// What a caller may write of an [`Output`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Described)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
#[non_exhaustive]
#[described(rules)]
pub struct OutputSpec {
    /// The name, unique in the bucket. An update without a name keeps the old one.
    #[serde(deserialize_with = "wire::null_default")]
    #[field(label = "Name", is_name, max = MAX_NAME, asked, brief)]
    pub name: String,
    /// Free text for people.
    #[serde(deserialize_with = "wire::null_default")]
    #[field(label = "Description", max = MAX_DESCRIPTION, lines = 2, brief)]
    pub description: String,
    /// The page that people open when the output fails.
    #[serde(deserialize_with = "wire::null_default", skip_serializing_if = "String::is_empty")]
    #[field(label = "Runbook", max = MAX_DESTINATION)]
    pub runbook: String,
    /// An absolute `http` or `https` URL. The rest of the input's path is added to it. Only an
    /// internal output can be without it.
    #[serde(deserialize_with = "wire::null_default")]
    #[field(label = "Destination", max = MAX_DESTINATION, example = "https://example.com/hook")]
    pub destination: String,
    /// The function that changes or filters the webhooks of this output; empty for none.
    #[serde(with = "wire::optional_id")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, default = ""))]
    #[field(label = "Function")]
    pub function_id: Option<FunctionId>,
    /// Whether a run of the function may change nothing (`anything`, the default), or fails then
    /// (`change`). In an update, absent keeps the value, and `null` resets it.
    #[serde(deserialize_with = "wire::null_some_default", skip_serializing_if = "Option::is_none")]
    #[field(label = "The function", brief)]
    pub function_must: Option<FunctionMust>,
    /// The function that sees the destination's answer; empty for none.
    #[serde(with = "wire::optional_id")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, default = ""))]
    #[field(label = "Function for the answer", group = REQUEST)]
    pub response_function_id: Option<FunctionId>,
    /// Headers that replace the headers of the webhook, `Host` included.
    #[serde(deserialize_with = "wire::null_default")]
    #[cfg_attr(feature = "openapi", schema(value_type = std::collections::BTreeMap<String, Vec<String>>))]
    #[field(label = "Headers", group = REQUEST, max = MAX_HEADERS, max_bytes = MAX_HEADERS_BYTES, example = "X-Team: billing", sealed)]
    pub headers: Headers,
    /// The rules that select webhooks; `{}` selects all.
    #[serde(deserialize_with = "wire::null_default")]
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    #[field(hidden, sealed)]
    pub rules: Rules,
    /// Whether connected clients alone get the webhooks: the server sends nothing.
    #[serde(deserialize_with = "wire::null_default")]
    #[field(label = "For connected clients only")]
    pub internal: bool,
    /// Whether the output gets no webhooks. `on_disabled` says what becomes of them.
    #[serde(deserialize_with = "wire::null_default")]
    #[field(label = "Disabled", brief)]
    pub disabled: bool,
    /// Whether webhooks that come while the output is disabled are skipped (the default) or wait.
    /// In an update, absent keeps the value, and `null` resets it.
    #[serde(deserialize_with = "wire::null_some_default", skip_serializing_if = "Option::is_none")]
    #[field(label = "Webhooks that come while it is disabled", brief)]
    pub on_disabled: Option<OnDisabled>,
    /// Whether the extra path of the webhook is left out.
    #[serde(deserialize_with = "wire::null_default")]
    #[field(label = "Send to the destination's path only", group = REQUEST, brief)]
    pub lock_path: bool,
    /// The number of attempts after the first three; -1 for a single attempt in all.
    #[serde(deserialize_with = "wire::null_default")]
    #[field(label = "Attempts after the first three", group = RETRIES, range = -1..=MAX_RETRIES)]
    pub retries: i32,
    /// The time that one attempt may take, in seconds; 0 stands for 30.
    #[serde(with = "wire::optional_seconds")]
    #[cfg_attr(feature = "openapi", schema(value_type = u32, default = 0))]
    #[field(label = "Timeout of an attempt, in seconds", group = REQUEST, range = 0..=180)]
    pub timeout: Option<Duration>,
    /// Whether the certificate of the destination is verified; on by default.
    #[serde(deserialize_with = "wire::null_true")]
    #[field(label = "Verify the certificate", group = REQUEST, brief)]
    pub tls_verification: bool,
    /// How fast webhooks leave.
    #[serde(deserialize_with = "wire::null_default_object")]
    #[field(group = "Throttle")]
    pub throttle: Throttle,
    /// For how long failed deliveries are tried again.
    #[serde(deserialize_with = "wire::null_default_object")]
    #[field(group = RETRIES)]
    pub durability: Durability,
    /// How many of the missed webhooks a connecting client gets. Only for internal outputs from
    /// which no input answers.
    #[serde(deserialize_with = "wire::null_default_object")]
    #[field(group = "Webhooks that clients missed")]
    pub replay_missing: ReplayMissing,
    /// How webhooks are signed, for their receivers to verify. In an
    /// update, absent keeps it, `null` takes it away, and an object replaces it whole.
    /// Answers show masks instead of secrets; a mask that is sent back stands for the
    /// secret that is stored.
    #[serde(skip_serializing_if = "Extension::is_unset")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<SigningSpec>))]
    #[field(hidden, sealed)]
    pub signing: Extension<SigningSpec>,
    /// How requests are authenticated, again for each attempt, after functions and `headers`. It is
    /// kept, taken away, replaced and masked as `signing`.
    #[serde(skip_serializing_if = "Extension::is_unset")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<AuthSpec>))]
    #[field(hidden, sealed)]
    pub auth: Extension<AuthSpec>,
    /// How the relay pauses the output when its destination fails. It is kept,
    /// taken away and replaced as `signing`.
    #[serde(skip_serializing_if = "Extension::is_unset")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Health>))]
    #[field(hidden)]
    pub health: Extension<Health>,
    /// Which answers are a success, and after which the relay tries again, by status code. It is
    /// kept, taken away and replaced as `signing`.
    #[serde(skip_serializing_if = "Extension::is_unset")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Outcomes>))]
    #[field(hidden)]
    pub outcomes: Extension<Outcomes>,
    /// The rules that an answer must pass, too, to be a success. They are rules as in `rules`, over
    /// the status, the headers and the first 64 KiB of the body. After an answer that does not
    /// pass, the relay tries again. In an update, absent keeps the value, and `null` resets it.
    #[serde(deserialize_with = "wire::null_some_default", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    #[field(hidden, label = "An answer is a success when", lines = 6, example = SUCCESS_EXAMPLE, sealed)]
    pub success_when: Option<AnswerRules>,
}

/// An answer of a service that says with 200 that it has not taken the webhook.
const SUCCESS_EXAMPLE: &str = r#"{"match": {"type": "value", "value": "true", "parameter": {"source": "payload", "name": "ok"}}}"#;

impl OutputSpec {
    /// An output that forwards everything to `destination`.
    #[must_use]
    pub fn new(name: impl Into<String>, destination: impl Into<String>) -> Self {
        Self { name: name.into(), destination: destination.into(), ..Self::default() }
    }

    /// Completes what a caller wrote by what was stored before; `stored` is the default when the
    /// output is new. An empty name and absent extension fields keep the stored ones.
    ///
    /// # Errors
    /// As for [`Extension::keep`].
    pub fn keep(&mut self, stored: &Self) -> Result<(), Error> {
        if self.name.is_empty() {
            self.name.clone_from(&stored.name);
        }
        self.signing.keep("signing", &stored.signing)?;
        self.auth.keep("auth", &stored.auth)?;
        keep_choice(&mut self.on_disabled, stored.on_disabled);
        keep_choice(&mut self.function_must, stored.function_must);
        keep_choice(&mut self.success_when, stored.success_when.clone());
        self.outcomes.keep("outcomes", &stored.outcomes)?;
        self.health.keep("health", &stored.health)
    }

    fn rules(&self) -> Result<(), Invalid> {
        sendable(&self.headers.0)?;
        host(&self.headers.0)?;
        let is_useless = self.replay_missing.enabled && !self.internal;
        Invalid::when(is_useless, "replay_missing", "is for internal outputs only")
    }

    /// Whether webhooks are stored for it: it is enabled, or they wait until it is.
    #[must_use]
    pub fn takes_webhooks(&self) -> bool {
        !self.disabled || (self.on_disabled == Some(OnDisabled::Park) && !self.internal)
    }

    /// Whether what is sent is signed or authenticated.
    pub(crate) const fn has_credentials(&self) -> bool {
        !(self.signing.is_unset() && self.auth.is_unset())
    }
}

impl Default for OutputSpec {
    fn default() -> Self {
        Self {
            name: String::new(),
            description: String::new(),
            runbook: String::new(),
            destination: String::new(),
            function_id: None,
            function_must: None,
            response_function_id: None,
            headers: Headers::default(),
            rules: Rules::default(),
            internal: false,
            disabled: false,
            on_disabled: None,
            lock_path: false,
            retries: 0,
            timeout: None,
            tls_verification: true,
            throttle: Throttle::default(),
            durability: Durability::default(),
            replay_missing: ReplayMissing::default(),
            signing: Extension::Absent,
            auth: Extension::Absent,
            health: Extension::Absent,
            outcomes: Extension::Absent,
            success_when: None,
        }
    }
}

/// A `Host` of the account must be one that a server can be asked for.
fn host(headers: &HeaderMap) -> Result<(), Invalid> {
    let mut values = headers.get_all(HOST).iter();
    let Some(value) = values.next() else { return Ok(()) };
    let authority = Authority::try_from(value.as_bytes());
    match authority {
        Ok(authority) if values.next().is_none() && !authority.as_str().contains('@') => Ok(()),
        _ => refuse(&HOST, "must be a single host name with or without port"),
    }
}

/// What clients get, when they connect, of the webhooks of an internal output
/// that they missed. The others stay `received` and can be pulled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Described)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
#[non_exhaustive]
pub struct ReplayMissing {
    /// Whether the two limits apply; without them a client gets all. Only for internal outputs.
    #[serde(deserialize_with = "wire::null_default")]
    #[field(label = "Limit the missed webhooks of a connecting client")]
    pub enabled: bool,
    /// The age of the oldest webhook that a client gets; 0 for no limit.
    #[serde(with = "wire::nanoseconds")]
    #[cfg_attr(feature = "openapi", schema(value_type = i64, default = 0))]
    #[field(label = "Received within the last", range = 0..=days(30))]
    pub lookback: Duration,
    /// The number of webhooks for each connection, the oldest first; 0 for no limit.
    #[serde(deserialize_with = "wire::null_default")]
    #[field(label = "Largest number")]
    pub limit: u32,
}

/// How fast webhooks leave for one output.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Described)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
#[non_exhaustive]
#[described(rules)]
pub struct Throttle {
    /// Whether the other fields apply.
    #[serde(deserialize_with = "wire::null_default")]
    #[field(label = "Limit how fast webhooks leave", brief)]
    pub enabled: bool,
    /// The limit that applies: a rate or a number of requests.
    #[serde(deserialize_with = "wire::null_default")]
    #[field(label = "Limit", brief)]
    pub mode: ThrottleMode,
    /// The number of webhooks per `interval`, for the mode `rate`.
    #[serde(deserialize_with = "wire::null_default")]
    #[field(label = "Webhooks per interval", brief)]
    pub rate: u32,
    /// The interval of `rate`.
    #[serde(deserialize_with = "wire::null_default")]
    #[field(label = "Interval", brief)]
    pub interval: RateInterval,
    /// The number of concurrent requests, for the mode `concurrency`; 1 keeps the order of receipt
    /// strictly.
    #[serde(deserialize_with = "wire::null_default")]
    #[field(label = "Concurrent requests", range = 0..=1_000)]
    pub max_concurrent: u32,
    /// The number of webhooks that may wait; beyond it the sender gets 429. 0 for no limit.
    #[serde(deserialize_with = "wire::null_default")]
    #[field(label = "Webhooks that may wait")]
    pub max_queue_depth: u32,
    /// The time that a webhook may wait for its first attempt before it fails; 0 stands for 24 h.
    #[serde(with = "wire::nanoseconds")]
    #[cfg_attr(feature = "openapi", schema(value_type = i64, default = 0))]
    #[field(label = "How long one may wait", range = 0..=days(30))]
    pub deadline: Duration,
}

impl Throttle {
    fn rules(&self) -> Result<(), Invalid> {
        let is_rated = self.enabled && self.mode == ThrottleMode::Rate;
        let reason = "must be at least 1 in the mode rate";
        Invalid::when(is_rated && self.rate == 0, "rate", reason)?;
        let is_concurrent = self.enabled && self.mode == ThrottleMode::Concurrency;
        let reason = "must be at least 1 in the mode concurrency";
        Invalid::when(is_concurrent && self.max_concurrent == 0, "max_concurrent", reason)
    }
}

/// The limits of a [`Throttle`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, Choice)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum ThrottleMode {
    /// So many per interval; `""` on the wire is read as this.
    #[default]
    #[serde(alias = "")]
    #[choice("so many per interval")]
    Rate,
    /// So many at once.
    #[choice("so many at once")]
    Concurrency,
}

/// The interval of a rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, Choice)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum RateInterval {
    /// One second; `""` on the wire is read as this.
    #[default]
    #[serde(alias = "")]
    Second,
    /// 60 seconds.
    Minute,
    /// 3 600 seconds.
    Hour,
}

impl RateInterval {
    /// How long it is.
    #[must_use]
    pub const fn duration(self) -> Duration {
        Duration::from_secs(match self {
            Self::Second => 1,
            Self::Minute => 60,
            Self::Hour => 3_600,
        })
    }
}

/// How long failed deliveries of one output are tried again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Described)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
#[non_exhaustive]
#[described(rules)]
pub struct Durability {
    /// Whether the other fields apply.
    #[serde(deserialize_with = "wire::null_default")]
    #[field(label = "Try for longer, by a schedule", brief)]
    pub enabled: bool,
    /// Which schedule of attempts applies.
    #[serde(deserialize_with = "wire::null_default")]
    #[field(label = "Schedule", brief)]
    pub schedule: RetrySchedule,
    /// The delays of the schedule `custom`, such as 10s, 1m, 1h; the last is repeated.
    #[serde(with = "wire::nanosecond_list")]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<i64>))]
    #[field(label = "Delays", max = MAX_CUSTOM_DELAYS, range = seconds(1)..=days(30), example = "10s, 1m, 1h")]
    pub custom_delays: Vec<Duration>,
    /// The time after receipt at which the schedule `custom` gives up; 0 once each delay is used.
    #[serde(with = "wire::nanoseconds")]
    #[cfg_attr(feature = "openapi", schema(value_type = i64, default = 0))]
    #[field(label = "Give up after", range = 0..=days(30))]
    pub deadline: Duration,
    /// The time that a sender waits for the answer of this output before it gets the static answer;
    /// 0 stands for the limit of 10 s, which it can only shorten.
    #[serde(with = "wire::nanoseconds")]
    #[cfg_attr(feature = "openapi", schema(value_type = i64, default = 0))]
    #[field(label = "A sender that waits for the answer is kept for", range = 0..=days(30))]
    pub handoff_after: Duration,
}

impl Durability {
    /// A schedule that uses each of these delays once.
    #[must_use]
    pub fn once_after(delays: &[Duration]) -> Self {
        let schedule = RetrySchedule::Custom;
        Self { enabled: true, schedule, custom_delays: delays.to_vec(), ..Self::default() }
    }

    fn rules(&self) -> Result<(), Invalid> {
        let is_custom = self.enabled && self.schedule == RetrySchedule::Custom;
        let reason = "must have at least one delay in the schedule custom";
        Invalid::when(is_custom && self.custom_delays.is_empty(), "custom_delays", reason)
    }
}

/// The schedules of a [`Durability`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, Choice)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum RetrySchedule {
    /// From 1 s to 5 min, over 25 minutes.
    #[choice("from 1 s to 5 min, over 25 minutes")]
    Seconds,
    /// From 10 s to 1 h, over 16 hours.
    #[choice("from 10 s to 1 h, over 16 hours")]
    Medium,
    /// From 30 s to 24 h, over 30 days; `""` on the wire is read as this.
    #[default]
    #[serde(alias = "")]
    #[choice("from 30 s to 24 h, over 30 days")]
    Long,
    /// As `custom_delays` and `deadline` say.
    #[choice("the delays below")]
    Custom,
}
