//! Calls that wait for a thread: the accounts in turn, each with a cap on what runs.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use webhook_core::{AccountId, function::FunctionError};

use super::{
    call::{Call, Job},
    turns::Turns,
};

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
    lanes: HashMap<AccountId, Lane>,
    /// The accounts that have waiting calls, the next one first.
    order: VecDeque<AccountId>,
    waiting: usize,
    running: Vec<(Instant, Arc<Call>)>,
    threads: usize,
    /// Threads that wait for a call, or will in a moment.
    idle_threads: usize,
    closed: bool,
}

#[derive(Debug, Default)]
struct Lane {
    waiting: VecDeque<Job>,
    running: usize,
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
        let own = state.lanes.get(&account).map_or(0, |lane| lane.waiting.len());
        if state.closed || state.waiting >= bounds.waiting || own >= bounds.waiting.div_ceil(2) {
            return Added::No;
        }
        let lane = state.lanes.entry(account).or_default();
        lane.waiting.push_back(job);
        let runnable = lane.running < bounds.running_per_account;
        if lane.waiting.len() == 1 {
            state.order.push_back(account);
        }
        state.waiting += 1;
        let needs =
            runnable && state.idle_threads < state.waiting && state.threads < bounds.threads;
        state.threads += usize::from(needs);
        state.idle_threads += usize::from(needs);
        drop(state);
        self.work.notify_one();
        self.watch.notify_one();
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
            if let Some(job) = state.take(self.bounds.running_per_account) {
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
        if let Some(lane) = state.lanes.get_mut(&call.account) {
            lane.running = lane.running.saturating_sub(1);
            if lane.running == 0 && lane.waiting.is_empty() {
                state.lanes.remove(&call.account);
            }
        }
        let more = state.waiting > 0;
        drop(state);
        if more {
            self.work.notify_one();
        }
    }

    /// Ends the threads, and lets nobody wait for them.
    pub(super) fn close(&self) {
        let mut state = self.state();
        state.closed = true;
        state.order.clear();
        state.waiting = 0;
        // Dropping a job tells its caller.
        let lanes = std::mem::take(&mut state.lanes);
        drop(state);
        drop(lanes);
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
            if state.waiting == 0 && state.running.iter().all(|(_, call)| call.is_overdue()) {
                state = self.watch.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let waited = self.watch.wait_timeout(state, TICK);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            for (started, call) in &state.running {
                if !call.is_overdue() && started.elapsed() > total + GRACE {
                    call.abandon(turns, late.clone());
                }
            }
            for job in state.stale(total) {
                job.call.answer(Err(FunctionError::Busy), Vec::new());
            }
        }
    }
}

impl State {
    fn take(&mut self, running_per_account: usize) -> Option<Job> {
        for _ in 0..self.order.len() {
            let account = self.order.pop_front()?;
            let Some(lane) = self.lanes.get_mut(&account) else { continue };
            if lane.running >= running_per_account {
                self.order.push_back(account);
                continue;
            }
            let job = lane.waiting.pop_front();
            if !lane.waiting.is_empty() {
                self.order.push_back(account);
            }
            if let Some(job) = job {
                lane.running += 1;
                self.waiting -= 1;
                return Some(job);
            }
        }
        None
    }

    /// Takes out the calls that have waited longer than `total`.
    fn stale(&mut self, total: Duration) -> Vec<Job> {
        let mut stale = Vec::new();
        for lane in self.lanes.values_mut() {
            while lane.waiting.front().is_some_and(|job| job.call.age() > total) {
                stale.extend(lane.waiting.pop_front());
            }
        }
        self.waiting -= stale.len();
        self.lanes.retain(|_, lane| lane.running > 0 || !lane.waiting.is_empty());
        let lanes = &self.lanes;
        self.order.retain(|id| lanes.get(id).is_some_and(|lane| !lane.waiting.is_empty()));
        stale
    }
}
