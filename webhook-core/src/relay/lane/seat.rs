//! Places for deliveries that are being stored.

use std::sync::Arc;

use tokio_util::task::task_tracker::TaskTrackerToken;

use super::{Held, Lane, Limits};
use crate::{clock::Timestamp, error::Error};

/// Where an accepted delivery waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Place {
    Memory,
    Store,
}

impl Lane {
    /// Counts in a delivery that is about to be stored and says where it waits: in the
    /// store when it is accepted `early`, before this node dispatches.
    pub(in super::super) fn seat(
        self: &Arc<Self>,
        limits: Limits,
        in_memory: bool,
        early: Option<TaskTrackerToken>,
    ) -> Result<Seat, Error> {
        let in_memory = in_memory && early.is_none();
        let mut state = self.state();
        state.limits = limits;
        limits.admit(state.pending)?;
        state.pending += 1;
        let room = state.queue.len() + state.promised < limits.queue;
        let place = if in_memory && room && !state.overflown && state.lost_at.is_none() {
            state.promised += 1;
            Place::Memory
        } else {
            state.overflown = true;
            Place::Store
        };
        drop(state);
        Ok(Seat { lane: Arc::clone(self), place, given_up: true, early })
    }
}

/// A delivery's place in a lane while it is being stored. Dropped without
/// having been taken it gives the place back.
#[derive(Debug)]
pub(in super::super) struct Seat {
    lane: Arc<Lane>,
    place: Place,
    given_up: bool,
    early: Option<TaskTrackerToken>,
}

impl Seat {
    pub(in super::super) fn place(&self) -> Place {
        self.place
    }

    /// Whether it was accepted before this node dispatches.
    pub(in super::super) fn is_early(&self) -> bool {
        self.early.is_some()
    }

    pub(in super::super) fn lane(&self) -> &Lane {
        &self.lane
    }

    /// When a delivery that was stored at `created_at` has waited too long.
    pub(in super::super) fn expires_at(&self, created_at: Timestamp) -> Option<Timestamp> {
        self.lane.state().limits.deadline.map(|deadline| created_at + deadline)
    }

    /// The delivery has been stored. When nothing is before it and one more
    /// worker may start, the caller gets it back, with the worker counted in,
    /// and starts that worker with it; else it waits where the seat says.
    pub(in super::super) fn start(mut self, held: Held) -> (Arc<Lane>, Option<Held>) {
        let mut state = self.lane.state();
        if self.place == Place::Memory && state.may_start_at_once() {
            state.promised -= 1;
            state.workers += 1;
            drop(state);
            self.given_up = false;
            return (Arc::clone(&self.lane), Some(held));
        }
        drop(state);
        (self.take(held), None)
    }

    /// The delivery has been stored: it waits where the seat says.
    pub(in super::super) fn take(mut self, held: Held) -> Arc<Lane> {
        self.given_up = false;
        let mut state = self.lane.state();
        match self.place {
            Place::Memory => {
                state.promised -= 1;
                state.insert(held);
            }
            Place::Store => state.stored = true,
        }
        drop(state);
        Arc::clone(&self.lane)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        if self.given_up {
            let mut state = self.lane.state();
            state.pending -= 1;
            if self.place == Place::Memory {
                state.promised -= 1;
            }
        }
    }
}
