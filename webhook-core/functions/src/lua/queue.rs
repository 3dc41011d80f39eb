//! Calls that wait for a thread: the accounts in turn, each with a cap on what runs.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use tokio::{
    runtime::Handle,
    sync::{Notify, oneshot},
};
use webhook_core::{
    AccountId,
    function::{Completion, Invocation},
};

use super::compile::Program;

/// A call on its way to a VM.
pub(super) struct Job {
    pub(super) invocation: Invocation,
    pub(super) program: Arc<Program>,
    pub(super) handle: Option<Handle>,
    pub(super) reply: oneshot::Sender<Completion>,
    pub(super) queued_at: Instant,
}

/// The calls that wait, shared by all threads.
#[derive(Debug)]
pub(super) struct Queue {
    state: Mutex<State>,
    changed: Notify,
    capacity: usize,
    running_per_account: usize,
}

#[derive(Debug, Default)]
struct State {
    lanes: HashMap<AccountId, Lane>,
    /// The accounts that have waiting calls, the next one first.
    order: VecDeque<AccountId>,
    waiting: usize,
    closed: bool,
}

#[derive(Default)]
struct Lane {
    waiting: VecDeque<Box<Job>>,
    running: usize,
}

impl std::fmt::Debug for Lane {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lane")
            .field("waiting", &self.waiting.len())
            .field("running", &self.running)
            .finish()
    }
}

impl Queue {
    pub(super) fn new(capacity: usize, running_per_account: usize) -> Self {
        Self { state: Mutex::default(), changed: Notify::new(), capacity, running_per_account }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing panics while it holds the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a call, unless the queue is full. One account may fill half of it.
    pub(super) fn push(&self, job: Box<Job>) -> Result<(), Box<Job>> {
        let mut state = self.state();
        let account = job.invocation.account_id;
        let own = state.lanes.get(&account).map_or(0, |lane| lane.waiting.len());
        if state.closed || state.waiting >= self.capacity || own >= self.capacity.div_ceil(2) {
            return Err(job);
        }
        let lane = state.lanes.entry(account).or_default();
        lane.waiting.push_back(job);
        if lane.waiting.len() == 1 {
            state.order.push_back(account);
        }
        state.waiting += 1;
        drop(state);
        self.changed.notify_one();
        Ok(())
    }

    /// The next call, when it may run; `None` when the queue is closed.
    pub(super) async fn next(&self) -> Option<Box<Job>> {
        loop {
            let changed = self.changed.notified();
            {
                let mut state = self.state();
                if state.closed {
                    return None;
                }
                if let Some(job) = state.take(self.running_per_account) {
                    let more = state.waiting > 0;
                    drop(state);
                    if more {
                        self.changed.notify_one();
                    }
                    return Some(job);
                }
            }
            changed.await;
        }
    }

    /// A call of this account has ended.
    pub(super) fn ended(&self, account: AccountId) {
        let mut state = self.state();
        if let Some(lane) = state.lanes.get_mut(&account) {
            lane.running = lane.running.saturating_sub(1);
            if lane.running == 0 && lane.waiting.is_empty() {
                state.lanes.remove(&account);
            }
        }
        let more = state.waiting > 0;
        drop(state);
        if more {
            self.changed.notify_one();
        }
    }

    /// Ends the threads, and lets nobody wait for them.
    pub(super) fn close(&self) {
        let mut state = self.state();
        state.closed = true;
        let lanes = std::mem::take(&mut state.lanes);
        state.order.clear();
        state.waiting = 0;
        drop(state);
        drop(lanes);
        self.changed.notify_waiters();
        // For a thread that is about to wait.
        self.changed.notify_one();
    }
}

impl State {
    fn take(&mut self, running_per_account: usize) -> Option<Box<Job>> {
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
}
