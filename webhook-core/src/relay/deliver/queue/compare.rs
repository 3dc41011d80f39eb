//! Compares the deliveries that the store assigns to this node with the deliveries in the queue of
//! an output, and frees deliveries that only the store knows.
//!
//! They come about when a call to the store fails that may have had its effect, when the
//! store refuses an outcome, and when the lease was over for a while.

use std::time::Duration;

use super::{Next, OutputQueue, QueuedDelivery, State};
use crate::{clock::Timestamp, relay::deliver::lease::Term, store::Backlog};

/// What follows from a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Compared {
    /// How many more deliveries are known of than before.
    pub(crate) counted: i64,
    /// Some wait in the store that are for this node to claim.
    pub(crate) is_due: bool,
    /// This node holds deliveries in the store that are in nobody's hand here.
    pub(crate) is_lost: bool,
    /// A pause lasts: what is due waits for its end.
    pub(crate) is_parked: bool,
}

impl OutputQueue {
    /// Whether something waits that needs no timer.
    pub(crate) fn has_work(&self) -> bool {
        let state = self.state.lock();
        state.stored || !state.queue.is_empty()
    }

    /// Deliveries that have not ended.
    pub(crate) fn pending(&self) -> i64 {
        i64::try_from(self.state.lock().pending).unwrap_or(i64::MAX)
    }

    /// Whether there is nothing to remember. Deliveries that came back after an answer of the
    /// store was lost are not counted, but known of all the same.
    pub(crate) fn is_quiet(&self) -> bool {
        let state = self.state.lock();
        let unmarked =
            state.pace.is_empty() && state.circuit.is_empty() && state.failing.is_empty();
        let knows_of_none = state.pending == 0
            && state.queue.is_empty()
            && !state.stored
            && state.retry_at.is_none()
            && state.lost_at.is_none();
        knows_of_none && state.workers == 0 && !state.ownership.is_held() && unmarked
    }

    /// How many deliveries may be held in the store for this queue; none while a claim is
    /// under way.
    pub(crate) fn in_hand(&self) -> Option<u64> {
        self.state.lock().in_hand()
    }

    /// Takes note of what the store `found`; `before` that was asked, so many deliveries were
    /// in hand. What is `overdue` is claimed, unless the queue is at rest and another node
    /// attends to the output.
    pub(crate) fn compare(&self, found: &Backlog, before: Option<u64>, overdue: bool) -> Compared {
        let mut state = self.state.lock();
        let after = state.in_hand();
        let at_rest = before == Some(0) && after == Some(0);
        let is_lost = state.lost_at.is_none() && before.is_some_and(|before| found.held > before);
        let is_due = overdue && after.is_some() && !(at_rest && found.is_attended);
        let known = state.pending;
        let in_store = found.pending + found.held;
        if at_rest {
            state.pending = in_store;
        } else if is_due || is_lost {
            state.pending = known.max(found.pending + found.held.max(after.unwrap_or_default()));
        }
        state.stored |= is_due;
        let counted = i64::try_from(state.pending).unwrap_or(i64::MAX)
            - i64::try_from(known).unwrap_or(i64::MAX);
        Compared { counted, is_due, is_lost, is_parked: state.parked }
    }
}

impl State {
    fn in_hand(&self) -> Option<u64> {
        let in_hand = self.queue.len() + self.promised + self.storing + self.workers;
        (!self.claiming).then(|| u64::try_from(in_hand).unwrap_or(u64::MAX))
    }
}

impl OutputQueue {
    /// Notes that the store may assign deliveries to this node that no worker here has. They are freed
    /// from `again_at` on, or sooner if an earlier moment is noted, and claimed again.
    pub(crate) fn lost(&self, again_at: Timestamp) {
        let mut state = self.state.lock();
        state.lost_at = Some(state.lost_at.map_or(again_at, |known| known.min(again_at)));
    }

    /// They could not be freed; it is tried again at `again_at`.
    pub(crate) fn not_recovered(&self, again_at: Timestamp) {
        self.state.lock().lost_at = None;
        self.lost(again_at);
    }

    /// What this node held in the store is free.
    pub(crate) fn recovered(&self) {
        let mut state = self.state.lock();
        state.lost_at = None;
        state.stored = true;
        state.overflown = true;
    }
}

impl State {
    /// Deliveries that were claimed in an earlier term of the lease may belong to another node: none
    /// of them is attempted, and the store frees those that still belong to this node.
    pub(super) fn lose_what_lapsed(&mut self, term: Option<Term>, now: Timestamp) {
        let is_anothers = self.is_anothers(term, now);
        let lapsed = |first: &QueuedDelivery| is_anothers || Some(first.term) != term;
        if self.queue.front().is_some_and(lapsed) {
            self.lost_at = Some(self.lost_at.map_or(now, |known| known.min(now)));
        }
    }

    /// The last worker frees all deliveries, so that none is attempted twice concurrently. The next
    /// claim brings the waiting deliveries back.
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
