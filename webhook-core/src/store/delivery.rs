//! Webhooks and deliveries: the log and the queue in the same rows.

use std::{fmt, sync::Arc};

use async_trait::async_trait;

use super::{Backlog, Extended, Lease, NewExecution, Sweep};
use crate::{
    clock::Timestamp,
    error::Error,
    forward::history::History,
    id::{AccountId, BucketId, DeliveryId, ExecutionId, NodeId, OutputId, WebhookId},
    model::{Attempt, DeliveryStatus, Log, Reason, Replayed, Request, Webhook},
};

/// Keeps webhooks and one delivery per output of each.
///
/// A delivery with a `due_at` is *pending*: some node has to attempt it. It is
/// *held* by at most one node, and only while that node's lease lasts
/// ([`extend_lease`](Self::extend_lease)). The moments in calls are those of the store's
/// clock, if [it has one](super::Extended::now). How concurrent calls share commits
/// is the store's own business; each of them returns when its change is durable.
#[async_trait]
pub trait DeliveryStore: Send + Sync + fmt::Debug {
    /// Stores a webhook with its deliveries. Storing the same webhook ID again
    /// changes nothing, succeeds and says so: the deliveries and runs that were given
    /// then are not those that are stored. A webhook that is stored again is of the same bucket.
    /// A delivery ID that another delivery of the bucket has is a
    /// [`Conflict`](crate::ErrorKind::Conflict), and nothing is stored. An output of a
    /// webhook's delivery, and its input, are those of the webhook's bucket.
    ///
    /// Of two webhooks of an input that have a [key](Accept::seen) in common, one is
    /// stored, however close they come: the second waits for the first one's commit, and
    /// is stored if that fails. What is stored of a duplicate is
    /// [`Accept::duplicate_of`], for the first [`Seen::MAX_LOGS`] of one webhook; its keys
    /// are not remembered. All duplicates are counted on the webhook that they are of, as
    /// long as that is stored. A store of no inputs that deduplicate may ignore keys.
    ///
    /// When the store cannot keep up this fails soon with
    /// [`Unavailable`](crate::ErrorKind::Unavailable) rather than wait long.
    async fn accept(&self, accept: Accept) -> Result<Accepted, Error>;

    /// Takes pending deliveries of one output that no node holds, and holds
    /// them for the claiming node. Two claims never return the same delivery.
    /// They are `preparing` from then on.
    async fn claim(&self, claim: Claim) -> Result<Claimed, Error>;

    /// Writes what came of an attempt. When the delivery is not pending or is
    /// held by another node whose lease lasts, this is a conflict that changes
    /// nothing. The node holds the delivery no longer afterwards.
    ///
    /// A store may count the outcome by its [`Origin`] without a look at what is
    /// stored: with another one than that, counts are wrong from then on.
    ///
    /// `Received` without a `due_at` leaves the delivery to clients from then
    /// on: that is how a relay hands over an internal delivery whose output
    /// function has run. The attempt is an empty one then.
    ///
    /// After the final outcome of all its deliveries, the body, query and
    /// headers of an ephemeral webhook are erased, and so is what functions
    /// made of them.
    async fn settle(&self, settle: Settle) -> Result<(), Error>;

    /// Adds other deliveries of a stored webhook, a log of its own each: all of them
    /// or none. One whose ID the webhook's deliveries have already changes nothing.
    ///
    /// # Errors
    /// * [`NotFound`](crate::ErrorKind::NotFound): the account has no such webhook.
    /// * [`Conflict`](crate::ErrorKind::Conflict): the webhook was ephemeral and
    ///   is erased, or another webhook of its bucket has a delivery with one of the IDs.
    /// * [`Unavailable`](crate::ErrorKind::Unavailable): as for [`accept`](Self::accept).
    async fn redeliver(&self, account: AccountId, redeliver: Redeliver) -> Result<(), Error>;

    /// Says that a node is alive: what it holds is held until the lease ends. Nothing changes
    /// when the node has a lease of another incarnation, lapsed or not, which was not
    /// [released](Self::release).
    async fn extend_lease(&self, lease: Lease) -> Result<Extended, Error>;

    /// Frees everything that `node` holds and ends its lease: at shutdown, and at start for the
    /// node's own former life. With `of`, what it holds of that output: after a
    /// call that failed without saying whether it had an effect.
    async fn release(&self, node: NodeId, of: Option<OutputId>) -> Result<(), Error>;

    /// Every output that has pending deliveries which no node holds, or some that the
    /// node holds for long.
    async fn backlogs(&self, sweep: Sweep) -> Result<Vec<Backlog>, Error>;

    /// Cancels some of the deliveries that wait for deleted outputs, `most` at most, and counts
    /// them: they fail without an attempt. None when no such delivery is left, or another node is
    /// cancelling them. They are not claimed from the deletion on. Each call is a transaction of
    /// its own, so that other writers do not wait for a large number of deliveries. A store that
    /// cancels them with the deletion has nothing to do here.
    async fn cancel_deleted(&self, most: usize) -> Result<Option<usize>, Error> {
        let _ = most;
        Ok(None)
    }

    /// One log of the account.
    async fn log(&self, account: AccountId, id: DeliveryId) -> Result<Option<Log>, Error>;

    /// All logs of one webhook of the account, in ID order.
    async fn logs_of(&self, account: AccountId, webhook: WebhookId) -> Result<Vec<Log>, Error>;
}

