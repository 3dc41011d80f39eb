//! What a relay tells about itself while it works, for metrics and traces.

use std::{fmt, time::Duration};

use http::HeaderMap;
use tracing::{Level, Span};

use crate::{
    function::Completion,
    model::{DeliveryStatus, Output},
    store::{Pending, Settle},
};

/// Is told what happens on the way of each webhook. Called inline: count and return.
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering};
/// use webhook_core::relay::Observer;
///
/// /// Counts webhooks whose senders were turned away.
/// #[derive(Debug, Default)]
/// struct TurnedAway(AtomicU64);
///
/// impl Observer for TurnedAway {
///     fn received(&self, status: http::StatusCode, _took: std::time::Duration) {
///         self.0.fetch_add(u64::from(!status.is_success()), Ordering::Relaxed);
///     }
/// }
/// ```
pub trait Observer: Send + Sync + fmt::Debug {
    /// A webhook was answered with `status` after `took`.
    fn received(&self, status: http::StatusCode, took: Duration) {
        let _ = (status, took);
    }

    /// An attempt ended, leaving the delivery in `status` (`Received` when it is tried again).
    fn attempted(&self, status: DeliveryStatus, took: Duration) {
        let _ = (status, took);
    }

    /// A function ran on a webhook, or on a destination's answer, and left `completion`; whether
    /// it changed nothing of it. A function that fails may be `unmodified`, where it had to change
    /// something.
    fn function_ran(&self, completion: &Completion, unmodified: bool) {
        let _ = (completion, unmodified);
    }

    /// The span of the log for a delivery's turn: what is logged meanwhile is in it.
    fn span(&self, pending: &Pending) -> Span {
        let _ = pending;
        Span::none()
    }

    /// The request of an attempt is about to leave. What is put into `headers` leaves with it.
    fn sending(&self, pending: &Pending, headers: &mut HeaderMap) {
        let _ = (pending, headers);
    }

    /// A delivery's turn ended, and what came of it is about to be stored. It was an attempt
    /// if the attempts in `settle` are more than those of `pending`.
    fn settling(&self, pending: &Pending, output: Option<&Output>, settle: &Settle) {
        let _ = (pending, output, settle);
    }

    /// `count` deliveries more wait for an attempt or its end (fewer when negative).
    fn pending(&self, count: i64) {
        let _ = count;
    }

    /// What came of an attempt is not stored: the delivery is another node's by now, or has
    /// ended.
    fn conflicted(&self) {}

    /// This node looked for what nobody attempts.
    fn swept(&self, swept: Swept) {
        let _ = swept;
    }

    /// The store knows that this node is alive for `lasts` from now on, and this machine's
    /// clock was so many milliseconds ahead of the store's (fewer than none when behind). Only
    /// of stores that have a clock.
    fn leased(&self, lasts: Duration, ahead_millis: i64) {
        let _ = (lasts, ahead_millis);
    }
}

/// What a look for what nobody attempts found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Swept {
    /// For how long the delivery has been due that waits longest of those that no node holds,
    /// but for those of outputs that are paused; zero when none is due.
    pub overdue: Duration,
    /// Outputs that a node attended to which is gone, and this one attends to now.
    pub taken_over: u64,
    /// Outputs that this node attends to, where something was due and nobody was told.
    pub unannounced: u64,
    /// Outputs of which this node holds deliveries that it had lost sight of.
    pub lost: u64,
}

/// Listens to nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoObserver;

impl Observer for NoObserver {}

/// The target of the lines about attempts, for filters of the log.
const ATTEMPT: &str = "webhook_core::attempt";

/// Writes one line for each attempt: at the level `debug` when the webhook was sent or is left to
/// clients, and at `info` otherwise.
pub(in crate::relay) fn log(pending: &Pending, settle: &Settle) {
    let Settle { status, due_at, attempts, attempt, now, .. } = settle;
    macro_rules! line {
        ($level:expr) => {
            tracing::event!(
                target: ATTEMPT,
                $level,
                delivery = %pending.id,
                bucket = %pending.webhook.bucket_id,
                output = %pending.output_id,
                attempt = attempts,
                outcome = status.as_str(),
                status = attempt.status_code,
                ms = attempt.duration.as_millis() as u64,
                error = attempt.error.as_deref(),
                retry_in_ms = due_at.map(|due| due.since(*now).as_millis() as u64),
                "attempt"
            )
        };
    }
    match status {
        DeliveryStatus::Sent => line!(Level::DEBUG),
        DeliveryStatus::Received if due_at.is_none() => line!(Level::DEBUG),
        _ => line!(Level::INFO),
    }
}
