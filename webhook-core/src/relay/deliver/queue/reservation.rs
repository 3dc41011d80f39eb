//! Slots for deliveries that are being stored.

use std::sync::Arc;

use tokio_util::task::task_tracker::TaskTrackerToken;

use super::{OutputQueue, QueueLimits, QueuedDelivery};
use crate::{error::Error, relay::deliver::lease::Term};

/// Where an accepted delivery waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    /// In the queue of this node, which holds it from the commit on.
    InMemory,
    /// In the store, until a node claims it.
    Stored,
}

impl OutputQueue {
    /// Counts in a delivery that is about to be stored and says where it waits: in the
    /// store when it is accepted `early`, before this node dispatches.
    pub(crate) fn reserve(
        self: &Arc<Self>,
        limits: QueueLimits,
        in_memory: bool,
        term: Term,
        early: Option<TaskTrackerToken>,
    ) -> Result<Reservation, Error> {
        let in_memory = in_memory && early.is_none() && !limits.is_owned;
        let mut state = self.state.lock();
        limits.admit(state.pending)?;
        state.pending += 1;
        let room = state.queue.len() + state.promised < limits.in_memory;
        let paused = limits.paused_until.is_some();
        state.limit(limits);
        let slot = if in_memory && room && !paused && !state.overflown && state.lost_at.is_none() {
            state.promised += 1;
            Slot::InMemory
        } else {
            state.overflown = true;
            state.storing += 1;
            Slot::Stored
        };
        drop(state);
        Ok(Reservation { queue: Arc::clone(self), slot, term, given_up: true, early })
    }
}

/// A delivery's slot in a queue while it is being stored. Dropped without
/// having been taken it gives the slot back.
#[derive(Debug)]
pub(crate) struct Reservation {
    queue: Arc<OutputQueue>,
    slot: Slot,
    term: Term,
    given_up: bool,
    early: Option<TaskTrackerToken>,
}

impl Reservation {
    pub(crate) fn slot(&self) -> Slot {
        self.slot
    }

    /// Whether it was accepted before this node dispatches.
    pub(crate) fn is_early(&self) -> bool {
        self.early.is_some()
    }

    pub(crate) fn queue(&self) -> &OutputQueue {
        &self.queue
    }

    /// The delivery has been stored. When nothing is before it and one more
    /// worker may start, the caller gets it back, with the worker counted in,
    /// and starts that worker with it; else it waits where the slot says.
    pub(crate) fn start(
        mut self,
        delivery: QueuedDelivery,
    ) -> (Arc<OutputQueue>, Option<QueuedDelivery>) {
        let delivery = delivery.in_term(self.term);
        let mut state = self.queue.state.lock();
        if self.slot == Slot::InMemory && state.may_start_at_once() {
            state.promised -= 1;
            state.workers += 1;
            drop(state);
            self.given_up = false;
            return (Arc::clone(&self.queue), Some(delivery));
        }
        drop(state);
        (self.take(delivery), None)
    }

    /// The delivery has been stored: it waits where the slot says.
    pub(crate) fn take(mut self, delivery: QueuedDelivery) -> Arc<OutputQueue> {
        self.given_up = false;
        let mut state = self.queue.state.lock();
        match self.slot {
            Slot::InMemory => {
                state.promised -= 1;
                state.insert(delivery.in_term(self.term));
            }
            Slot::Stored => {
                state.storing -= 1;
                state.stored = true;
            }
        }
        drop(state);
        Arc::clone(&self.queue)
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if self.given_up {
            let mut state = self.queue.state.lock();
            state.pending = state.pending.saturating_sub(1);
            match self.slot {
                Slot::InMemory => state.promised -= 1,
                Slot::Stored => state.storing -= 1,
            }
        }
    }
}
