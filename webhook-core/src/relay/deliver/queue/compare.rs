//! What the store says of an output, beside what its queue knows.

use super::{OutputQueue, State};
use crate::store::Backlog;

/// What follows from a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::relay::deliver) struct Compared {
    /// How many more deliveries are known of than before.
    pub(in crate::relay::deliver) counted: i64,
    /// Some wait in the store that are for this node to claim.
    pub(in crate::relay::deliver) is_due: bool,
    /// This node holds deliveries in the store that are in nobody's hand here.
    pub(in crate::relay::deliver) is_lost: bool,
    /// A pause lasts: what is due waits for its end.
    pub(in crate::relay::deliver) is_parked: bool,
}

impl OutputQueue {
    /// Whether something waits that needs no timer.
    pub(in crate::relay::deliver) fn has_work(&self) -> bool {
        let state = self.state.lock();
        state.stored || !state.queue.is_empty()
    }

    /// Deliveries that have not ended.
    pub(in crate::relay::deliver) fn pending(&self) -> i64 {
        i64::try_from(self.state.lock().pending).unwrap_or(i64::MAX)
    }

    /// Whether there is nothing to remember. Deliveries that came back after an answer of the
    /// store was lost are not counted, but known of all the same.
    pub(in crate::relay::deliver) fn is_quiet(&self) -> bool {
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
    pub(in crate::relay::deliver) fn in_hand(&self) -> Option<u64> {
        self.state.lock().in_hand()
    }

    /// Takes note of what the store `found`; `before` that was asked, so many deliveries were
    /// in hand. What is `overdue` is claimed, unless the queue is at rest and another node
    /// attends to the output.
    pub(in crate::relay::deliver) fn compare(
        &self,
        found: &Backlog,
        before: Option<u64>,
        overdue: bool,
    ) -> Compared {
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
