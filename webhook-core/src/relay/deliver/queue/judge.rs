//! What attempts tell of the destination.

use super::{Next, OutputQueue, State};
use crate::{clock::Timestamp, model::CircuitState, relay::deliver::circuit::Judged};

impl OutputQueue {
    /// A delivery's turn has ended, and tells this of the destination. Answers since when it
    /// fails.
    pub(crate) fn judge(&self, judged: Judged, now: Timestamp) -> Option<Timestamp> {
        let mut state = self.state.lock();
        let failing = match state.limits.has_health {
            true => state.failing.judged(judged, now),
            false => None,
        };
        let Some(breaker) = state.limits.circuit else {
            match state.slow.judged(judged, now) {
                Some(true) => {
                    tracing::info!(output = %self.output_id, "it fails each time: attempts are seldom");
                }
                Some(false) => {
                    tracing::info!(output = %self.output_id, "it works again: attempts go on");
                }
                None => {}
            }
            return failing;
        };
        match state.circuit.ended(&breaker, judged, now) {
            Some(true) => {
                tracing::info!(output = %self.output_id, "most attempts fail: the circuit is open")
            }
            Some(false) => {
                tracing::info!(output = %self.output_id, "it works again: the circuit is closed")
            }
            None => {}
        }
        failing
    }

    /// Since when its attempts are seldom, because its destination fails each time.
    pub(crate) fn slow_since(&self) -> Option<Timestamp> {
        self.state.lock().slow.since()
    }

    /// How its circuit stands, and when it is open no more.
    pub(crate) fn circuit(&self, now: Timestamp) -> (CircuitState, Option<Timestamp>) {
        self.state.lock().circuit.stands(now)
    }
}

impl State {
    /// The step of an output whose attempts are seldom, if that is another one than usual. The
    /// oldest of its deliveries, which may be in the store, is attempted first.
    pub(super) fn slowed(&mut self, now: Timestamp) -> Option<Next> {
        self.slow.since()?;
        if self.stored
            && !self.limits.strict
            && !self.claiming
            && let Some(most) = self.slow.claims(now)
        {
            return Some(self.claim_some(most));
        }
        let until = self.slow.waits_until(now)?;
        // New deliveries start no worker until then.
        self.parked = true;
        Some(Next::Until(self.before_deadline(until, now)))
    }

    /// The step of an output that is paused, if it is time to try the oldest of its deliveries.
    pub(super) fn probe(&mut self, now: Timestamp) -> Option<Next> {
        if !self.limits.probes || self.pending == 0 {
            return None;
        }
        if !self.failing.is_tried() {
            if !self.failing.try_again(now) {
                return None;
            }
            if self.queue.is_empty() {
                return Some(self.claim());
            }
        }
        let delivery = self.queue.pop_front();
        // Without one the claim is under way, or found none.
        if delivery.is_some() || !self.claiming {
            self.failing.tried();
        }
        let delivery = delivery?;
        self.circuit = Default::default();
        Some(Next::Attempt(delivery))
    }
}
