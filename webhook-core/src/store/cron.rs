//! Cron jobs.

use std::fmt;

use async_trait::async_trait;

use super::ClaimWork;
use crate::{
    clock::Timestamp,
    error::Error,
    id::{CronId, NodeId},
    model::Cron,
};

/// Says which crons run.
///
/// A cron with a `next_run` *wakes* at that moment. From then on one node at a
/// time may [claim](Self::claim_crons) it and make the run, until it has
/// [advanced](Self::advance_cron) or the hold has ended.
#[async_trait]
pub trait CronStore: Send + Sync + fmt::Debug {
    /// Takes crons that are due and held by nobody, the longest due first, and
    /// holds them for a while. Two claims never return the same hold.
    async fn claim_crons(&self, claim: ClaimWork) -> Result<Vec<Cron>, Error>;

    /// When [`claim_crons`](Self::claim_crons) finds the next cron, whoever owns
    /// it: its `next_run`, or the end of its hold. None when no cron is to run.
    async fn crons_wake_at(&self) -> Result<Option<Timestamp>, Error>;

    /// Writes what follows a run, and ends the hold. When the cron is gone, or
    /// its `next_run` is not `from` any more, this changes nothing and answers
    /// `false`: somebody else was first.
    async fn advance_cron(&self, advance: AdvanceCron) -> Result<bool, Error>;

    /// Ends all holds of `node`: at shutdown, and at start for the node's own
    /// former life.
    async fn release_crons(&self, node: NodeId) -> Result<(), Error>;
}

/// The step from one run to the next.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct AdvanceCron {
    /// Which cron.
    pub id: CronId,
    /// The `next_run` that it had.
    pub from: Timestamp,
    /// The one that it gets.
    pub to: Option<Timestamp>,
    /// Whether it was the last run of all: the cron counts as disabled from then on.
    pub is_over: bool,
}

impl AdvanceCron {
    /// The step of an enabled cron from one run to the next; without a next run it
    /// is over.
    #[must_use]
    pub const fn new(id: CronId, from: Timestamp, to: Option<Timestamp>) -> Self {
        Self { id, from, to, is_over: to.is_none() }
    }
}
