//! Outputs: the destinations of a bucket.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use webhook_credentials::{AuthSpec, SigningSpec};

use super::{Extension, Headers, Health, OnDisabled, PausedBy, Pauses, wire};
use crate::{
    clock::Timestamp,
    error::Error,
    id::{BucketId, CronId, FunctionId, OutputId},
    rule::Rules,
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
    #[cfg_attr(feature = "openapi", schema(value_type = super::Pause))]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
#[non_exhaustive]
pub struct OutputSpec {
    /// Unique in its bucket. An update without a name keeps the old one.
    #[serde(deserialize_with = "wire::null_default")]
    pub name: String,
    /// Free text for people.
    #[serde(deserialize_with = "wire::null_default")]
    pub description: String,
    /// An absolute `http` or `https` URL; required unless the output is internal.
    #[serde(deserialize_with = "wire::null_default")]
    pub destination: String,
    /// The function that transforms or filters this output's copy; empty for none.
    #[serde(with = "wire::optional_id")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, default = ""))]
    pub function_id: Option<FunctionId>,
    /// The function that sees the destination's answer; empty for none.
    #[serde(with = "wire::optional_id")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, default = ""))]
    pub response_function_id: Option<FunctionId>,
    /// Headers that replace those of the webhook, `Host` included.
    #[serde(deserialize_with = "wire::null_default")]
    #[cfg_attr(feature = "openapi", schema(value_type = std::collections::BTreeMap<String, Vec<String>>))]
    pub headers: Headers,
    /// Which webhooks pass; `{}` lets all pass.
    #[serde(deserialize_with = "wire::null_default")]
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub rules: Rules,
    /// Handed to connected clients only, never sent from here.
    #[serde(deserialize_with = "wire::null_default")]
    pub internal: bool,
    /// A disabled output gets nothing; `on_disabled` can have what comes wait for it.
    #[serde(deserialize_with = "wire::null_default")]
    pub disabled: bool,
    /// What becomes of webhooks that come while it is disabled: `skip`, which it is without,
    /// or `park` (`docs/pausing.md`). In an update, absent keeps it, and `null` resets it.
    #[serde(deserialize_with = "wire::null_some_default", skip_serializing_if = "Option::is_none")]
    pub on_disabled: Option<OnDisabled>,
    /// Whether the webhook's extra path is left out.
    #[serde(deserialize_with = "wire::null_default")]
    pub lock_path: bool,
    /// Attempts after the first three; -1 for a single attempt in all.
    #[serde(deserialize_with = "wire::null_default")]
    pub retries: i32,
    /// How long one attempt may take, in seconds, 0 to 180; 0 stands for 30.
    #[serde(with = "wire::optional_seconds")]
    #[cfg_attr(feature = "openapi", schema(value_type = u32, default = 0))]
    pub timeout: Option<Duration>,
    /// Whether the destination's certificate is verified; on by default.
    #[serde(deserialize_with = "wire::null_true")]
    pub tls_verification: bool,
    /// How fast webhooks leave.
    #[serde(deserialize_with = "wire::null_default_object")]
    pub throttle: Throttle,
    /// How long failed deliveries are tried again.
    #[serde(deserialize_with = "wire::null_default_object")]
    pub durability: Durability,
    /// How much of what was missed connecting clients get; for internal outputs
    /// that no input answers from.
    #[serde(deserialize_with = "wire::null_default_object")]
    pub replay_missing: ReplayMissing,
    /// How webhooks are signed, for their receivers to verify (`docs/signing.md`). In an
    /// update, absent keeps it, `null` takes it away, and an object replaces it whole.
    /// Answers show masks in place of secrets; a mask that is sent back stands for the
    /// secret that is stored.
    #[serde(skip_serializing_if = "Extension::is_unset")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<SigningSpec>))]
    pub signing: Extension<SigningSpec>,
    /// How requests are authenticated, each attempt anew, after functions and `headers`
    /// (`docs/destinations.md`). It is kept, taken away, replaced and masked as `signing`.
    #[serde(skip_serializing_if = "Extension::is_unset")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<AuthSpec>))]
    pub auth: Extension<AuthSpec>,
    /// What becomes of the output when its destination fails (`docs/pausing.md`). It is kept,
    /// taken away and replaced as `signing`.
    #[serde(skip_serializing_if = "Extension::is_unset")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Health>))]
    pub health: Extension<Health>,
}

impl OutputSpec {
    /// An output that forwards everything to `destination`.
    #[must_use]
    pub fn new(name: impl Into<String>, destination: impl Into<String>) -> Self {
        Self { name: name.into(), destination: destination.into(), ..Self::default() }
    }

    /// Makes of the extension fields that a caller wrote what is to be stored after
    /// `stored`; none when the output is new.
    ///
    /// # Errors
    /// As for [`Extension::keep`].
    pub fn keep_extensions(&mut self, stored: Option<&Self>) -> Result<(), Error> {
        let nothing = Self::default();
        let stored = stored.unwrap_or(&nothing);
        self.signing.keep("signing", &stored.signing)?;
        self.auth.keep("auth", &stored.auth)?;
        // What is the same without being said is not stored.
        let on_disabled = self.on_disabled.or(stored.on_disabled);
        self.on_disabled = on_disabled.filter(|it| *it != OnDisabled::default());
        self.health.keep("health", &stored.health)
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
            destination: String::new(),
            function_id: None,
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
        }
    }
}

