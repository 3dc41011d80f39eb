//! Receive, route, transform and forward webhooks, durably.

pub mod admin;
mod clock;
#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
mod error;
pub mod forward;
pub mod function;
mod id;
pub mod model;
pub mod relay;
pub mod retry;
pub mod rule;
pub mod store;

#[cfg(any(test, feature = "test-util"))]
pub use clock::TokioClock;
pub use clock::{Clock, SystemClock, Timestamp};
pub use error::{Error, ErrorKind};
pub use id::{
    AccountId, BucketId, CronId, DeliveryId, DomainId, ExecutionId, FunctionId, Id, InputId,
    InvalidId, NodeId, OutputId, TokenId, WebhookId, kind,
};
pub use rule::{Rules, Subject};
