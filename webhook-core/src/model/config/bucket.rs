//! Buckets: containers of inputs and outputs; and how long they keep their logs.

use std::time::Duration;

use crate::wire::{
    Choice, Described,
    described::{Invalid, seconds},
};
use serde::{Deserialize, Deserializer, Serialize};

use crate::model::{Extension, Input, Output, Secret, wire};
use crate::{
    clock::Timestamp,
    id::{AccountId, BucketId, CronId, InputId, OutputId},
};

use super::{MAX_DESCRIPTION, MAX_NAME};

/// A container of inputs, where webhooks arrive, and outputs, where they go.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Bucket {
    /// Identifies the bucket.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = Uuid, read_only))]
    pub id: BucketId,
    /// The account that owns it.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = Uuid, read_only))]
    pub account_id: AccountId,
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
    /// A suspended bucket answers 429 to every webhook.
    #[cfg_attr(feature = "openapi", schema(read_only))]
    pub suspended: bool,
    /// The cron job that feeds it; empty when there is none.
    #[serde(with = "wire::optional_id")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, read_only))]
    pub cron_id: Option<CronId>,
    /// What a caller may write.
    #[serde(flatten)]
    pub spec: BucketSpec,
    /// Where webhooks arrive.
    #[cfg_attr(feature = "openapi", schema(read_only))]
    pub inputs: Vec<Input>,
    /// Where they are forwarded.
    #[cfg_attr(feature = "openapi", schema(read_only))]
    pub outputs: Vec<Output>,
    /// Always empty here.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<Object>, read_only))]
    pub service_connection_inputs: [(); 0],
    /// Always empty here.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<Object>, read_only))]
    pub service_connection_outputs: [(); 0],
    /// Always empty here.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<Object>, read_only))]
    pub integration_configurations: [(); 0],
}

impl Bucket {
    /// Ends the pauses of outputs whose end has come.
    pub(crate) fn end_pauses(&mut self, now: Timestamp) {
        self.outputs.iter_mut().for_each(|output| output.pauses.lapse(now));
    }

    /// A bucket without inputs and outputs, as `spec` says.
    #[must_use]
    pub fn new(id: BucketId, account_id: AccountId, now: Timestamp, spec: BucketSpec) -> Self {
        let mut bucket = Self {
            id,
            account_id,
            version: 1,
            created_at: now,
            updated_at: now,
            suspended: false,
            cron_id: None,
            spec,
            inputs: Vec::new(),
            outputs: Vec::new(),
            service_connection_inputs: [],
            service_connection_outputs: [],
            integration_configurations: [],
        };
        bucket.stamp_auth();
        bucket
    }

    pub(crate) fn input(&self, id: InputId) -> Option<&Input> {
        self.inputs.iter().find(|input| input.id == id)
    }

    pub(crate) fn output(&self, id: OutputId) -> Option<&Output> {
        self.outputs.iter().find(|output| output.id == id)
    }

    /// Fills the read-only fields of `auth`, which a bucket owns one of.
    pub fn stamp_auth(&mut self) {
        self.spec.auth.id = Some(self.id);
        self.spec.auth.created_at = self.created_at;
        self.spec.auth.updated_at = self.updated_at;
    }
}

/// What a caller may write of a [`Bucket`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Described)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
#[non_exhaustive]
pub struct BucketSpec {
    /// The name, unique in the account. An update without a name keeps the old one.
    #[serde(deserialize_with = "wire::null_default")]
    #[field(label = "Name", is_name, max = MAX_NAME, asked, brief)]
    pub name: String,
    /// Free text for people.
    #[serde(deserialize_with = "wire::null_default")]
    #[field(label = "Description", max = MAX_DESCRIPTION, lines = 2, brief)]
    pub description: String,
    /// Whether WebSocket and pull clients may read it; on by default.
    #[serde(deserialize_with = "wire::null_true")]
    #[field(label = "Clients may subscribe to it and pull from it", brief)]
    pub stream: bool,
    /// Whether body, query and headers are forgotten after the final outcome.
    #[serde(deserialize_with = "wire::null_default")]
    #[field(label = "Forget body, query and headers after the final outcome", brief)]
    pub ephemeral: bool,
    /// Whether bodies over 3 MB are taken, up to the operator's larger limit.
    #[serde(deserialize_with = "wire::null_default")]
    #[field(label = "Take bodies over 3 MB", brief)]
    pub large_webhooks: bool,
    /// Kept for clients that set it; deliveries leave from the server's address.
    #[serde(deserialize_with = "wire::null_default")]
    #[field(hidden)]
    pub static_ip: bool,
    /// The credentials that a sender must show.
    #[serde(deserialize_with = "wire::null_default_object")]
    #[field(group = "Credentials of senders", sealed)]
    pub auth: BucketAuth,
    /// The time that the logs are kept, where that is shorter than the account's. In an update,
    /// absent keeps it, `null` takes it away, and an object replaces it whole.
    #[serde(skip_serializing_if = "Extension::is_unset")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<LogRetention>))]
    #[field(group = "Logs")]
    pub retention: Extension<LogRetention>,
}

