//! Calls that wait for a thread: the accounts in turn, each with a cap on what runs.

use std::{
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
use crate::scheduler::ByAccount;

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
    calls: ByAccount<Box<Job>>,
    closed: bool,
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
        if state.closed || !state.calls.has_room(account, self.capacity) {
            return Err(job);
        }
        state.calls.push(account, job);
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
                if let Some((_, job)) = state.calls.take(self.running_per_account) {
                    let more = state.calls.waiting() > 0;
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
        state.calls.ended(account);
        let more = state.calls.waiting() > 0;
        drop(state);
        if more {
            self.changed.notify_one();
        }
    }

    /// Ends the threads, and lets nobody wait for them.
    pub(super) fn close(&self) {
        let mut state = self.state();
        state.closed = true;
        let calls = std::mem::take(&mut state.calls);
        drop(state);
        drop(calls);
        self.changed.notify_waiters();
        // For a thread that is about to wait.
        self.changed.notify_one();
    }
}
