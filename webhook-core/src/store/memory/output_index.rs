//! The deliveries of one output, by what is asked of them.

use std::collections::BTreeSet;

use foldhash::HashSet;

use crate::{clock::Timestamp, id::DeliveryId, store::ClaimOrder};

/// An index over the rows of one output; it exists while one of them is open.
#[derive(Default)]
pub(super) struct OutputIndex {
    /// Pending ones that no node holds.
    due: BTreeSet<(Timestamp, DeliveryId)>,
    /// The same in order of receipt.
    receipt: BTreeSet<(DeliveryId, Timestamp)>,
    /// All that are not final, for when the output is deleted.
    open: HashSet<DeliveryId>,
}

impl OutputIndex {
    pub(super) fn insert_free(&mut self, id: DeliveryId, due_at: Timestamp) {
        self.due.insert((due_at, id));
        self.receipt.insert((id, due_at));
    }

    pub(super) fn remove_free(&mut self, id: DeliveryId, due_at: Timestamp) {
        self.due.remove(&(due_at, id));
        self.receipt.remove(&(id, due_at));
    }

    pub(super) fn insert_open(&mut self, id: DeliveryId) {
        self.open.insert(id);
    }

    pub(super) fn remove_open(&mut self, id: DeliveryId) {
        self.open.remove(&id);
    }

    pub(super) fn open(&self) -> impl Iterator<Item = DeliveryId> {
        self.open.iter().copied()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty() && self.due.is_empty()
    }

    /// The first `limit` free deliveries that a claim at `now` takes.
    pub(super) fn first(&self, order: ClaimOrder, now: Timestamp, limit: usize) -> Vec<DeliveryId> {
        match order {
            ClaimOrder::Due => {
                let due = self.due.iter().take_while(|(due_at, _)| *due_at <= now);
                due.take(limit).map(|(_, id)| *id).collect()
            }
            ClaimOrder::Receipt => self.receipt.iter().take(limit).map(|(id, _)| *id).collect(),
        }
    }

    /// When the first free delivery is due.
    pub(super) fn next_due_at(&self) -> Option<Timestamp> {
        self.due.first().map(|(due_at, _)| *due_at)
    }

    /// How many deliveries are free.
    pub(super) fn free(&self) -> usize {
        self.due.len()
    }
}
