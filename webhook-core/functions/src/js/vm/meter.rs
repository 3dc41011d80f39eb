//! What a call has used, looked at while it computes.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    sync::Arc,
    time::{Duration, Instant},
};

use webhook_core::function::{FunctionError, ScriptLimits};

use crate::js::{
    call::Call,
    limit::Limit,
    turns::{Refused, Turns},
};

/// Calls and turns of loops between two looks of the engine at the limits.
const STEPS: u64 = 10_000;

/// How long a call computes while another waits for its turn.
const SLICE: Duration = Duration::from_millis(5);

/// Measures one call after the other.
#[derive(Debug)]
pub(super) struct Meter {
    limits: Arc<ScriptLimits>,
    turns: Arc<Turns>,
    call: RefCell<Option<Arc<Call>>>,
    deadline: Cell<Instant>,
    /// Since when it computes, without what `computed` holds.
    since: Cell<Instant>,
    computed: Cell<Duration>,
    steps: Cell<u64>,
    /// Steps of the match that runs.
    pattern: Cell<Option<u64>>,
    stopped: RefCell<Option<FunctionError>>,
}

impl Meter {
    pub(super) fn new(limits: Arc<ScriptLimits>, turns: Arc<Turns>) -> Rc<Self> {
        let now = Instant::now();
        Rc::new(Self {
            limits,
            turns,
            call: RefCell::default(),
            deadline: Cell::new(now),
            since: Cell::new(now),
            computed: Cell::new(Duration::ZERO),
            steps: Cell::new(0),
            pattern: Cell::new(None),
            stopped: RefCell::default(),
        })
    }

    /// Takes in a call and waits for its first turn.
    pub(super) fn begin(&self, call: &Arc<Call>) -> Result<(), FunctionError> {
        self.deadline.set(Instant::now() + self.limits.total_time);
        self.computed.set(Duration::ZERO);
        self.steps.set(0);
        self.pattern.set(None);
        *self.stopped.borrow_mut() = None;
        *self.call.borrow_mut() = Some(Arc::clone(call));
        self.resume();
        self.stopped.borrow().clone().map_or(Ok(()), Err)
    }

    /// When the call must have ended.
    pub(super) fn deadline(&self) -> Instant {
        self.deadline.get()
    }

    /// When it has computed for as long as it may, if it does not wait meanwhile.
    pub(super) fn compute_deadline(&self) -> Instant {
        let left = self.limits.compute_time.saturating_sub(self.computed.get());
        (self.since.get() + left).min(self.deadline.get())
    }

    /// Why the call was stopped, if it was.
    pub(super) fn stopped(&self) -> Option<FunctionError> {
        self.stopped.borrow().clone()
    }

    /// Ends the call. The first reason is the cause.
    pub(super) fn stop(&self, error: FunctionError) {
        self.stopped.borrow_mut().get_or_insert(error);
    }

    fn exceed(&self, limit: Limit) {
        self.stop(limit.error(&self.limits));
    }

    /// Whether the script must end; the engine asks after every [`STEPS`].
    pub(super) fn must_stop(&self) -> bool {
        self.steps.set(self.steps.get() + STEPS);
        if self.steps.get() > self.limits.fuel {
            self.exceed(Limit::Fuel);
        }
        if let Some(steps) = self.pattern.get() {
            self.pattern.set(Some(steps + STEPS));
            if steps + STEPS > self.limits.pattern_steps {
                self.exceed(Limit::PatternSteps);
            }
        }
        self.is_late()
    }

    /// Whether the time is over; gives others a turn if it is not.
    pub(super) fn is_late(&self) -> bool {
        let now = Instant::now();
        let slice = now.saturating_duration_since(self.since.get());
        if now >= self.deadline.get() {
            self.exceed(Limit::TotalTime);
        } else if self.computed.get() + slice > self.limits.compute_time {
            self.exceed(Limit::ComputeTime);
        } else if self.call.borrow().as_ref().is_some_and(|call| call.is_pointless()) {
            self.stop(FunctionError::Busy);
        } else if slice > SLICE && self.turns.contended() {
            self.pause();
            self.resume();
        }
        self.stopped.borrow().is_some()
    }

    /// Counts the steps of one match from here.
    pub(super) fn begin_pattern(&self) {
        self.pattern.set(Some(0));
    }

    pub(super) fn end_pattern(&self) {
        self.pattern.set(None);
    }

    /// The call waits from here on, or has ended: others may compute.
    pub(super) fn pause(&self) {
        let now = Instant::now();
        let slice = now.saturating_duration_since(self.since.get());
        self.computed.set(self.computed.get() + slice);
        self.since.set(now);
        if let Some(call) = &*self.call.borrow() {
            call.end_turn(&self.turns);
        }
    }

    /// Waits until the call may compute again, or stops it.
    pub(super) fn resume(&self) {
        if let Some(call) = &*self.call.borrow() {
            match call.begin_turn(&self.turns, self.deadline.get()) {
                Ok(()) => {}
                Err(Refused::Late) => self.exceed(Limit::TotalTime),
                Err(Refused::Overdue) => self.stop(FunctionError::Busy),
            }
        }
        self.since.set(Instant::now());
    }
}
