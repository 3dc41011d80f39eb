//! The queue of one output: what may leave next, and when.
//!
//! A queue decides and does nothing: it has no clock and does no I/O. Workers ask it
//! for the [`Next`] step; whoever adds something learns whether to start one.

mod compare;
mod expiry;
mod judge;
mod limits;
mod owner;
mod reservation;

use std::{collections::VecDeque, sync::Arc, time::Duration};

use self::owner::Ownership;
pub(crate) use self::reservation::Reservation;
pub(super) use self::{limits::QueueLimits, reservation::Slot};
use super::{circuit::Circuit, health::Failing, lease::Term, pace::Pace, slow::Slow};
use crate::{
    clock::Timestamp, error::Error, id::OutputId, lock::Lock, relay::byte_semaphore::BytePermit,
    store::Pending,
};

/// How often a queue that is paused looks whether it still is: another node may have
/// resumed the output.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

/// How many deliveries one claim asks for at most.
const MOST_CLAIMED: usize = 256;

/// A delivery in memory, with its permit for the bytes of its webhook.
#[derive(Debug)]
pub(crate) struct QueuedDelivery {
    pub(crate) pending: Pending,
    _bytes: Option<Arc<BytePermit>>,
    /// In which this node took it.
    pub(super) term: Term,
}

impl QueuedDelivery {
    pub(crate) fn new(pending: Pending, bytes: Option<Arc<BytePermit>>) -> Self {
        Self { pending, _bytes: bytes, term: Term::FIRST }
    }

    pub(super) fn in_term(self, term: Term) -> Self {
        Self { term, ..self }
    }
}

/// What a worker does next.
#[derive(Debug)]
pub(super) enum Next {
    Attempt(QueuedDelivery),
    /// It has waited past its deadline.
    Expire(QueuedDelivery),
    /// Ask the store for so many, then ask again.
    Claim(usize),
    /// Ask the store whether this node owns the queue, or say that it still does.
    Own,
    /// Say that it does not own it any more.
    Leave,
    /// Free in the store what this node holds of the output: none of it is in hand.
    Recover,
    /// The worker ends; another starts at this moment.
    Until(Timestamp),
    /// The worker ends.
    Idle,
}

/// The queue of one output.
#[derive(Debug)]
pub(crate) struct OutputQueue {
    pub(super) output_id: OutputId,
    state: Lock<State>,
}

#[derive(Debug)]
struct State {
    limits: QueueLimits,
    /// The deliveries in memory.
    queue: VecDeque<QueuedDelivery>,
    /// Slots in `queue` that are promised to deliveries which are being stored.
    promised: usize,
    /// Deliveries that are being stored without such a slot.
    storing: usize,
    /// The queue was full, so that deliveries went to the store: newer ones
    /// follow them there until a claim finds no more.
    overflown: bool,
    /// The store has deliveries that no node holds and that are due.
    stored: bool,
    /// When the first delivery that waits in the store for its retry is due.
    retry_at: Option<Timestamp>,
    /// The deadline of a delivery for which a timer is set, or was.
    watched_deadline: Option<Timestamp>,
    /// A pause lasts, and a timer will wake the queue.
    parked: bool,
    /// A worker asks the store at the moment.
    claiming: bool,
    /// From when on to look for deliveries that this node holds in the store and has in no
    /// queue: a call to the store failed and may have had its effect.
    lost_at: Option<Timestamp>,
    /// Workers that have not ended.
    workers: usize,
    /// Workers that were started and have not asked for their first step.
    seeking: usize,
    /// Deliveries that have not ended, wherever they wait.
    pending: u64,
    /// Whether the destination works, where `limits` has a circuit breaker.
    circuit: Circuit,
    /// Whether it has failed so often that attempts are seldom, where `limits` has no circuit
    /// breaker.
    slow: Slow,
    /// Since when it fails, where `limits` has health.
    failing: Failing,
    /// The latest starts, where `limits` has a rate.
    pace: Pace,
    /// Which node attempts what there is, where the throttle holds over several.
    ownership: Ownership,
}