impl BucketSpec {
    /// A bucket of this name.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }
}

impl Default for BucketSpec {
    fn default() -> Self {
        Self {
            name: String::new(),
            description: String::new(),
            stream: true,
            ephemeral: false,
            large_webhooks: false,
            static_ip: false,
            auth: BucketAuth::default(),
            retention: Extension::Absent,
        }
    }
}

/// What a webhook's sender must show at every input of a bucket.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Described)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
#[described(rules)]
pub struct BucketAuth {
    /// The bucket's own identifier: a bucket has one of these.
    #[serde(serialize_with = "wire::optional_id::serialize", deserialize_with = "wire::ignored")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = Uuid, read_only))]
    pub id: Option<BucketId>,
    /// When the bucket was made, in unix seconds.
    #[serde(deserialize_with = "wire::ignored")]
    #[cfg_attr(feature = "openapi", schema(value_type = i64, read_only))]
    pub created_at: Timestamp,
    /// When the bucket was last changed, in unix seconds.
    #[serde(deserialize_with = "wire::ignored")]
    #[cfg_attr(feature = "openapi", schema(value_type = i64, read_only))]
    pub updated_at: Timestamp,
    /// The kind of credentials.
    #[serde(rename = "type", deserialize_with = "wire::null_default")]
    #[field(label = "Credentials", brief)]
    pub kind: AuthType,
    /// The user name, for `basic`.
    #[serde(deserialize_with = "wire::null_default")]
    #[field(label = "User name", max = 1 << 10, brief)]
    pub username: String,
    /// The password, for `basic`.
    #[serde(deserialize_with = "wire::null_default")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = Password))]
    #[field(label = "Password", max = 1 << 10)]
    pub password: Secret,
    /// The token, for `token`.
    #[serde(deserialize_with = "wire::null_default")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = Password))]
    #[field(label = "Token", max = 1 << 10, raw)]
    pub token: Secret,
}

impl BucketAuth {
    fn rules(&self) -> Result<(), Invalid> {
        let Self { username, password, token, .. } = self;
        match self.kind {
            AuthType::None => Ok(()),
            AuthType::Basic => {
                let is_empty = username.is_empty() && password.is_empty();
                let reason = "basic credentials need a user name or a password";
                Invalid::when(is_empty, "username", reason)?;
                let reason = "must not contain a colon (RFC 7617)";
                Invalid::when(username.contains(':'), "username", reason)
            }
            AuthType::Token => {
                let reason = "must not be empty for the type token";
                Invalid::when(token.is_empty(), "token", reason)?;
                let is_graphic = token.expose().bytes().all(|byte| byte.is_ascii_graphic());
                Invalid::when(!is_graphic, "token", "must be printable ASCII without blanks")
            }
        }
    }
}

/// The kinds of credentials of a [`BucketAuth`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Choice)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(rename_all = "lowercase"))]
#[serde(rename_all = "lowercase")]
pub enum AuthType {
    /// Anyone may send webhooks.
    #[default]
    None,
    /// HTTP Basic, RFC 7617.
    #[choice("user name and password (HTTP Basic)")]
    Basic,
    /// `Authorization: Bearer <token>`, or the bare token there.
    #[choice("a token (Bearer)")]
    Token,
}

impl wire::WireEnum for AuthType {
    const VALUES: &'static [(Self, &'static str, u64)] =
        &[(Self::None, "none", 0), (Self::Basic, "basic", 1), (Self::Token, "token", 2)];
}

impl<'de> Deserialize<'de> for AuthType {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        wire::deserialize_enum(deserializer)
    }
}

/// How long the logs of a bucket are kept, where that is shorter than its account's are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Described)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct LogRetention {
    /// The time that logs are kept; 0 for as long as the account's.
    #[serde(with = "wire::nanoseconds")]
    #[cfg_attr(feature = "openapi", schema(value_type = i64, default = 0, minimum = 0))]
    #[field(label = "Keep logs for", range = seconds(1)..=i64::MAX, or_zero)]
    pub logs: Duration,
    /// The time that `failed` and `stalled` logs are kept; 0 for as long as the others.
    #[serde(with = "wire::nanoseconds")]
    #[cfg_attr(feature = "openapi", schema(value_type = i64, default = 0, minimum = 0))]
    #[field(label = "Keep failed and stalled logs for", range = seconds(1)..=i64::MAX, or_zero)]
    pub failed: Duration,
}

impl LogRetention {
    /// Logs are kept for `logs`, and those that did not arrive for `failed`.
    #[must_use]
    pub const fn new(logs: Duration, failed: Duration) -> Self {
        Self { logs, failed }
    }
}
