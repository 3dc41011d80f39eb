//! Plain data as it is on the wire.
//!
//! What a caller may write is a `…Spec`; what is answered is the spec flattened
//! beside the read-only fields. One definition serves the API, the document,
//! the stores and embedders.

mod billing;
mod comparison;
pub(crate) mod config;
mod delivery;
mod erasure;
mod head;
pub mod hops;
mod invoke;
mod reason;
mod replay;
mod report;
mod session;
mod signature_check;
mod token;
mod trace;
mod webhook;
pub(crate) mod wire;

pub use crate::forward::history::TraceAttempt;
pub use crate::model::config::bucket::{AuthType, Bucket, BucketAuth, BucketSpec, LogRetention};
pub use crate::model::config::cron::{Cron, CronSpec, METHODS};
pub use crate::model::config::deduplication::{Deduplication, DuplicateAnswer, KeyPart, KeySource};
pub use crate::model::config::domain::{Domain, DomainSpec};
pub use crate::model::config::function::{
    Driver, Execution, ExecutionStatus, Function, FunctionMust, FunctionSpec, FunctionVersion,
    Variable,
};
pub use crate::model::config::health::{CircuitBreaker, CircuitState, Health, OutputState};
pub use crate::model::config::input::{Input, InputSpec, MinTls, ResponseFromOutput};
pub use crate::model::config::notification::{Notification, NotificationEvent, NotificationSpec};
pub use crate::model::config::output::{
    Durability, Output, OutputSpec, RateInterval, ReplayMissing, RetrySchedule, Throttle,
    ThrottleMode,
};
pub use crate::model::config::signature::{OnFailure, SecretSpec, SignatureSpec};
pub(crate) use crate::wire::constant_time_eq;
pub use crate::wire::{Choice, Described, Extension, Headers, Request, Secret, described};
pub use billing::{
    Billing, BillingDetailsSpec, PlanChange, PlanItem, Subscription, SubscriptionStatus,
};
pub use comparison::{CompareRequest, Comparison, Difference, TriedRun};
pub use config::pause::{
    OnDisabled, Pause, PauseChange, PauseRequest, PausedBy, Pauses, ResumeRequest, StoredPauses,
};
pub use delivery::{Attempt, Delivery, DeliveryStatus, Log, Replayed};
pub use erasure::{Erasure, ErasurePlan, ErasureSpec};
pub use head::LogHead;
pub use invoke::{
    HeaderValues, InvokeRequest, Invoked, InvokedRequest, InvokedResponse, ScriptResponse,
    TryRequest,
};
pub use reason::Reason;
pub use replay::{
    Replay, ReplayChange, ReplayFilter, ReplayOrder, ReplayPlan, ReplaySpec, ReplayStatus,
    ReplayTotals,
};
pub use report::{Acknowledgement, Action, LogAction, LogReport, ProcessPolicy, Resend};
pub use session::Session;
pub use signature_check::{CheckedRequest, SignatureCheck, SignatureCheckRequest};
pub use token::{AccessToken, Account, ApiAccess, ApiKey, TokenScopes, TokenSpec};
pub(crate) use trace::seconds;
pub use trace::{
    AnswerFrom, ExplainRequest, Explained, Trace, TraceCheck, TraceCheckKind, TraceCheckOutcome,
    TraceFunction, TraceFunctionAt, TraceFunctionOutcome, TraceReceived, TraceRules,
};
pub use webhook::{Checks, Webhook};
pub use webhook_signatures as signatures;

#[cfg(test)]
mod tests;