impl OutputQueue {
    pub(super) fn new(output_id: OutputId, limits: QueueLimits) -> Self {
        let state = State {
            limits,
            queue: VecDeque::new(),
            promised: 0,
            storing: 0,
            overflown: false,
            stored: false,
            retry_at: None,
            watched_deadline: None,
            parked: false,
            claiming: false,
            lost_at: None,
            workers: 0,
            seeking: 0,
            pending: 0,
            circuit: Circuit::default(),
            slow: Slow::default(),
            failing: Failing::default(),
            pace: Pace::default(),
            ownership: Ownership::default(),
        };
        Self { output_id, state: Lock::new(state) }
    }

    /// Whether another delivery may wait here.
    pub(super) fn has_room(&self, limits: &QueueLimits) -> Result<(), Error> {
        limits.admit(self.state.lock().pending)
    }

    /// Knows of `pending` deliveries in the store, the first of them due at `due_at`.
    pub(super) fn found(&self, pending: u64, due_at: Timestamp) {
        let mut state = self.state.lock();
        state.pending += pending;
        state.wait_for_retry(due_at);
    }

    /// Counts in a worker if there is work for one more in the queue. It must then ask for
    /// its first step, and for the [`next`](Self::next) until it is told to end.
    pub(super) fn start_worker(&self) -> bool {
        let mut state = self.state.lock();
        let free = state.workers < state.limits.concurrency && !state.parked;
        let in_store = state.stored
            || state.retry_at.is_some()
            || state.lost_at.is_some()
            || state.ownership.is_held();
        let work = state.queue.len() + usize::from(in_store && !state.claiming);
        let useful = state.seeking < work;
        if free && useful {
            state.workers += 1;
            state.seeking += 1;
        }
        free && useful
    }

    /// A worker begins to ask.
    pub(super) fn worker_started(&self) {
        self.state.lock().seeking -= 1;
    }

    /// A worker ends out of turn and puts back the delivery that it was started with.
    pub(super) fn worker_ended(&self, put_back: Option<QueuedDelivery>) {
        self.state.lock().workers -= 1;
        put_back.into_iter().for_each(|delivery| self.put_back(delivery));
    }

    /// Puts a delivery back that was the first.
    pub(super) fn put_back(&self, delivery: QueuedDelivery) {
        self.state.lock().queue.push_front(delivery);
    }

    /// What the calling worker does next, in a lasting term of the lease or in none. With
    /// `Until` and `Idle` it has been counted out already.
    pub(super) fn next(
        &self,
        limits: QueueLimits,
        now: Timestamp,
        term: Option<Term>,
        stopping: bool,
    ) -> Next {
        let mut state = self.state.lock();
        state.limit(limits);
        state.lose_what_lapsed(term, now);
        let next = if stopping { Next::Idle } else { state.next(term, now) };
        if matches!(next, Next::Until(_) | Next::Idle) {
            state.workers -= 1;
        }
        next
    }

    /// Takes in what a claim brought.
    pub(super) fn claimed(
        &self,
        claimed: Vec<QueuedDelivery>,
        next_due_at: Option<Timestamp>,
        now: Timestamp,
    ) {
        let mut state = self.state.lock();
        state.claiming = false;
        if next_due_at.is_some_and(|due| due <= now) {
            state.stored = true;
        } else {
            // Deliveries that are stored from now on are announced by their reservations.
            state.overflown = false;
            state.retry_at = next_due_at;
        }
        for delivery in claimed {
            state.insert(delivery);
        }
    }

    /// A claim failed; it is tried again at `again_at`. It may have been made: the
    /// connection can end between the commit and the answer.
    pub(super) fn claim_failed(&self, again_at: Timestamp) {
        self.state.lock().claiming = false;
        self.lost(again_at);
    }

    /// An attempt failed and the delivery waits in the store until `due_at`. Answers whether this
    /// is the first retry that is due, for which the caller sets a timer: the last worker of the
    /// queue waits for the next one.
    pub(super) fn retry_at(&self, due_at: Timestamp) -> bool {
        let mut state = self.state.lock();
        state.wait_for_retry(due_at);
        state.retry_at == Some(due_at)
    }

