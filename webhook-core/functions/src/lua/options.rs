//! How a Lua runtime is set up.

use std::{num::NonZero, sync::Arc, thread};

use webhook_core::{
    Clock, SystemClock, forward::Forwarder, function::ScriptLimits, store::FunctionStore,
};

use super::LuaRuntime;

/// The settings of a [`LuaRuntime`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LuaOptions {
    /// What one call may use.
    pub limits: ScriptLimits,
    /// Threads that run scripts: as many as cores, at most 4.
    pub threads: usize,
    /// Sends the requests of scripts, and refuses addresses; without one `http` fails.
    pub forwarder: Option<Arc<dyn Forwarder>>,
    /// Keeps what scripts remember between their calls; without one `kv` fails.
    pub store: Option<Arc<dyn FunctionStore>>,
    /// What scripts take the time from.
    pub clock: Arc<dyn Clock>,
    /// Calls that run at a time, those included that wait for an answer: 256.
    pub running_calls: usize,
    /// How many of them one account may have: 32.
    pub running_calls_per_account: usize,
    /// Calls that wait for their turn, 1 024; half of them may be of one account.
    /// Beyond that they end as [`FunctionError::Busy`](webhook_core::function::FunctionError::Busy).
    pub queued_calls: usize,
    /// VMs kept for functions that are not running, 20 to 80 KB each: 1 000.
    pub idle_vms: usize,
    /// Compiled programs kept, 2 000.
    pub cached_programs: usize,
}

impl Default for LuaOptions {
    fn default() -> Self {
        Self {
            limits: ScriptLimits::default(),
            threads: thread::available_parallelism().map_or(1, NonZero::get).min(4),
            forwarder: None,
            store: None,
            clock: Arc::new(SystemClock),
            running_calls: 256,
            running_calls_per_account: 32,
            queued_calls: 1_024,
            idle_vms: 1_000,
            cached_programs: 2_000,
        }
    }
}

/// Sets up a [`LuaRuntime`].
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct LuaRuntimeBuilder {
    options: LuaOptions,
}

impl LuaRuntimeBuilder {
    /// What one call may use.
    pub fn limits(mut self, limits: ScriptLimits) -> Self {
        self.options.limits = limits;
        self
    }

    /// How many threads run scripts.
    pub fn threads(mut self, threads: usize) -> Self {
        self.options.threads = threads;
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

    /// How many VMs are kept for functions that are not running.
    pub fn idle_vms(mut self, idle_vms: usize) -> Self {
        self.options.idle_vms = idle_vms;
        self
    }

    /// How many compiled programs are kept.
    pub fn cached_programs(mut self, cached_programs: usize) -> Self {
        self.options.cached_programs = cached_programs;
        self
    }

    /// Starts the runtime.
    ///
    /// # Errors
    /// When the system gives no threads.
    pub fn build(self) -> std::io::Result<LuaRuntime> {
        LuaRuntime::new(self.options)
    }
}
