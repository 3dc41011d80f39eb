//! Functions, their configuration and their runs.

use std::{collections::BTreeMap, fmt, time::Duration};

use crate::wire::{Choice, Described};
use ring::digest::{Context, SHA256};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::{Secret, wire};
use crate::{
    clock::Timestamp,
    id::{AccountId, ExecutionId, FunctionId},
};

use super::MAX_NAME;

/// The labels of a function, or of one run.
pub(crate) const MAX_LABELS: usize = 100;
/// The names and values of labels together, in bytes.
pub(crate) const MAX_LABEL_BYTES: usize = 16 << 10;

/// A user-defined script.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Function {
    /// Identifies the function.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = Uuid, read_only))]
    pub id: FunctionId,
    /// The account that owns it.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = Uuid, read_only))]
    pub account_id: AccountId,
    /// Which version of it this is: 1 when it is made, one more with each change of what it is
    /// configured to be. Pauses and other states are no part of it. Not on the wire: the `ETag`.
    #[serde(skip)]
    pub version: u64,
    /// Which version of its source this is; not on the wire.
    #[serde(skip)]
    pub revision: u32,
    /// Since when it has that source; not on the wire.
    #[serde(skip)]
    pub revised: Timestamp,
    /// The length of `payload` in bytes.
    #[cfg_attr(feature = "openapi", schema(read_only))]
    pub payload_size: usize,
    /// When it was made, in unix seconds.
    #[cfg_attr(feature = "openapi", schema(value_type = i64, read_only))]
    pub created: Timestamp,
    /// When it was last changed, in unix seconds.
    #[cfg_attr(feature = "openapi", schema(value_type = i64, read_only))]
    pub updated: Timestamp,
    /// What a caller may write.
    #[serde(flatten)]
    pub spec: FunctionSpec,
}

impl Function {
    /// A function of this account, made now.
    #[must_use]
    pub fn new(id: FunctionId, account_id: AccountId, now: Timestamp, spec: FunctionSpec) -> Self {
        let payload_size = spec.payload.len();
        Self {
            id,
            account_id,
            version: 1,
            revision: 1,
            revised: now,
            payload_size,
            created: now,
            updated: now,
            spec,
        }
    }

    /// Gives it another specification. Another source is the next version of its source.
    pub fn change(&mut self, spec: FunctionSpec, now: Timestamp) {
        let before = std::mem::replace(&mut self.spec, spec);
        if (before.driver, &before.payload) != (self.spec.driver, &self.spec.payload) {
            self.revision = self.revision.saturating_add(1);
            self.revised = now;
        }
        self.payload_size = self.spec.payload.len();
        self.updated = now;
    }
}

/// What a caller may write of a [`Function`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Described)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
#[non_exhaustive]
pub struct FunctionSpec {
    /// The name, for people. An update without a name keeps the old one.
    #[serde(deserialize_with = "wire::null_default")]
    #[field(label = "Name", is_name, max = MAX_NAME, asked, brief)]
    pub name: String,
    /// The language of the source.
    #[serde(deserialize_with = "wire::null_default")]
    #[field(label = "Language", brief)]
    pub driver: Driver,
    /// The source text; base64 of it is taken as well.
    #[serde(deserialize_with = "wire::null_default")]
    #[field(label = "Code", required, lines = 20, raw, code, brief, example = "return r")]
    pub payload: String,
    /// Free labels.
    #[serde(deserialize_with = "wire::null_default")]
    #[field(label = "Labels", max = MAX_LABELS, max_bytes = MAX_LABEL_BYTES, hidden)]
    pub metadata: BTreeMap<String, String>,
    /// Whether `payload` was sent in base64; what a caller writes here is ignored. Absent for no.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "openapi", schema(read_only))]
    #[field(hidden)]
    pub sent_in_base64: bool,
}

impl FunctionSpec {
    /// A function written in the language of `driver`.
    #[must_use]
    pub fn new(name: impl Into<String>, driver: Driver, payload: impl Into<String>) -> Self {
        Self { name: name.into(), driver, payload: payload.into(), ..Self::default() }
    }
}

/// The language of a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, Choice)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Driver {
    /// Lua; `""` on the wire is read as this.
    #[default]
    #[serde(alias = "")]
    Lua,
    /// JavaScript.
    Js,
    /// WebAssembly.
    Wasm,
}

