//! How a JavaScript runtime is set up.

use std::{num::NonZero, sync::Arc, thread};

use webhook_core::{
    Clock, SystemClock, forward::Forwarder, function::ScriptLimits, store::FunctionStore,
};

use super::JsRuntime;

/// The settings of a [`JsRuntime`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct JsOptions {
    /// What one call may use.
    pub limits: ScriptLimits,
    /// Calls that compute at a time: as many as cores, from 2 to 4.
    pub computing: usize,
    /// Calls that run at a time, those included that wait for an answer, with a thread each: 64.
    pub running_calls: usize,
    /// How many of them one account may have: 16.
    pub running_calls_per_account: usize,
    /// Calls that wait for their turn, 1 024; half of them may be of one account.
    /// Beyond that they end as [`FunctionError::Busy`](webhook_core::function::FunctionError::Busy).
    pub queued_calls: usize,
    /// Sends the requests of scripts, and refuses addresses; without one `http` fails.
    pub forwarder: Option<Arc<dyn Forwarder>>,
    /// Keeps what scripts remember between their calls; without one `kv` fails.
    pub store: Option<Arc<dyn FunctionStore>>,
    /// What `time` reads. The engine's own `Date` reads the system's clock.
    pub clock: Arc<dyn Clock>,
}

impl Default for JsOptions {
    fn default() -> Self {
        Self {
            limits: ScriptLimits::default(),
            computing: thread::available_parallelism().map_or(2, NonZero::get).clamp(2, 4),
            running_calls: 64,
            running_calls_per_account: 16,
            queued_calls: 1_024,
            forwarder: None,
            store: None,
            clock: Arc::new(SystemClock),
        }
    }
}

/// Sets up a [`JsRuntime`].
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct JsRuntimeBuilder {
    options: JsOptions,
}

impl JsRuntimeBuilder {
    /// What one call may use.
    pub fn limits(mut self, limits: ScriptLimits) -> Self {
        self.options.limits = limits;
        self
    }

    /// How many calls compute at a time. One account gets all but one of the
    /// turns, so with one turn accounts are not kept apart.
    pub fn computing(mut self, computing: usize) -> Self {
        self.options.computing = computing;
        self
    }

    /// How many calls run at a time, and how many of them for one account.
    pub fn running_calls(mut self, all: usize, per_account: usize) -> Self {
        self.options.running_calls = all;
        self.options.running_calls_per_account = per_account;
        self
    }

    /// How many calls wait for their turn.
    pub fn queued_calls(mut self, queued_calls: usize) -> Self {
        self.options.queued_calls = queued_calls;
        self
    }

    /// What sends the requests of scripts. Its guard is the one that refuses addresses.
    pub fn forwarder(mut self, forwarder: Arc<dyn Forwarder>) -> Self {
        self.options.forwarder = Some(forwarder);
        self
    }

    /// What keeps the values of `kv`.
    pub fn store(mut self, store: Arc<dyn FunctionStore>) -> Self {
        self.options.store = Some(store);
        self
    }

    /// What scripts take the time from.
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.options.clock = clock;
        self
    }

    /// Starts the runtime.
    ///
    /// # Errors
    /// When the system gives no threads.
    pub fn build(self) -> std::io::Result<JsRuntime> {
        JsRuntime::new(self.options)
    }
}