/// A webhook to be stored.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Accept {
    /// The webhook.
    pub webhook: Arc<Webhook>,
    /// One for each output, or a single one without output.
    pub deliveries: Vec<NewDelivery>,
    /// The runs of functions that the webhook has behind it. They are stored with it or not
    /// at all; one of a function that is gone is passed over. A store without a
    /// [`FunctionStore`](super::FunctionStore) passes over all of them.
    pub runs: Vec<NewExecution>,
    /// What must not have been seen; mostly nothing.
    pub seen: Vec<Seen>,
}

/// A key that two webhooks of one input have only if the second is a duplicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The key: a digest.
    pub key: [u8; 32],
    /// A webhook that is received from this moment on is no duplicate any more.
    pub until: Timestamp,
}

impl Seen {
    /// How many duplicates of one webhook have logs; further ones are only counted.
    pub const MAX_LOGS: u32 = 20;
}

/// What became of a webhook that was to be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accepted {
    /// It is stored, with these deliveries.
    Stored,
    /// One with its ID had been stored before.
    Known,
    /// A webhook of its input with one of its keys had been stored before, or is stored by
    /// the same commit.
    Duplicate {
        /// That webhook.
        of: WebhookId,
    },
}

/// A delivery to be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NewDelivery {
    /// Identifies it.
    pub id: DeliveryId,
    /// Where to; none when the bucket has no output.
    pub output_id: Option<OutputId>,
    /// Whether the output is handed to connected clients only.
    pub internal: bool,
    /// `Received`, or final already.
    pub status: DeliveryStatus,
    /// Why it is final already.
    pub reason: Option<Reason>,
    /// The same for people.
    pub detail: Option<String>,
    /// When it is to be attempted; none when the relay never will.
    pub due_at: Option<Timestamp>,
    /// The node that attempts it right after the commit, and holds it from the start.
    pub held_by: Option<NodeId>,
}

/// Other deliveries of a stored webhook.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Redeliver {
    /// The webhook.
    pub webhook_id: WebhookId,
    /// The deliveries; `created_at` of their logs is `now`.
    pub deliveries: Vec<NewDelivery>,
    /// What is to be sent, when it is not what came in: an earlier delivery's
    /// processed request.
    pub processed: Option<Arc<Request>>,
    /// The current moment.
    pub now: Timestamp,
}

/// A request for pending deliveries of one output.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Claim {
    /// Who asks.
    pub node: NodeId,
    /// Whose deliveries.
    pub output_id: OutputId,
    /// The current moment, against which `due_at` and leases are judged.
    pub now: Timestamp,
    /// At most so many.
    pub limit: usize,
    /// Which first.
    pub order: ClaimOrder,
}

/// Which deliveries a claim takes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimOrder {
    /// Those that are due, the longest due first.
    Due,
    /// All pending ones, due or not, in order of receipt (of delivery ID).
    Receipt,
}

/// What a claim took.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Claimed {
    /// The deliveries, in the order of the claim.
    pub deliveries: Vec<Pending>,
    /// When the next delivery of the output that is left unheld is due; in the
    /// past when the limit cut the claim short.
    pub next_due_at: Option<Timestamp>,
}

/// A delivery that a node holds.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Pending {
    /// Identifies it.
    pub id: DeliveryId,
    /// Where to.
    pub output_id: OutputId,
    /// When it is to be attempted.
    pub due_at: Timestamp,
    /// When it was stored.
    pub created_at: Timestamp,
    /// Attempts so far.
    pub attempts: u32,
    /// What an earlier attempt's function made of the webhook.
    pub processed: Option<Arc<Request>>,
    /// The attempts so far.
    pub history: History,
    /// The replay that made it.
    pub replay: Option<Box<Replayed>>,
    /// The webhook.
    pub webhook: Arc<Webhook>,
}

/// What of a delivery was stored with it and never changes: what its outcome is
/// counted by, and what decides whether content is to be erased after it. Who
/// settles a delivery knows it, so that no store has to read before it writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Origin {
    /// The webhook.
    pub webhook_id: WebhookId,
    /// Whether the webhook's content is forgotten after the final outcome of all deliveries.
    pub ephemeral: bool,
    /// Whose it is.
    pub account_id: AccountId,
    /// The bucket that the webhook came into.
    pub bucket_id: BucketId,
    /// Where to; none when the delivery was stored without an output.
    pub output_id: Option<OutputId>,
    /// When the delivery was stored: with its webhook, or later when it was
    /// [added](DeliveryStore::redeliver).
    pub created_at: Timestamp,
}

/// What came of an attempt.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Settle {
    /// The delivery.
    pub id: DeliveryId,
    /// What was stored of it.
    pub origin: Origin,
    /// Who holds it.
    pub node: NodeId,
    /// The current moment.
    pub now: Timestamp,
    /// Its new status: `Received` when it is tried again, else final.
    pub status: DeliveryStatus,
    /// When it is tried again; none when it is left to clients. A final status
    /// leaves none, whatever is said here.
    pub due_at: Option<Timestamp>,
    /// Attempts so far, this one included.
    pub attempts: u32,
    /// Why it ended as it did; none when it was sent, or goes on.
    pub reason: Option<Reason>,
    /// What came of it.
    pub attempt: Arc<Attempt>,
    /// The attempts so far, this one included; none leaves what is stored.
    pub history: Option<History>,
    /// What the output function made of the webhook, when it ran in this attempt.
    pub processed: Option<Arc<Request>>,
    /// The run of the output function, when it ran in this attempt.
    pub output_execution_id: Option<ExecutionId>,
    /// The runs of functions in this attempt, as [those of a webhook](Accept::runs).
    pub runs: Vec<NewExecution>,
}