    /// A delivery has ended. Answers how many more deliveries are known of than before: what
    /// other nodes stored may not have been counted yet.
    pub(super) fn ended(&self) -> i64 {
        let mut state = self.state.lock();
        let is_counted = state.pending > (state.promised + state.storing) as u64;
        state.pending -= u64::from(is_counted);
        -i64::from(is_counted)
    }
}

impl State {
    /// Takes the limits of now. Of the circuit and the bound of a slow output one decides.
    fn limit(&mut self, limits: QueueLimits) {
        match limits.circuit {
            Some(_) => self.slow = Slow::default(),
            None => self.circuit = Circuit::default(),
        }
        self.limits = limits;
    }

    fn wait_for_retry(&mut self, due_at: Timestamp) {
        self.retry_at = Some(self.retry_at.map_or(due_at, |known| known.min(due_at)));
    }

    /// Whether a delivery need not wait for anything or anybody.
    fn may_start_at_once(&self) -> bool {
        let QueueLimits { strict, rate, paused_until, circuit, .. } = &self.limits;
        let unpaced = !strict && rate.is_none() && paused_until.is_none() && circuit.is_none();
        let unpaced = unpaced && self.slow.since().is_none();
        unpaced && self.queue.is_empty() && self.workers < self.limits.concurrency
    }

    /// In order of receipt where that counts, else at the end.
    fn insert(&mut self, delivery: QueuedDelivery) {
        let place = if self.limits.strict || self.slow.since().is_some() {
            self.queue.partition_point(|other| other.pending.id < delivery.pending.id)
        } else {
            self.queue.len()
        };
        self.queue.insert(place, delivery);
    }

    fn next(&mut self, term: Option<Term>, now: Timestamp) -> Next {
        if let Some(until) = self.limits.paused_until.filter(|until| *until > now) {
            (self.parked, self.slow) = (true, Slow::default());
            return self.probe(now).unwrap_or(Next::Until(until.min(now + LOOK_AGAIN)));
        }
        self.failing.goes_on(self.limits.has_health);
        if let Some(late) = self.pop_expired(now) {
            return Next::Expire(late);
        }
        if self.retry_at.is_some_and(|due| due <= now) {
            self.retry_at = None;
            self.stored = true;
        }
        if self.lost_at.is_some_and(|lost_at| lost_at <= now) {
            return self.recover(now);
        }
        if let Some(first) = self.own(term, now) {
            return first;
        }
        if let Some(first) = self.slowed(now) {
            return first;
        }
        // What was lost sight of may be older than all else, and keeps others from the queue.
        if self.limits.strict
            && let Some(lost_at) = self.lost_at
        {
            return Next::Until(self.before_deadline(lost_at, now));
        }
        // In strict order what waits in the store may be older than the queue.
        if self.limits.strict {
            if self.stored {
                return self.claim();
            }
            if let Some(due) = self.retry_at {
                return Next::Until(self.before_deadline(due, now));
            }
            if let Some(due) = self.queue.front().map(|delivery| delivery.pending.due_at)
                && due > now
            {
                return Next::Until(self.before_deadline(due, now));
            }
        }
        if self.queue.is_empty() {
            return if self.stored { self.claim() } else { self.rest() };
        }
        if let Some(again_at) = self.circuit.waits_until(now) {
            return Next::Until(self.before_deadline(again_at, now));
        }
        let created_at = self.queue.front().map(|head| head.pending.created_at);
        if let Some((rate, interval)) = created_at.and_then(|at| self.limits.rate_at(at))
            && let Err(slot) = self.pace.start(rate, interval, now)
        {
            return Next::Until(self.before_deadline(slot, now));
        }
        self.circuit.start(now);
        self.slow.start(now);
        self.ownership.goes_on();
        self.queue.pop_front().map_or(Next::Idle, Next::Attempt)
    }

    fn claim(&mut self) -> Next {
        self.claim_some(if self.failing.is_tried() { 1 } else { usize::MAX })
    }

    fn claim_some(&mut self, most: usize) -> Next {
        if self.claiming {
            return Next::Idle;
        }
        let room = self.limits.in_memory.saturating_sub(self.queue.len() + self.promised);
        self.stored = false;
        self.claiming = true;
        Next::Claim(room.clamp(1, most.min(MOST_CLAIMED)))
    }
}

#[cfg(test)]
mod tests;
