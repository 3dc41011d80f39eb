//! The state of a configured thing while it works. No caller writes a state, and no version
//! contains it.

use super::{DocumentKey, DocumentKind};
use crate::{
    clock::Timestamp,
    id::{CronId, NotificationId, OutputId},
    model::{PauseChange, Pauses},
};

/// The state of a document; each kind has its own part of it.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct DocumentState {
    /// The pauses of an output.
    pub pauses: Pauses,
    /// Since when the destination of an output fails.
    pub failing_since: Option<Timestamp>,
    /// When a cron runs.
    pub cron: CronState,
    /// When a notification last put a webhook into its bucket.
    pub last_sent_at: Option<Timestamp>,
}

/// When a cron runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CronState {
    /// The run that comes next, or is due.
    pub next_run: Option<Timestamp>,
    /// The last run that was made.
    pub last_run: Option<Timestamp>,
    /// Whether it made the last run of all: it counts as disabled.
    pub is_over: bool,
}

impl CronState {
    /// The state of a cron that has not run yet.
    #[must_use]
    pub const fn starting(next_run: Option<Timestamp>) -> Self {
        Self { next_run, last_run: None, is_over: false }
    }
}

/// A change of a state.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum StateChange {
    /// Changes the pauses of an output. Of an output that is gone it changes nothing.
    Pauses(OutputId, PauseChange),
    /// Notes since when the destination of an output fails; an earlier moment that is noted
    /// stays.
    Failing(OutputId, Timestamp),
    /// Notes that the destination of an output works.
    Working(OutputId),
    /// Lets a cron run at another moment, unless its next run is not `known` any more, which is
    /// [`Refusal::Stale`](super::Refusal::Stale). That ends a hold.
    Schedule {
        /// The cron.
        cron: CronId,
        /// The next run that was read.
        known: Option<Timestamp>,
        /// The one that it gets.
        next_run: Option<Timestamp>,
    },
    /// Notes that a notification put a webhook into its bucket.
    Sent(NotificationId, Timestamp),
}

impl StateChange {
    /// The document whose state it changes.
    #[must_use]
    pub const fn key(&self) -> DocumentKey {
        match self {
            Self::Pauses(id, _) | Self::Failing(id, _) | Self::Working(id) => {
                DocumentKey { kind: DocumentKind::Output, id: id.as_uuid() }
            }
            Self::Schedule { cron, .. } => {
                DocumentKey { kind: DocumentKind::Cron, id: cron.as_uuid() }
            }
            Self::Sent(id, _) => DocumentKey { kind: DocumentKind::Notification, id: id.as_uuid() },
        }
    }
}
