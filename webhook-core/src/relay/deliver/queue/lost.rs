//! Deliveries that the store has as this node's and that are in nobody's hand here.
//!
//! They come about when a call to the store fails that may have had its effect, when the
//! store refuses an outcome, and when the lease was over for a while.

use std::time::Duration;

use super::{Next, OutputQueue, QueuedDelivery, State};
use crate::{clock::Timestamp, relay::deliver::lease::Term};

impl OutputQueue {
    /// This node may hold deliveries that are in nobody's hand. They are freed from
    /// `again_at` on, or sooner if that is known already, and claimed anew.
    pub(in crate::relay::deliver) fn lost(&self, again_at: Timestamp) {
        let mut state = self.state.lock();
        state.lost_at = Some(state.lost_at.map_or(again_at, |known| known.min(again_at)));
    }

    /// They could not be freed; it is tried again at `again_at`.
    pub(in crate::relay::deliver) fn not_recovered(&self, again_at: Timestamp) {
        self.state.lock().lost_at = None;
        self.lost(again_at);
    }

    /// What this node held in the store is free.
    pub(in crate::relay::deliver) fn recovered(&self) {
        let mut state = self.state.lock();
        state.lost_at = None;
        state.stored = true;
        state.overflown = true;
    }
}

impl State {
    /// What was taken in an earlier term of the lease may be another node's: nothing of it is
    /// attempted, and what is still this node's is freed.
    pub(super) fn lose_what_lapsed(&mut self, term: Option<Term>, now: Timestamp) {
        let is_anothers = self.is_anothers(term, now);
        let lapsed = |first: &QueuedDelivery| is_anothers || Some(first.term) != term;
        if self.queue.front().is_some_and(lapsed) {
            self.lost_at = Some(self.lost_at.map_or(now, |known| known.min(now)));
        }
    }

    /// The last worker frees everything, so that nothing is attempted twice at once; what
    /// waits here comes back with what is claimed next.
    pub(super) fn recover(&mut self, now: Timestamp) -> Next {
        match (self.workers, self.promised) {
            (1, 0) => {
                self.queue.clear();
                Next::Recover
            }
            (1, _) => Next::Until(now + Duration::from_millis(100)),
            _ => Next::Idle,
        }
    }
}
