//! Plain data as it is on the wire.
//!
//! What a caller may write is a `…Spec`; what is answered is the spec flattened
//! beside the read-only fields. One definition serves the API, the document,
//! the stores and embedders.

#[cfg(feature = "admin")]
mod billing;
#[cfg(feature = "admin")]
mod comparison;
pub(crate) mod config;
mod delivery;
mod erasure;
mod head;
pub mod hops;
#[cfg(feature = "admin")]
mod invoke;
mod invoked;
#[cfg(feature = "admin")]
mod output_state;
#[cfg(feature = "admin")]
mod pausing;
mod reason;
mod replay;
#[cfg(feature = "admin")]
mod report;
mod resend;
#[cfg(feature = "admin")]
mod session;
#[cfg(feature = "admin")]
mod signature_check;
#[cfg(feature = "admin")]
mod token;
#[cfg(feature = "admin")]
mod trace;
mod webhook;

pub use crate::forward::history::TraceAttempt;
pub use crate::model::config::bucket::{AuthType, Bucket, BucketAuth, BucketSpec, LogRetention};
pub use crate::model::config::cron::{Cron, CronSpec, METHODS};
pub use crate::model::config::deduplication::{Deduplication, DuplicateAnswer, KeyPart, KeySource};
pub use crate::model::config::domain::{Domain, DomainSpec};
pub use crate::model::config::function::{
    Driver, Execution, ExecutionStatus, Function, FunctionMust, FunctionSpec, FunctionVersion,
    Variable,
};
pub use crate::model::config::health::{CircuitBreaker, CircuitState, Health};
pub use crate::model::config::input::{Input, InputSpec, MinTls, ResponseFromOutput};
pub use crate::model::config::notification::{Notification, NotificationEvent, NotificationSpec};
pub use crate::model::config::outcomes::{Outcomes, StatusCodes};
pub use crate::model::config::output::{
    Durability, Output, OutputSpec, RateInterval, ReplayMissing, RetrySchedule, Throttle,
    ThrottleMode,
};
pub use crate::model::config::signature::{OnFailure, SecretSpec, SignatureSpec};
#[cfg(feature = "admin")]
pub(crate) use crate::wire::constant_time_eq;
pub(crate) use crate::wire::json as wire;
pub use crate::wire::{Choice, Described, Extension, Headers, Request, Secret};
// Forms and documents read it, and so does the derived code here.
#[cfg(feature = "admin")]
pub use crate::wire::described;
#[cfg(not(feature = "admin"))]
pub(crate) use crate::wire::described;
#[cfg(feature = "admin")]
pub use billing::{
    Billing, BillingDetailsSpec, PlanChange, PlanItem, Subscription, SubscriptionStatus,
};
#[cfg(feature = "admin")]
pub use comparison::{CompareRequest, Comparison, Difference, TriedRun};
pub use config::pause::{OnDisabled, Pause, PauseChange, PausedBy, Pauses, StoredPauses};
pub use delivery::{Attempt, Delivery, DeliveryStatus, Log, Replayed};
#[cfg(feature = "admin")]
pub use erasure::ErasurePlan;
pub use erasure::{Erasure, ErasureSpec};
pub use head::LogHead;
#[cfg(feature = "admin")]
pub use invoke::{HeaderValues, InvokeRequest, InvokedRequest, InvokedResponse, TryRequest};
pub use invoked::{Invoked, ScriptResponse};
#[cfg(feature = "admin")]
pub use output_state::OutputState;
#[cfg(feature = "admin")]
pub use pausing::{PauseRequest, ResumeRequest};
pub use reason::Reason;
pub use replay::{Replay, ReplayFilter, ReplayOrder, ReplaySpec, ReplayStatus, ReplayTotals};
#[cfg(feature = "admin")]
pub use replay::{ReplayChange, ReplayPlan};
#[cfg(feature = "admin")]
pub use report::{Acknowledgement, Action, LogAction, LogReport};
pub use resend::{ProcessPolicy, Resend};
#[cfg(feature = "admin")]
pub use session::Session;
#[cfg(feature = "admin")]
pub use signature_check::{CheckedRequest, SignatureCheck, SignatureCheckRequest};
#[cfg(feature = "admin")]
pub use token::{AccessToken, Account, ApiAccess, ApiKey, TokenScopes, TokenSpec};
#[cfg(feature = "admin")]
pub(crate) use trace::seconds;
#[cfg(feature = "admin")]
pub use trace::{
    AnswerFrom, ExplainRequest, Explained, Trace, TraceCheck, TraceCheckKind, TraceCheckOutcome,
    TraceFunction, TraceFunctionAt, TraceFunctionOutcome, TraceReceived, TraceRules,
};
pub use webhook::{Checks, Webhook};
pub use webhook_signatures as signatures;

#[cfg(test)]
mod tests;
