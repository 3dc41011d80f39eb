//! Which node attempts the deliveries of an output whose throttle holds over several nodes.
//!
//! The owner of a queue does; the others leave what they store to it and ask from time to time
//! whether it still is. Everything waits in the store, also what the owner receives itself, so
//! that a claim brings what any node has stored. An owner that finds nothing more leaves.

use std::{mem, time::Duration};

use super::{Next, OutputQueue, State};
use crate::{
    clock::Timestamp,
    relay::deliver::{claim::STORE_PAUSE, lease::Term},
    store::OwnedQueue,
};

/// How often an owner says what it has started, and how often others ask.
const ASK_AGAIN: Duration = Duration::from_millis(500);

/// What is known here of who owns the queue.
#[derive(Debug, Default)]
pub(super) struct Ownership {
    /// The term of the lease in which this node owns it.
    term: Option<Term>,
    /// This node may own it: the answer to a question was lost.
    is_unsure: bool,
    /// A worker asks the store at the moment.
    is_asking: bool,
    /// When the store is asked again.
    ask_at: Option<Timestamp>,
    /// The store was asked for deliveries since the last one left.
    has_looked: bool,
}

impl Ownership {
    /// Whether there is something to give up.
    pub(super) fn is_held(&self) -> bool {
        self.term.is_some() || self.is_unsure
    }

    /// A delivery leaves: the store may have more afterwards.
    pub(super) fn goes_on(&mut self) {
        self.has_looked = false;
    }
}

impl OutputQueue {
    /// What the owner has started lately; none for who is not the owner.
    pub(crate) fn started(&self, term: Option<Term>) -> Option<Vec<Timestamp>> {
        let state = self.state.lock();
        state.owns(term).then(|| state.pace.starts())
    }

    /// What was started lately.
    pub(crate) fn starts(&self) -> Vec<Timestamp> {
        self.state.lock().pace.starts()
    }

    /// The store's answer to who owns the queue, if there was one, when it was asked in `term`.
    /// Answers how many more deliveries are known of than before.
    pub(crate) fn owned(&self, answer: Option<OwnedQueue>, term: Term, now: Timestamp) -> i64 {
        let mut state = self.state.lock();
        state.ownership.is_asking = false;
        state.ownership.is_unsure = answer.is_none();
        let Some(OwnedQueue { is_owner, started, was_lost, pending }) = answer else {
            state.ownership.term = None;
            state.stored = true;
            state.ownership.ask_at = Some(now + STORE_PAUSE);
            return 0;
        };
        state.ownership.ask_at = Some(now + ASK_AGAIN);
        if !is_owner {
            state.ownership.term = None;
            state.stored |= pending > 0;
        } else if state.ownership.term != Some(term) {
            if let Some((rate, _)) = state.limits.rate {
                state.pace.resume(started, rate, was_lost, now);
            }
            state.ownership.term = Some(term);
            state.ownership.has_looked = false;
            state.stored = true;
        }
        state.recount(pending)
    }

    /// The queue was given up, or the store did not answer. Answers how many more deliveries are
    /// known of than before.
    pub(crate) fn left(&self, is_left: bool, now: Timestamp) -> i64 {
        let mut state = self.state.lock();
        state.ownership.term = None;
        state.ownership.is_asking = false;
        state.ownership.is_unsure = !is_left;
        if !is_left {
            state.wait_for_retry(now + STORE_PAUSE);
        }
        // What waits for a retry is not known.
        if is_left && state.retry_at.is_none() { state.recount(0) } else { 0 }
    }

    /// Whether this node owns it, as far as is known.
    pub(crate) fn is_owned(&self) -> bool {
        self.state.lock().ownership.is_held()
    }
}

impl State {
    fn owns(&self, term: Option<Term>) -> bool {
        term.is_some() && self.ownership.term == term
    }

    /// Whether what is in memory may be another node's.
    pub(super) fn is_anothers(&self, term: Option<Term>, now: Timestamp) -> bool {
        // The oldest delivery of a paused output tries whoever finds it.
        let is_paused = self.limits.paused_until.is_some_and(|until| until > now);
        self.limits.is_owned && !is_paused && !self.owns(term)
    }

    /// What to do before something of an owned queue may leave, if anything.
    pub(super) fn own(&mut self, term: Option<Term>, now: Timestamp) -> Option<Next> {
        if !self.limits.is_owned {
            return None;
        }
        let waits_until = self.ownership.ask_at.filter(|ask_at| *ask_at > now);
        match (self.owns(term), waits_until) {
            (true, None) if !self.ownership.is_asking => {}
            (true, _) => return None,
            (false, _) if !self.stored && self.queue.is_empty() => return None,
            (false, _) if self.ownership.is_asking => return Some(Next::Idle),
            (false, Some(ask_at)) => return Some(Next::Until(ask_at)),
            // What is out was taken before: the last one asks.
            (false, None) if self.workers > 1 => return Some(Next::Idle),
            // It is stored again, or that is found while the store is asked.
            (false, None) => self.stored = false,
        }
        self.ownership.is_asking = true;
        Some(Next::Own)
    }

    /// What follows when nothing is known to wait, but for a retry and what may be lost: an owner
    /// looks for what others have stored, and leaves when there is nothing.
    pub(super) fn rest(&mut self) -> Next {
        // A claim that found nothing says nothing of what this node may hold without knowing.
        let again_at = [self.retry_at, self.lost_at].into_iter().flatten().min();
        // Such deliveries are given back before the queue.
        if !self.ownership.is_held() || self.lost_at.is_some() {
            return again_at.map_or(Next::Idle, Next::Until);
        }
        if !self.ownership.has_looked && self.ownership.term.is_some() {
            self.ownership.has_looked = true;
            return self.claim();
        }
        if self.ownership.is_asking || self.claiming || self.workers > 1 || self.promised > 0 {
            return Next::Idle;
        }
        self.ownership.term = None;
        self.ownership.ask_at = None;
        self.ownership.is_asking = true;
        Next::Leave
    }

    /// So many deliveries wait in the store or are out. Answers how many more these are than
    /// were known of.
    fn recount(&mut self, in_store: u64) -> i64 {
        let in_hand = self.queue.len() + self.workers.saturating_sub(1);
        let being_stored = self.promised + self.storing;
        let counted = in_store.max(in_hand as u64) + being_stored as u64;
        let counted = match in_store {
            OwnedQueue::MAX_COUNTED => counted.max(self.pending),
            _ => counted,
        };
        let known = mem::replace(&mut self.pending, counted);
        let signed = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        signed(self.pending) - signed(known)
    }
}
