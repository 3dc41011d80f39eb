//! A thread that runs scripts.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::Duration,
};

use webhook_core::{
    Clock,
    function::{FunctionError, ScriptLimits},
};

use super::{
    call::{Call, Job, Task},
    library::Library,
    queue::Queue,
    turns::Turns,
    vm::{self, Vm},
};
use crate::modules::Outside;

/// What all threads have in common.
#[derive(Clone, Debug)]
pub(super) struct Shared {
    pub(super) queue: Arc<Queue>,
    pub(super) turns: Arc<Turns>,
    pub(super) limits: Arc<ScriptLimits>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) outside: Outside,
}

/// The stack of a thread: the engine's own bound, the parser's recursion and
/// what the host's functions need on top of it.
const STACK_BYTES: usize = 2 << 20;

/// How long a thread waits for a call before it ends.
const IDLE: Duration = Duration::from_secs(30);

impl Shared {
    /// Starts a thread that runs scripts.
    pub(super) fn start_thread(&self) -> std::io::Result<()> {
        let shared = self.clone();
        let thread = std::thread::Builder::new().name("js".to_owned()).stack_size(STACK_BYTES);
        thread.spawn(move || shared.run()).map(drop)
    }

    /// Runs scripts until the queue is closed or nothing was to do for a while.
    fn run(self) {
        // The engines that were made ahead, while nothing waits for them: one of each kind that the
        // thread was asked for.
        let mut ahead: [Option<Vm>; 4] = Default::default();
        let mut known = Known::default();
        while let Some(Job { task, call }) = self.queue.next(IDLE) {
            let running = Running { shared: &self, call: &call };
            if call.is_pointless() {
                continue;
            }
            let library = known.library(&task);
            match ahead[library as usize].take().map_or_else(|| self.make(library), Ok) {
                Ok(vm) => {
                    // An engine that has panicked is dropped in there as well.
                    let served = catch_unwind(AssertUnwindSafe(|| vm.serve(task, &call)));
                    if served.is_err() {
                        call.answer(Err(broken()), Vec::new());
                    }
                }
                Err(error) => call.answer(Err(error), Vec::new()),
            }
            drop(running);
            ahead[library as usize] = self.make(library).ok();
        }
    }

    fn make(&self, library: Library) -> Result<Vm, FunctionError> {
        let made = catch_unwind(AssertUnwindSafe(|| Vm::new(self, library)));
        let made = made.unwrap_or_else(|_| Err(broken()));
        made.inspect_err(|error| tracing::error!(%error, "no engine for JavaScript"))
    }
}

/// What the sources need that the thread ran last, the latest of them at the end.
#[derive(Debug, Default)]
struct Known(Vec<(Arc<str>, Library)>);

impl Known {
    /// How many are kept.
    const SOURCES: usize = 16;

    fn library(&mut self, task: &Task) -> Library {
        let Task::Run(invocation, _) = task else { return Library::Whole };
        let source = &invocation.source;
        // The memory of a text that is kept is no other text's.
        if let Some((_, library)) = self.0.iter().rev().find(|(own, _)| Arc::ptr_eq(own, source)) {
            return *library;
        }
        let library = Library::of(source, vm::library_names());
        if self.0.len() == Self::SOURCES {
            self.0.remove(0);
        }
        self.0.push((Arc::clone(source), library));
        library
    }
}

fn broken() -> FunctionError {
    FunctionError::Script("internal error of the JavaScript engine".to_owned())
}

/// Counts a call as ended, whatever happened to it.
struct Running<'a> {
    shared: &'a Shared,
    call: &'a Arc<Call>,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let Shared { queue, turns, .. } = self.shared;
        self.call.end_turn(turns);
        queue.ended(self.call);
        if self.call.is_overdue() {
            turns.unblock(self.call.account);
        }
    }
}