/// What clients get, when they connect, of the webhooks of an internal output
/// that they missed. The others stay `received` and can be pulled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
#[non_exhaustive]
pub struct ReplayMissing {
    /// Whether the rest applies; otherwise they get all.
    #[serde(deserialize_with = "wire::null_default")]
    pub enabled: bool,
    /// Only those that were received within this time, in nanoseconds; 0 for no limit.
    #[serde(with = "wire::nanoseconds")]
    #[cfg_attr(feature = "openapi", schema(value_type = i64, default = 0))]
    pub lookback: Duration,
    /// At most so many for each connection, the oldest first; 0 for no limit.
    #[serde(deserialize_with = "wire::null_default")]
    pub limit: u32,
}

/// How fast webhooks leave for one output.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
#[non_exhaustive]
pub struct Throttle {
    /// Whether the rest applies.
    #[serde(deserialize_with = "wire::null_default")]
    pub enabled: bool,
    /// Which of the limits applies.
    #[serde(deserialize_with = "wire::null_default")]
    pub mode: ThrottleMode,
    /// Webhooks per `interval`, for `rate`.
    #[serde(deserialize_with = "wire::null_default")]
    pub rate: u32,
    /// The interval of `rate`.
    #[serde(deserialize_with = "wire::null_default")]
    pub interval: RateInterval,
    /// Requests in flight, for `concurrency`; 1 is strictly in order of receipt.
    #[serde(deserialize_with = "wire::null_default")]
    pub max_concurrent: u32,
    /// How many webhooks may wait; over it the sender gets 429. 0 for no limit.
    #[serde(deserialize_with = "wire::null_default")]
    pub max_queue_depth: u32,
    /// How long a webhook may wait for its first attempt before it fails, in
    /// nanoseconds; 0 stands for 24 h.
    #[serde(with = "wire::nanoseconds")]
    #[cfg_attr(feature = "openapi", schema(value_type = i64, default = 0))]
    pub deadline: Duration,
}

/// The limits of a [`Throttle`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum ThrottleMode {
    /// So many per interval; `""` on the wire is read as this.
    #[default]
    #[serde(alias = "")]
    Rate,
    /// So many at once.
    Concurrency,
}

/// The interval of a rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
#[non_exhaustive]
pub struct Durability {
    /// Whether the rest applies.
    #[serde(deserialize_with = "wire::null_default")]
    pub enabled: bool,
    /// Which schedule.
    #[serde(deserialize_with = "wire::null_default")]
    pub schedule: RetrySchedule,
    /// The delays of `custom`, in nanoseconds; the last is repeated.
    #[serde(with = "wire::nanosecond_list")]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<i64>))]
    pub custom_delays: Vec<Duration>,
    /// When `custom` gives up, in nanoseconds after receipt.
    #[serde(with = "wire::nanoseconds")]
    #[cfg_attr(feature = "openapi", schema(value_type = i64, default = 0))]
    pub deadline: Duration,
    /// How long a sender that waits for this output's answer is kept, in
    /// nanoseconds, before it gets the static answer; 0 stands for the limit
    /// of 10 s, which it can only shorten.
    #[serde(with = "wire::nanoseconds")]
    #[cfg_attr(feature = "openapi", schema(value_type = i64, default = 0))]
    pub handoff_after: Duration,
}

impl Durability {
    /// A schedule that uses each of these delays once.
    #[must_use]
    pub fn once_after(delays: &[Duration]) -> Self {
        let schedule = RetrySchedule::Custom;
        Self { enabled: true, schedule, custom_delays: delays.to_vec(), ..Self::default() }
    }
}

/// The schedules of a [`Durability`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum RetrySchedule {
    /// From 1 s to 5 min, over 25 minutes.
    Seconds,
    /// From 10 s to 1 h, over 16 hours.
    Medium,
    /// From 30 s to 24 h, over 30 days; `""` on the wire is read as this.
    #[default]
    #[serde(alias = "")]
    Long,
    /// As `custom_delays` and `deadline` say.
    Custom,
}
