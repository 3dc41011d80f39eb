//! Calls that wait for a thread: the accounts in turn, each with a cap on what runs.

use std::{
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use webhook_core::function::FunctionError;

use super::{
    call::{Call, Job},
    turns::Turns,
};
use crate::scheduler::ByAccount;

/// How many calls may wait and run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// Calls that wait; one account may fill half of it.
    pub(super) waiting: usize,
    pub(super) running_per_account: usize,
    pub(super) threads: usize,
}

/// The calls that wait and run, shared by all threads.
#[derive(Debug)]
pub(super) struct Queue {
    state: Mutex<State>,
    /// For threads that wait for a call.
    work: Condvar,
    /// For the watchdog, which sleeps while there is no call.
    watch: Condvar,
    bounds: Bounds,
}

#[derive(Debug, Default)]
struct State {
    calls: ByAccount<Job>,
    running: Vec<(Instant, Arc<Call>)>,
    threads: usize,
    /// Threads that wait for a call, or will in a moment.
    idle_threads: usize,
    /// Whether the watchdog looks at the calls by itself: nothing has to wake it then.
    watched: bool,
    closed: bool,
}

/// What became of a call that was to be added.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Added {
    /// A thread will see it.
    Yes,
    /// It waits, and a thread more may be started for it.
    NeedsThread,
    /// The queue is full.
    No,
}

impl Queue {
    pub(super) fn new(bounds: Bounds) -> Self {
        let (work, watch) = (Condvar::new(), Condvar::new());
        Self { state: Mutex::default(), work, watch, bounds }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing panics while it holds the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a call. [`Added::NeedsThread`] counts the thread as started.
    pub(super) fn push(&self, job: Job) -> Added {
        let mut state = self.state();
        let (account, bounds) = (job.call.account, self.bounds);
        if state.closed || !state.calls.has_room(account, bounds.waiting) {
            return Added::No;
        }
        let runnable = state.calls.push(account, job) < bounds.running_per_account;
        let needs = runnable
            && state.idle_threads < state.calls.waiting()
            && state.threads < bounds.threads;
        state.threads += usize::from(needs);
        state.idle_threads += usize::from(needs);
        let watched = state.watched;
        drop(state);
        self.work.notify_one();
        if !watched {
            self.watch.notify_one();
        }
        if needs { Added::NeedsThread } else { Added::Yes }
    }

    /// A thread could not be started; `false` when there is none at all.
    pub(super) fn thread_failed(&self) -> bool {
        let mut state = self.state();
        state.threads = state.threads.saturating_sub(1);
        state.idle_threads = state.idle_threads.saturating_sub(1);
        state.threads > 0
    }

    /// The next call that may run; `None` when the thread is to end, because
    /// the queue is closed or there was nothing to do for the time of `idle`.
    pub(super) fn next(&self, idle: Duration) -> Option<Job> {
        let mut state = self.state();
        let until = Instant::now() + idle;
        loop {
            if let Some((_, job)) = state.calls.take(self.bounds.running_per_account) {
                state.running.push((Instant::now(), Arc::clone(&job.call)));
                state.idle_threads = state.idle_threads.saturating_sub(1);
                return Some(job);
            }
            let left = until.saturating_duration_since(Instant::now());
            if state.closed || left.is_zero() {
                state.threads = state.threads.saturating_sub(1);
                state.idle_threads = state.idle_threads.saturating_sub(1);
                return None;
            }
            let woken = self.work.wait_timeout(state, left);
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// A call has ended; its thread will ask for the next one.
    pub(super) fn ended(&self, call: &Arc<Call>) {
        let mut state = self.state();
        state.idle_threads += 1;
        state.running.retain(|(_, other)| !Arc::ptr_eq(call, other));
        state.calls.ended(call.account);
        let more = state.calls.waiting() > 0;
        drop(state);
        if more {
            self.work.notify_one();
        }
    }

    /// Ends the threads, and lets nobody wait for them.
    pub(super) fn close(&self) {
        let mut state = self.state();
        state.closed = true;
        // Dropping a job tells its caller.
        let calls = std::mem::take(&mut state.calls);
        drop(state);
        drop(calls);
        self.work.notify_all();
        self.watch.notify_all();
    }

    /// Answers for calls that are past their time until the queue is closed:
    /// those that wait are told that all are busy, those that run are given up.
    pub(super) fn watch(&self, turns: &Turns, total: Duration, late: &FunctionError) {
        /// What a call has for ending by itself after its deadline.
        const GRACE: Duration = Duration::from_millis(200);
        const TICK: Duration = Duration::from_millis(50);
        let mut state = self.state();
        while !state.closed {
            if state.calls.waiting() == 0 && state.running.iter().all(|(_, call)| call.is_overdue())
            {
                state.watched = false;
                state = self.watch.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            state.watched = true;
            let waited = self.watch.wait_timeout(state, TICK);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            for (started, call) in &state.running {
                if !call.is_overdue() && started.elapsed() > total + GRACE {
                    call.abandon(turns, late.clone());
                }
            }
            for job in state.calls.take_stale(|job| job.call.age() > total) {
                job.call.answer(Err(FunctionError::Busy), Vec::new());
            }
        }
    }
}
