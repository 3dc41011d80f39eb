//! Deliveries that a replay made.

use std::sync::Arc;

use http::{HeaderMap, HeaderName, HeaderValue};

use crate::{
    model::ReplayStatus,
    store::{Pending, ReplayStore},
};

/// Names the log that a replay found.
static REPLAY_OF: HeaderName = HeaderName::from_static("x-webhook-relay-replay-of");

/// Knows which replays were cancelled. Other nodes may have queued their deliveries.
#[derive(Debug)]
pub(super) struct Withdrawals(pub(super) Arc<dyn ReplayStore>);

impl Withdrawals {
    /// Whether a delivery is not to be attempted, because its replay was cancelled before it was.
    /// Only what a replay made is looked at.
    pub(super) async fn mean(&self, pending: &Pending) -> bool {
        let Some(replay) = pending.replay.as_ref().filter(|_| pending.attempts == 0) else {
            return false;
        };
        let stored = Box::pin(self.0.replay(pending.webhook.account_id, replay.id)).await;
        stored.is_ok_and(|it| it.is_some_and(|it| it.status == ReplayStatus::Cancelled))
    }
}

/// Says of what a replay sends which log it found.
pub(super) fn name_replayed(pending: &Pending, headers: &mut HeaderMap) {
    if let Some(replay) = &pending.replay
        && let Ok(of) = HeaderValue::try_from(replay.of.to_string())
    {
        headers.insert(REPLAY_OF.clone(), of);
    }
}
