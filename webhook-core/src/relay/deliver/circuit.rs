//! Whether a destination that fails is tried now or later.

use std::{collections::VecDeque, time::Duration};

use super::ending::{AttemptFailure, Ending};
use crate::{
    clock::Timestamp,
    destination::{Answer, FailureKind},
    model::{CircuitBreaker, CircuitState, OutputSpec, config::outcomes::OutcomeList},
};

/// How many of the latest attempts are remembered.
const REMEMBERED: usize = 1_000;
/// How long a try may take before another one is made.
const LONGEST_TRY: Duration = Duration::from_secs(300);

/// How an attempt ended, as far as the destination can be judged by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Judged {
    Works,
    Fails,
    /// No request was made.
    Nothing,
}

impl Judged {
    /// What a delivery's turn tells of the destination of the output `spec`.
    pub(super) fn of(ending: &Ending, spec: &OutputSpec) -> Self {
        match ending {
            Ending::Answered(Answer::Nack { .. }) | Ending::Unsuccessful(_) => Self::Fails,
            Ending::Answered(answer) => {
                let status = answer.status();
                let outcomes = spec.outcomes.set();
                let list = outcomes.zip(status).and_then(|(it, status)| it.list_of(status));
                match (list, status.map(|status| status.as_u16())) {
                    (Some(OutcomeList::Retry), _) | (None, Some(429 | 500..)) => Self::Fails,
                    _ => Self::Works,
                }
            }
            Ending::AnsweredInPart(..) => Self::Works,
            Ending::Unanswered(AttemptFailure::Send(error)) => match error.kind {
                FailureKind::Refused | FailureKind::Unsendable | FailureKind::Credentials => {
                    Self::Nothing
                }
                _ => Self::Fails,
            },
            _ => Self::Nothing,
        }
    }
}

/// The circuit breaker of one output. It closes when the destination works.
#[derive(Debug, Default)]
pub(super) struct Circuit {
    /// The attempts of the last window, and whether they failed.
    latest: VecDeque<(Timestamp, bool)>,
    state: State,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Closed,
    /// Nothing is attempted until then.
    Open { until: Timestamp, open_for: Duration },
    /// One attempt tries.
    Trying { since: Timestamp, open_for: Duration },
}

impl Circuit {
    /// When to ask again; none when an attempt may start.
    pub(super) fn waits_until(&self, now: Timestamp) -> Option<Timestamp> {
        match self.state {
            State::Open { until, .. } if now < until => Some(until),
            State::Trying { since, .. } if now < since + LONGEST_TRY => {
                Some(now + Duration::from_secs(1))
            }
            State::Closed | State::Open { .. } | State::Trying { .. } => None,
        }
    }

    /// How it stands, and when it is open no more.
    pub(super) fn stands(&self, now: Timestamp) -> (CircuitState, Option<Timestamp>) {
        match self.state {
            State::Closed => (CircuitState::Closed, None),
            State::Open { until, .. } if now < until => (CircuitState::Open, Some(until)),
            State::Open { .. } | State::Trying { .. } => (CircuitState::HalfOpen, None),
        }
    }

    /// An attempt starts that may.
    pub(super) fn start(&mut self, now: Timestamp) {
        if let State::Open { open_for, .. } | State::Trying { open_for, .. } = self.state {
            self.state = State::Trying { since: now, open_for };
        }
    }

    /// Notes how an attempt ended. Answers whether the circuit opened (`true`) or closed.
    pub(super) fn ended(
        &mut self,
        breaker: &CircuitBreaker,
        judged: Judged,
        now: Timestamp,
    ) -> Option<bool> {
        match (self.state, judged) {
            (State::Closed, Judged::Nothing) => None,
            (State::Closed, judged) => {
                self.note(breaker, judged == Judged::Fails, now);
                self.has_failed(breaker).then(|| self.open(breaker.open_for, now))
            }
            (_, Judged::Works) => {
                *self = Self::default();
                Some(false)
            }
            (State::Trying { open_for, .. }, Judged::Fails) => {
                self.open((open_for * 2).min(breaker.max_open_for), now);
                None
            }
            (State::Trying { open_for, .. }, Judged::Nothing) => {
                self.state = State::Open { until: now, open_for };
                None
            }
            // It had begun before the circuit opened.
            (State::Open { .. }, _) => None,
        }
    }

