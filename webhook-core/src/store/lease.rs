//! Which nodes are alive, what they leave behind, and who attempts the deliveries of an output
//! whose throttle holds over several nodes.

use std::fmt;

use async_trait::async_trait;

use crate::{
    clock::Timestamp,
    error::Error,
    id::{NodeId, OutputId},
};

/// How long a node is alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lease {
    /// The node.
    pub node: NodeId,
    /// A number that each process draws at its start: two that have one name, because a data
    /// folder was copied, are told apart by it.
    pub incarnation: i64,
    /// When it ends unless it is extended.
    pub until: Timestamp,
}

impl Lease {
    /// A lease up to `until`.
    #[must_use]
    pub const fn new(node: NodeId, incarnation: i64, until: Timestamp) -> Self {
        Self { node, incarnation, until }
    }

    /// What a store that knows this lease does about a later one of the same node: a lease of
    /// the same incarnation is extended, another one is left.
    pub fn extend(&mut self, later: Self) -> Extended {
        if self.incarnation != later.incarnation {
            return Extended::taken(None, self.until);
        }
        *self = later;
        Extended::new(None, true)
    }
}

/// What a node that extended its lease is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Extended {
    /// What the store's own clock showed during the call: the moments of all further
    /// calls are to be its moments. None in a store without a clock of its own, whose
    /// nodes have one clock between them.
    pub now: Option<Timestamp>,
    /// Whether it is this node's turn to look for what nobody attempts. A store can let
    /// its nodes take turns, so that they do not all read the same rows.
    pub sweeps: bool,
    /// Until when another incarnation of the node has the lease, which was not extended then.
    pub taken_until: Option<Timestamp>,
}

impl Extended {
    /// An extended lease.
    #[must_use]
    pub const fn new(now: Option<Timestamp>, sweeps: bool) -> Self {
        Self { now, sweeps, taken_until: None }
    }

    /// A lease that another incarnation of the node has.
    #[must_use]
    pub const fn taken(now: Option<Timestamp>, until: Timestamp) -> Self {
        Self { now, sweeps: false, taken_until: Some(until) }
    }
}

/// A look for what nobody attempts.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Sweep {
    /// Who looks.
    pub node: NodeId,
    /// The current moment, against which leases are judged.
    pub now: Timestamp,
    /// What the node has held since before that moment is counted.
    pub held_before: Timestamp,
}

impl Sweep {
    /// A look at this moment.
    #[must_use]
    pub const fn new(node: NodeId, now: Timestamp, held_before: Timestamp) -> Self {
        Self { node, now, held_before }
    }
}

/// An output that a [`Sweep`] finds something of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Backlog {
    /// The output.
    pub output_id: OutputId,
    /// When the first of its pending deliveries is due that no node holds.
    pub due_at: Option<Timestamp>,
    /// How many these are.
    pub pending: u64,
    /// How many of its deliveries the node that looks has held, unchanged, since before
    /// [`held_before`](Sweep::held_before).
    pub held: u64,
    /// Whether another node holds deliveries of the output, and its lease lasts.
    pub is_attended: bool,
}

impl Backlog {
    /// Of an output of which nothing has been found yet.
    #[must_use]
    pub const fn new(output_id: OutputId) -> Self {
        Self { output_id, due_at: None, pending: 0, held: 0, is_attended: false }
    }

    /// Counts a delivery that no node holds.
    pub fn add_free(&mut self, due_at: Timestamp) {
        self.due_at = Some(self.due_at.map_or(due_at, |known| known.min(due_at)));
        self.pending += 1;
    }

    /// Whether there is a reason to tell of the output.
    #[must_use]
    pub fn is_found(&self) -> bool {
        self.pending > 0 || self.held > 0
    }
}

/// Gives the queue of an output to one node at a time.
///
/// A throttle bounds the number of attempts in an interval, or the number of concurrent attempts,
/// and sets their order. Nodes that share a store keep to it together, because one node owns the
/// queue and attempts its deliveries, and the other nodes leave them in the store. A node owns a queue until it
/// leaves it, or until its [lease](super::DeliveryStore::extend_lease) is over. Without such a
/// store each node keeps to a throttle by itself.
#[async_trait]
pub trait QueueStore: Send + Sync + fmt::Debug {
    /// Makes a node the owner of a queue, unless another node is, whose lease lasts at
    /// [`now`](OwnQueue::now). Deliveries of an owner whose lease has ended are freed
    /// then, also if its lease begins again. An owner that asks again stays the owner, and the
    /// attempts that it names are kept for the next owner.
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

/// A node that wants to own a queue, or to stay its owner.
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
    /// When the owners before it started their latest attempts; empty for a node that stays the
    /// owner.
    pub started: Vec<Timestamp>,
    /// The owner before it did not leave the queue: it may have started more than that.
    pub was_lost: bool,
    /// How many deliveries of the output wait or are out, [`MAX_COUNTED`](Self::MAX_COUNTED) at
    /// most.
    pub pending: u64,
}

impl OwnedQueue {
    /// A larger number of waiting deliveries is not counted exactly.
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
