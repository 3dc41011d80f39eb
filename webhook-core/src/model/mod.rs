//! Plain data as it is on the wire (`docs/interface.md`).
//!
//! What a caller may write is a `…Spec`; what is answered is the spec flattened
//! beside the read-only fields. One definition serves the API, the document,
//! the stores and embedders.

mod account;
mod billing;
mod bucket;
mod cron;
mod deduplication;
mod delivery;
mod domain;
mod function;
mod health;
mod input;
mod invoke;
mod output;
mod pause;
mod reason;
mod report;
mod signature_check;
mod token;
mod trace;
mod webhook;
pub(crate) mod wire;

pub use account::{Account, ApiKey};
pub use billing::{
    Billing, BillingDetailsSpec, PlanChange, PlanItem, Subscription, SubscriptionStatus,
};
pub use bucket::{AuthType, Bucket, BucketAuth, BucketSpec};
pub use cron::{Cron, CronSpec};
pub use deduplication::{Deduplication, DuplicateAnswer, KeyPart, KeySource};
pub use delivery::{Attempt, Delivery, DeliveryStatus, Log};
pub use domain::{Domain, DomainSpec};
pub use function::{Driver, Execution, ExecutionStatus, Function, FunctionSpec, Variable};
pub use health::{CircuitBreaker, Health};
pub use input::{Input, InputSpec, MinTls, ResponseFromOutput};
pub use invoke::{HeaderValues, InvokeRequest, Invoked, InvokedRequest, InvokedResponse};
pub use output::{
    Durability, Output, OutputSpec, RateInterval, ReplayMissing, RetrySchedule, Throttle,
    ThrottleMode,
};
pub use pause::{Pause, PauseRequest, PausedBy, Pauses, ResumeRequest, StoredPauses};
pub use reason::Reason;
pub use report::{Action, LogAction, LogReport, ProcessPolicy, Replay};
pub use signature_check::{CheckedRequest, SignatureCheck, SignatureCheckRequest};
pub use token::{AccessToken, ApiAccess, TokenScopes, TokenSpec};
pub(crate) use trace::seconds;
pub use trace::{
    ExplainRequest, Explained, Trace, TraceAttempt, TraceChange, TraceCheck, TraceCheckKind,
    TraceCheckOutcome, TraceFunction, TraceFunctionAt, TraceFunctionOutcome, TracePart,
    TraceReceived, TraceRules,
};
pub use webhook::{Checks, Webhook};
pub use webhook_credentials as credentials;
pub use webhook_signatures as signatures;
pub(crate) use webhook_wire::constant_time_eq;
pub use webhook_wire::{Extension, ExtensionObject, Headers, Request, Secret};

#[cfg(test)]
mod tests;
