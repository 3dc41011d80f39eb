//! Replays of many webhooks.

use std::{fmt, sync::Arc};

use async_trait::async_trait;

use super::{Accept, ClaimWork, NewDelivery};
use crate::{
    clock::Timestamp,
    error::Error,
    id::{AccountId, DeliveryId, NodeId, OutputId, ReplayId, WebhookId},
    model::{Replay, ReplayStatus, ReplayTotals, Request},
};

/// Keeps replays, how far each has come, and which node goes on with it.
///
/// A replay that runs is held by at most one node. What it queues is written in one transaction
/// with the place that it has come to: whoever goes on after a crash goes on there, and no
/// webhook is queued twice or passed over.
#[async_trait]
pub trait ReplayStore: Send + Sync + fmt::Debug {
    /// Stores a replay, if it [may begin](Replay::may_begin) beside the account's others, of which
    /// at most `most` are not over. Of those that are over the newest
    /// [`KEPT_WORK`](super::KEPT_WORK) stay.
    async fn create_replay(&self, replay: &Replay, most: usize) -> Result<(), Error>;

    /// One replay of the account.
    async fn replay(&self, account: AccountId, id: ReplayId) -> Result<Option<Replay>, Error>;

    /// The account's replays, newest first, those before `before`.
    async fn replays(
        &self,
        account: AccountId,
        before: Option<ReplayId>,
        limit: usize,
    ) -> Result<Vec<Replay>, Error>;

    /// What came of the logs of each of these replays, in their order.
    async fn replay_totals(&self, ids: &[ReplayId]) -> Result<Vec<ReplayTotals>, Error>;

    /// Writes a replay's status, rate, error and end, if its status is `from`; otherwise this
    /// changes nothing and answers `false`. One that is not running is held by nobody. With
    /// [`Cancelled`](ReplayStatus::Cancelled) it withdraws what was never attempted and no node
    /// holds: these logs are `rejected` from then on, and `cancelled` their reason.
    async fn change_replay(
        &self,
        replay: &Replay,
        from: ReplayStatus,
        now: Timestamp,
    ) -> Result<bool, Error>;

    /// Takes replays that run and are held by nobody, and holds them until
    /// [`until`](ClaimWork::until).
    async fn claim_replays(&self, claim: ClaimWork) -> Result<Vec<Replay>, Error>;

    /// When [`claim_replays`](Self::claim_replays) finds the next one: now, or when a hold ends.
    async fn replays_wake_at(&self) -> Result<Option<Timestamp>, Error>;

    /// Leaves what `node` holds to any node.
    async fn release_replays(&self, node: NodeId) -> Result<(), Error>;

    /// How many logs of a replay wait for their first attempt, by output.
    async fn replay_waiting(&self, id: ReplayId) -> Result<Vec<(OutputId, u64)>, Error>;

    /// Queues webhooks, moves the place on and prolongs the hold, all or nothing. None when the
    /// replay does not run, the node does not hold it, or it is at another place; otherwise which
    /// of the [`items`](FeedReplay::items) were queued. What is erased or gone is not, and
    /// counts as skipped.
    async fn feed_replay(&self, feed: FeedReplay) -> Result<Option<Vec<bool>>, Error>;
}

/// A step of a replay.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FeedReplay {
    /// The replay.
    pub id: ReplayId,
    /// Whose it is.
    pub account: AccountId,
    /// Who holds it.
    pub node: NodeId,
    /// The place that it is at.
    pub from: String,
    /// The place that it comes to.
    pub to: String,
    /// What was passed over on the way.
    pub skipped: u64,
    /// The current moment; `created_at` of the logs.
    pub now: Timestamp,
    /// Until when the node holds it then.
    pub until: Timestamp,
    /// What is queued.
    pub items: Vec<ReplayItem>,
}

impl FeedReplay {
    /// A step that queues nothing and stays where it is.
    #[must_use]
    pub fn new(replay: &Replay, node: NodeId, now: Timestamp, until: Timestamp) -> Self {
        let Replay { id, account_id: account, cursor, .. } = replay;
        Self {
            id: *id,
            account: *account,
            node,
            from: cursor.clone(),
            to: cursor.clone(),
            skipped: 0,
            now,
            until,
            items: Vec::new(),
        }
    }
}

/// A webhook that a replay queues.
#[derive(Clone, Debug)]
pub struct ReplayItem {
    /// The log that it was found by.
    pub of: DeliveryId,
    /// The webhook.
    pub webhook: ReplayedWebhook,
}

/// Which webhook is queued again.
#[derive(Clone, Debug)]
pub enum ReplayedWebhook {
    /// The stored one, with more deliveries.
    Stored {
        /// The webhook.
        id: WebhookId,
        /// The deliveries that are added.
        deliveries: Vec<NewDelivery>,
        /// What is to be sent, when it is not what came in.
        processed: Option<Arc<Request>>,
    },
    /// One that is received again, because its input had not let it pass.
    Received(Box<Accept>),
}
