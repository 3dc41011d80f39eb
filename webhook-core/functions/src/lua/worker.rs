//! A thread that runs scripts.

use std::{
    cell::RefCell,
    future::poll_fn,
    panic::{AssertUnwindSafe, catch_unwind},
    rc::Rc,
    sync::Arc,
    task::Poll,
};

use tokio::{sync::Semaphore, task::LocalSet};
use webhook_core::{
    Clock,
    function::{Completion, FunctionError, ScriptLimits},
};

use super::{
    pool::{Key, Pool},
    queue::{Job, Queue},
    turns::Turns,
    vm::{Surroundings, Vm},
};
use crate::modules::Outside;

/// What all threads have in common.
#[derive(Clone, Debug)]
pub(super) struct Shared {
    pub(super) queue: Arc<Queue>,
    pub(super) limits: Arc<ScriptLimits>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) outside: Outside,
    /// Calls that a thread runs at a time, those included that wait for an answer.
    pub(super) running: usize,
    /// Idle VMs that a thread keeps.
    pub(super) idle: usize,
}

/// What a thread has for itself.
struct Thread {
    shared: Shared,
    pool: RefCell<Pool>,
    turns: Turns,
}

/// The stack of a thread: piccolo's VM and collector do not recurse, host functions hardly do.
pub(super) const STACK_BYTES: usize = 16 << 20;

/// Runs scripts until the queue is closed.
pub(super) fn run(shared: Shared) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            tracing::error!(%error, "a thread for Lua functions cannot start");
            return;
        }
    };
    let permits = Arc::new(Semaphore::new(shared.running));
    let pool = RefCell::new(Pool::new(shared.idle));
    let thread = Rc::new(Thread { shared, pool, turns: Turns::default() });
    let local = LocalSet::new();
    local.block_on(&runtime, async {
        while let Ok(permit) = Arc::clone(&permits).acquire_owned().await {
            let Some(job) = thread.shared.queue.next().await else { return };
            let alone = permits.available_permits() + 1 == thread.shared.running;
            let thread = Rc::clone(&thread);
            // Boxed, or the whole of it would be copied whenever it changes hands.
            let mut call = Box::pin(async move {
                thread.serve(*job).await;
                drop(permit);
            });
            // Most calls end in their first slice: one that is alone on the thread
            // needs no task then. What does not end goes on beside the others.
            let ended = alone && poll_fn(|cx| Poll::Ready(call.as_mut().poll(cx).is_ready())).await;
            if !ended {
                tokio::task::spawn_local(call);
            }
        }
    });
}

impl Thread {
    async fn serve(&self, job: Job) {
        let Job { invocation, program, handle, mut reply, queued_at } = job;
        // Counts the call as ended even if it is dropped.
        let _running = Running { queue: &self.shared.queue, account: invocation.account_id };
        if reply.is_closed() {
            return;
        }
        let completion = |result, logs| Completion { result, logs, duration: queued_at.elapsed() };
        let limits = &self.shared.limits;
        if queued_at.elapsed() > limits.total_time {
            let _ = reply.send(completion(Err(FunctionError::Busy), Vec::new()));
            return;
        }
        let key = Key::of(&invocation);
        let idle = self.pool.borrow_mut().take(&key).filter(|vm| vm.holds(&program));
        let vm = match idle {
            Some(vm) => Some(vm),
            None => catch_unwind(AssertUnwindSafe(|| {
                Vm::new(Arc::clone(limits), Arc::clone(&self.shared.clock), program)
            }))
            .ok(),
        };
        let Some(mut vm) = vm else {
            let error = FunctionError::Script("internal error of the Lua VM".to_owned());
            let _ = reply.send(completion(Err(error), Vec::new()));
            return;
        };
        let around = Surroundings {
            outside: self.shared.outside.of_call(invocation.trial.clone()),
            handle,
            turns: &self.turns,
            reply: &mut reply,
        };
        let ended = vm.run(invocation, around).await;
        if ended.reusable {
            self.pool.borrow_mut().put(key, vm);
        } else {
            // Even its end may panic after a panic.
            let _ = catch_unwind(AssertUnwindSafe(|| drop(vm)));
        }
        let _ = reply.send(completion(ended.result, ended.logs));
    }
}

struct Running<'a> {
    queue: &'a Queue,
    account: webhook_core::AccountId,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.queue.ended(self.account);
    }
}