impl fmt::Display for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Lua => "lua",
            Self::Js => "js",
            Self::Wasm => "wasm",
        })
    }
}

/// What a run of the function of an input or an output has to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, Choice)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum FunctionMust {
    /// It may leave the webhook as it is.
    #[default]
    #[choice("may leave the webhook as it is")]
    Anything,
    /// A run that changes nothing, and does not stop the webhook, fails.
    #[choice("must change or stop each webhook, else it fails")]
    Change,
}

/// A configuration variable of a function, which scripts read with `cfg`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name, unique in the function.
    pub key: String,
    /// Its value.
    pub value: Secret,
    /// The function it belongs to.
    pub function_id: FunctionId,
    /// When it was first set.
    pub created_at: Timestamp,
    /// When it was last set.
    pub updated_at: Timestamp,
}

/// One run of a function (`ExecuteLog`).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ExecuteLog))]
pub struct Execution {
    /// Identifies the run.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = Uuid))]
    pub id: ExecutionId,
    /// The function that ran.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = Uuid))]
    pub function_id: FunctionId,
    /// Whose function it is; not on the wire.
    #[serde(skip)]
    pub account_id: AccountId,
    /// When it started, in unix seconds.
    #[cfg_attr(feature = "openapi", schema(value_type = i64))]
    pub created: Timestamp,
    /// When it ended, in unix seconds.
    #[cfg_attr(feature = "openapi", schema(value_type = i64))]
    pub updated: Timestamp,
    /// How long it took, in nanoseconds.
    #[serde(with = "wire::nanoseconds")]
    #[cfg_attr(feature = "openapi", schema(value_type = i64))]
    pub duration: Duration,
    /// How it ended.
    pub status: ExecutionStatus,
    /// For how many runs of the function this record stands, itself included: of runs that
    /// succeed and print nothing the first 10 of a second have a record, and of the others one of
    /// 100.
    pub stands_for: u64,
    /// What the function was given, as in the invoke operation. Long bodies
    /// are cut and say so in `body_truncated`; of ephemeral webhooks neither
    /// body nor query nor headers are kept.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub execute_request: Value,
    /// What it left, with `error` and `logs`, as the invoke operation answers.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub execute_response: Value,
}

/// How a run of a function ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum ExecutionStatus {
    /// It has not ended.
    #[default]
    None,
    /// It returned.
    Success,
    /// It failed; `execute_response.error` says why.
    Error,
}

/// A version of a function's source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct FunctionVersion {
    /// Which one, from 1 on.
    pub version: u32,
    /// SHA-256 of the language's name, a zero byte and the source, in hexadecimal digits: what is
    /// the same has the same.
    pub hash: String,
    /// Since when the function has, or had, this source, in unix seconds.
    #[cfg_attr(feature = "openapi", schema(value_type = i64))]
    pub created: Timestamp,
    /// Which language the source is in.
    pub driver: Driver,
    /// The length of the source in bytes.
    pub payload_size: usize,
    /// Whether it is what the function has now.
    pub current: bool,
    /// The source; absent in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payload: Option<String>,
}

impl FunctionVersion {
    /// A version of this source, not the current one, as in a list.
    #[must_use]
    pub fn new(version: u32, created: Timestamp, driver: Driver, payload: &str) -> Self {
        let hash = hex(&digest(driver, payload));
        let payload_size = payload.len();
        Self { version, hash, created, driver, payload_size, current: false, payload: None }
    }

    /// The source that the function has, as the current one.
    #[must_use]
    pub fn current(function: &Function) -> Self {
        let FunctionSpec { driver, payload, .. } = &function.spec;
        let (revision, revised) = (function.revision, function.revised);
        Self { current: true, ..Self::new(revision, revised, *driver, payload) }
    }

    /// The same with the source.
    #[must_use]
    pub fn with_payload(self, payload: String) -> Self {
        Self { payload: Some(payload), ..self }
    }
}

fn digest(driver: Driver, payload: &str) -> [u8; 32] {
    let mut context = Context::new(&SHA256);
    context.update(driver.to_string().as_bytes());
    context.update(b"\0");
    context.update(payload.as_bytes());
    let mut digest = [0; 32];
    digest.copy_from_slice(context.finish().as_ref());
    digest
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