    /// Whether there is nothing to remember.
    pub(super) fn is_empty(&self) -> bool {
        self.latest.is_empty() && self.state == State::Closed
    }

    fn open(&mut self, open_for: Duration, now: Timestamp) -> bool {
        self.latest.clear();
        self.state = State::Open { until: now + open_for, open_for };
        true
    }

    fn note(&mut self, breaker: &CircuitBreaker, failed: bool, now: Timestamp) {
        let is_old = |at: &Timestamp| *at + breaker.window <= now;
        while self.latest.front().is_some_and(|(at, _)| is_old(at))
            || self.latest.len() >= REMEMBERED
        {
            self.latest.pop_front();
        }
        // While nothing fails nothing need be remembered.
        if failed || !self.latest.is_empty() {
            self.latest.push_back((now, failed));
        }
    }

    fn has_failed(&self, breaker: &CircuitBreaker) -> bool {
        let failed = self.latest.iter().filter(|(_, failed)| *failed).count();
        failed >= breaker.failures as usize
            && failed as f64 >= breaker.ratio * self.latest.len() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BREAKER: fn() -> CircuitBreaker = CircuitBreaker::default;

    fn at(secs: i64) -> Timestamp {
        Timestamp::from_secs(1_000 + secs)
    }

    fn start(circuit: &mut Circuit, now: Timestamp) -> Result<(), Timestamp> {
        circuit.waits_until(now).map_or(Ok(()), Err)?;
        circuit.start(now);
        Ok(())
    }

    fn opened() -> Circuit {
        let mut circuit = Circuit::default();
        for second in 0..19 {
            assert_eq!(circuit.ended(&BREAKER(), Judged::Fails, at(second)), None);
        }
        assert_eq!(circuit.ended(&BREAKER(), Judged::Fails, at(20)), Some(true));
        circuit
    }

    #[test]
    fn it_opens_tries_ever_more_seldom_and_closes() {
        let mut circuit = opened();
        assert_eq!(start(&mut circuit, at(49)), Err(at(50)));
        assert_eq!(circuit.stands(at(49)), (CircuitState::Open, Some(at(50))));
        assert_eq!(circuit.stands(at(50)), (CircuitState::HalfOpen, None));
        start(&mut circuit, at(50)).expect("a try");
        assert_eq!(start(&mut circuit, at(50)), Err(at(51)), "one at a time");
        assert_eq!(circuit.stands(at(50)), (CircuitState::HalfOpen, None));
        assert_eq!(circuit.ended(&BREAKER(), Judged::Fails, at(51)), None);
        assert_eq!(start(&mut circuit, at(60)), Err(at(111)));
        start(&mut circuit, at(111)).expect("a try");
        assert_eq!(circuit.ended(&BREAKER(), Judged::Nothing, at(112)), None);
        start(&mut circuit, at(112)).expect("no request was made");
        assert_eq!(circuit.ended(&BREAKER(), Judged::Works, at(113)), Some(false));
        assert_eq!(circuit.stands(at(113)), (CircuitState::Closed, None));
        assert!(circuit.is_empty() && start(&mut circuit, at(113)).is_ok());
    }

    #[test]
    fn a_day_costs_at_most_three_hundred_tries() {
        let (mut circuit, mut tries, mut now) = (opened(), 0, at(20));
        while now < at(24 * 3600) {
            match start(&mut circuit, now) {
                Ok(()) => {
                    tries += 1;
                    circuit.ended(&BREAKER(), Judged::Fails, now);
                }
                Err(later) => now = later,
            }
        }
        assert!(tries <= 300, "{tries}");
    }

    #[test]
    fn what_mostly_works_stays_closed() {
        let mut circuit = Circuit::default();
        for second in 0..1_000 {
            let judged = if second % 2 == 0 { Judged::Fails } else { Judged::Works };
            assert_eq!(circuit.ended(&BREAKER(), judged, at(second / 10)), None);
        }
        // Failures of long ago do not count.
        let mut circuit = Circuit::default();
        for second in 0..200 {
            assert_eq!(circuit.ended(&BREAKER(), Judged::Fails, at(second * 10)), None);
        }
    }
}
