//! Erasures of many webhooks.

use std::fmt;

use async_trait::async_trait;

use super::{ClaimWork, EraseWebhook, ErasedWebhook};
use crate::{
    clock::Timestamp,
    error::Error,
    id::{AccountId, ErasureId, NodeId, WebhookId},
    model::{Erasure, ErasureSpec, ReplayStatus},
};

/// Keeps erasures, how far each has come, and which node holds it.
///
/// An erasure that runs is held by at most one node. What it erases is written in one transaction
/// with the place that it has come to: a node that continues after a crash begins there, and the
/// counts are exact.
#[async_trait]
pub trait ErasureStore: Send + Sync + fmt::Debug {
    /// Stores an erasure. With `most` others of the account that are not over it is
    /// [`Busy`](crate::ErrorKind::Busy). Of those that are over the newest
    /// [`KEPT_WORK`](super::KEPT_WORK) stay.
    async fn create_erasure(&self, erasure: &Erasure, most: usize) -> Result<(), Error>;

    /// One erasure of the account.
    async fn erasure(&self, account: AccountId, id: ErasureId) -> Result<Option<Erasure>, Error>;

    /// Takes erasures that run and that no node holds, and holds them until
    /// [`until`](ClaimWork::until).
    async fn claim_erasures(&self, claim: ClaimWork) -> Result<Vec<Erasure>, Error>;

    /// When [`claim_erasures`](Self::claim_erasures) finds the next one: now, or when a hold ends.
    async fn erasures_wake_at(&self) -> Result<Option<Timestamp>, Error>;

    /// Leaves what `node` holds to any node.
    async fn release_erasures(&self, node: NodeId) -> Result<(), Error>;

    /// Erases webhooks as [`LogStore::erase`](super::LogStore::erase) does, counts them, moves the
    /// place on and prolongs the hold, or ends the erasure: all or nothing. None when the erasure
    /// does not run, the node does not hold it, or it is at another place; otherwise what became of
    /// each of the [`webhooks`](EraseStep::webhooks). Those in flight are remembered.
    async fn step_erasure(&self, step: EraseStep) -> Result<Option<Vec<EraseOutcome>>, Error>;
}

/// A step of an erasure.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EraseStep {
    /// The erasure.
    pub id: ErasureId,
    /// Whose it is.
    pub account: AccountId,
    /// Who holds it.
    pub node: NodeId,
    /// The place that it is at.
    pub from: String,
    /// The place that it comes to.
    pub to: String,
    /// The current moment.
    pub now: Timestamp,
    /// Until when the node holds it then.
    pub until: Timestamp,
    /// The webhooks that are erased.
    pub webhooks: Vec<EraseWebhook>,
    /// The status that it ends with, and the error of one that fails.
    pub end: Option<(ReplayStatus, String)>,
}

impl EraseStep {
    /// A step that erases nothing and stays where it is.
    #[must_use]
    pub fn new(erasure: &Erasure, node: NodeId, now: Timestamp, until: Timestamp) -> Self {
        let Erasure { id, account_id: account, cursor, .. } = erasure;
        Self {
            id: *id,
            account: *account,
            node,
            from: cursor.clone(),
            to: cursor.clone(),
            now,
            until,
            webhooks: Vec::new(),
            end: None,
        }
    }

    /// The erasure after this step, where this became of its webhooks.
    #[must_use]
    pub fn after(&self, mut erasure: Erasure, outcomes: &[EraseOutcome]) -> Erasure {
        let tried = self.webhooks.iter().map(|erase| erase.webhook_id).zip(outcomes);
        let tried: Vec<(WebhookId, _)> = tried.collect();
        erasure.in_flight.retain(|id| tried.iter().all(|(tried, _)| tried != id));
        for (id, outcome) in tried {
            match outcome {
                EraseOutcome::Erased(erased) => {
                    erasure.erased += 1;
                    erasure.withdrawn += erased.withdrawn;
                }
                EraseOutcome::InFlight => erasure.in_flight.push(id),
                EraseOutcome::Gone => {}
            }
        }
        erasure.found = erasure.found.max(erasure.erased + erasure.in_flight.len() as u64);
        erasure.cursor.clone_from(&self.to);
        if let Some((status, error)) = &self.end {
            (erasure.status, erasure.finished_at) = (*status, Some(self.now));
            erasure.error.clone_from(error);
            // It may tell what was erased.
            (erasure.spec, erasure.cursor) = (ErasureSpec::default(), String::new());
        }
        erasure
    }
}

/// What became of a webhook that was to be erased.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EraseOutcome {
    /// It is erased.
    Erased(ErasedWebhook),
    /// It stays, because an attempt of it is in flight.
    InFlight,
    /// The account has no such webhook.
    Gone,
}
