//! Who attempts the deliveries of an output whose throttle holds over several nodes.

use std::fmt;

use async_trait::async_trait;

use crate::{
    clock::Timestamp,
    error::Error,
    id::{NodeId, OutputId},
};

/// Gives the queue of an output to one node at a time.
///
/// A throttle says how many may leave in what time, how many may be out at once, and in which
/// order. Nodes that share a store keep to it together, because one of them owns the queue and
/// attempts its deliveries, and the others leave them in the store. A node owns a queue until it
/// leaves it, or until its [lease](super::DeliveryStore::extend_lease) is over. Without such a
/// store each node keeps to a throttle by itself.
#[async_trait]
pub trait QueueStore: Send + Sync + fmt::Debug {
    /// Makes a node the owner of a queue, unless another node is, whose lease lasts at
    /// [`now`](OwnQueue::now). What an owner whose lease was over holds of the output is free
    /// then, also if the lease begins anew. An owner that asks again goes on, and what it says it
    /// has started is kept for the next one.
    async fn own_queue(&self, own: OwnQueue) -> Result<OwnedQueue, Error>;

    /// Gives a queue up and keeps what was started of it lately for the next owner. Nothing
    /// changes when another node owns it.
    async fn leave_queue(
        &self,
        node: NodeId,
        output: OutputId,
        started: &[Timestamp],
    ) -> Result<(), Error>;
}

/// A node that wants to own a queue, or to go on owning it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OwnQueue {
    /// The node. It has a lease.
    pub node: NodeId,
    /// Whose queue.
    pub output_id: OutputId,
    /// The current moment, against which leases are judged.
    pub now: Timestamp,
    /// When the latest attempts were started, of a node that owns the queue already; none of
    /// one that does not.
    pub started: Option<Vec<Timestamp>>,
}

impl OwnQueue {
    /// Of a node that does not own the queue yet.
    #[must_use]
    pub const fn new(node: NodeId, output_id: OutputId, now: Timestamp) -> Self {
        Self { node, output_id, now, started: None }
    }
}

/// Who owns a queue, and what is known of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct OwnedQueue {
    /// Whether the node that asked owns it from now on.
    pub is_owner: bool,
    /// When the owners before it started their latest attempts; nothing for who goes on.
    pub started: Vec<Timestamp>,
    /// The owner before it did not leave the queue: it may have started more than that.
    pub was_lost: bool,
    /// How many deliveries of the output wait or are out, [`MAX_COUNTED`](Self::MAX_COUNTED) at
    /// most.
    pub pending: u64,
}

impl OwnedQueue {
    /// Past so many deliveries that wait it is not counted how many these are.
    pub const MAX_COUNTED: u64 = 10_000;

    /// A queue that another node owns.
    #[must_use]
    pub fn of_another(pending: u64) -> Self {
        Self { pending, ..Self::default() }
    }

    /// A queue that the node owns which asked.
    #[must_use]
    pub const fn own(started: Vec<Timestamp>, was_lost: bool, pending: u64) -> Self {
        Self { is_owner: true, started, was_lost, pending }
    }
}
