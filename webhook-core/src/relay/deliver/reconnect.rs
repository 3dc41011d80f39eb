//! Sending once more within an attempt, to a destination that has not processed the webhook.

use crate::{
    destination::{Deadline, FailureKind, SendError},
    forward::Timings,
};

/// How often one attempt is sent again to a destination that says that it has not processed it.
const MAX_UNPROCESSED: usize = 8;

/// A try that was not processed, so that the same attempt was sent again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unprocessed {
    pub(super) kind: FailureKind,
    pub(super) timings: Timings,
}

/// The tries of one attempt that were not processed.
#[derive(Debug, Default)]
pub(super) struct Reconnects(Vec<Unprocessed>);

impl Reconnects {
    pub(super) fn tries(&self) -> &[Unprocessed] {
        &self.0
    }

    /// Whether the attempt is sent again immediately after `error`, which is noted then.
    ///
    /// A kept connection ends so once, because the next try takes a new one. A destination may
    /// say several times that it has not processed a webhook.
    pub(super) fn go_on_after(&mut self, error: &SendError, deadline: Deadline) -> bool {
        let goes_on = match error.kind {
            FailureKind::Unprocessed => self.0.len() < MAX_UNPROCESSED,
            FailureKind::KeptClosed => !self.needs_new_connection(),
            _ => false,
        };
        if !goes_on || deadline.remaining().is_zero() {
            return false;
        }
        let timings = error.timings.as_deref().copied().unwrap_or_default();
        self.0.push(Unprocessed { kind: error.kind, timings });
        tracing::debug!(%error, "sent again on another connection");
        true
    }

    /// Whether a kept connection has ended before it answered: another kept one may end as well.
    pub(super) fn needs_new_connection(&self) -> bool {
        self.0.iter().any(|each| each.kind == FailureKind::KeptClosed)
    }
}
