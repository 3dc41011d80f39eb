//! Which nodes are alive, and what they leave behind.

use crate::{
    clock::Timestamp,
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
