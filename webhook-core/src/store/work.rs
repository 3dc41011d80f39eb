//! Work that one node at a time holds: runs of crons, replays and erasures.

use crate::{clock::Timestamp, id::NodeId};

/// How many replays of an account are kept that are over, and how many erasures.
pub const KEPT_WORK: usize = 500;

/// A request for work that is due. The node holds it for a while.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ClaimWork {
    /// The node that asks.
    pub node: NodeId,
    /// The current moment.
    pub now: Timestamp,
    /// Until when the node holds the work.
    pub until: Timestamp,
    /// The largest number of pieces of work.
    pub limit: usize,
}

impl ClaimWork {
    /// A request for `limit` pieces of work at most.
    #[must_use]
    pub const fn new(node: NodeId, now: Timestamp, until: Timestamp, limit: usize) -> Self {
        Self { node, now, until, limit }
    }
}
