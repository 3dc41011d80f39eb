//! A call on its way, as its thread and the watchdog see it.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::{runtime::Handle, sync::oneshot};
use webhook_core::{
    AccountId,
    function::{FunctionError, Invocation, ScriptOutcome},
};

use super::turns::{Refused, Turns};

/// What a call is to do.
#[derive(Debug)]
pub(super) enum Task {
    /// Run a function. The handle is of the runtime on which its requests are sent.
    Run(Box<Invocation>, Option<Handle>),
    /// See whether a source compiles.
    Check(String),
}

/// A call that waits for a thread.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) task: Task,
    pub(super) call: Arc<Call>,
}

/// How a call ended. A check leaves nothing.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) result: Result<Option<ScriptOutcome>, FunctionError>,
    pub(super) logs: Vec<String>,
}

/// The state of a call that more than one thread looks at.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) account: AccountId,
    queued_at: Instant,
    reply: Mutex<Option<oneshot::Sender<Ended>>>,
    /// Whether it has the right to compute.
    computes: AtomicBool,
    /// Whether it was answered for because it did not end in time.
    overdue: AtomicBool,
}

impl Call {
    pub(super) fn new(account: AccountId) -> (Arc<Self>, oneshot::Receiver<Ended>) {
        let (reply, completion) = oneshot::channel();
        let call = Self {
            account,
            queued_at: Instant::now(),
            reply: Mutex::new(Some(reply)),
            computes: AtomicBool::new(false),
            overdue: AtomicBool::new(false),
        };
        (Arc::new(call), completion)
    }

    fn reply(&self) -> std::sync::MutexGuard<'_, Option<oneshot::Sender<Ended>>> {
        self.reply.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers, unless it was answered before.
    pub(super) fn answer(
        &self,
        result: Result<Option<ScriptOutcome>, FunctionError>,
        logs: Vec<String>,
    ) {
        if let Some(reply) = self.reply().take() {
            // Nobody may wait any more.
            let _ = reply.send(Ended { result, logs });
        }
    }

    /// Whether nobody waits for the answer.
    pub(super) fn is_pointless(&self) -> bool {
        self.reply().as_ref().is_none_or(oneshot::Sender::is_closed)
    }

    pub(super) fn is_overdue(&self) -> bool {
        self.overdue.load(Ordering::Acquire)
    }

    /// Waits for the right to compute.
    pub(super) fn begin_turn(&self, turns: &Turns, deadline: Instant) -> Result<(), Refused> {
        turns.take(self.account, deadline)?;
        self.computes.store(true, Ordering::Release);
        Ok(())
    }

    /// Gives the right to compute back, unless it was taken away.
    pub(super) fn end_turn(&self, turns: &Turns) {
        if self.computes.swap(false, Ordering::AcqRel) {
            turns.give_back(self.account);
        }
    }

    /// Gives up on the call: its thread is stuck inside of the engine.
    pub(super) fn abandon(&self, turns: &Turns, error: FunctionError) {
        self.overdue.store(true, Ordering::Release);
        turns.block(self.account);
        self.end_turn(turns);
        self.answer(Err(error), Vec::new());
    }

    /// How long it has waited.
    pub(super) fn age(&self) -> Duration {
        self.queued_at.elapsed()
    }
}
