//! A thread that runs scripts.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::{Duration, Instant},
};

use webhook_core::{
    Clock, FunctionId,
    function::{FunctionError, ScriptLimits},
};

use super::{
    call::{Call, Job, Task},
    keep,
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
    /// How many engines were made.
    #[cfg(test)]
    pub(super) made: Arc<std::sync::atomic::AtomicUsize>,
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
            let source = known.of(&task);
            let (library, keeps) = (source.library, source.keeps());
            let kept = source.engine.take().filter(Kept::is_young);
            let since = kept.as_ref().map_or_else(Instant::now, |kept| kept.since);
            let made = kept.map(|kept| kept.vm).or_else(|| ahead[library as usize].take());
            match made.map_or_else(|| self.make(library), Ok) {
                Ok(vm) => {
                    // An engine that has panicked is dropped in there as well.
                    let served = catch_unwind(AssertUnwindSafe(|| vm.serve(task, &call, keeps)));
                    match served {
                        Ok(left) => source.engine = left.map(|vm| Kept { vm, since }),
                        Err(_) => call.answer(Err(broken()), Vec::new()),
                    }
                }
                Err(error) => call.answer(Err(error), Vec::new()),
            }
            drop(running);
            known.drop_engines();
            if ahead[library as usize].is_none() {
                ahead[library as usize] = self.make(library).ok();
            }
        }
    }

    fn make(&self, library: Library) -> Result<Vm, FunctionError> {
        #[cfg(test)]
        self.made.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let made = catch_unwind(AssertUnwindSafe(|| Vm::new(self, library)));
        let made = made.unwrap_or_else(|_| Err(broken()));
        made.inspect_err(|error| tracing::error!(%error, "no engine for JavaScript"))
    }
}

/// The sources that the thread ran last, the latest of them at the end.
#[derive(Default)]
struct Known(Vec<Source>);

/// What a thread knows about a source.
struct Source {
    /// There is none for a text that is only checked. The memory of a text that is kept is no other
    /// text's.
    function: Option<(FunctionId, Arc<str>)>,
    library: Library,
    may_keep: bool,
    calls: u32,
    engine: Option<Kept>,
}

/// An engine that has served calls of one source.
struct Kept {
    vm: Vm,
    since: Instant,
}

impl Known {
    /// How many are known.
    const SOURCES: usize = 16;

    /// The source of a task, as the latest.
    fn of(&mut self, task: &Task) -> &mut Source {
        let function = match task {
            Task::Run(invocation, _) => {
                Some((invocation.function_id, Arc::clone(&invocation.source)))
            }
            Task::Check(_) => None,
        };
        let known = self.0.iter().position(|known| known.is(function.as_ref()));
        let source = match known {
            Some(place) => self.0.remove(place),
            None => Source::new(function),
        };
        if self.0.len() == Self::SOURCES {
            self.0.remove(0);
        }
        self.0.push(source);
        let last = self.0.len() - 1;
        &mut self.0[last]
    }

    /// Drops the engines that are too old, and the oldest of too many.
    fn drop_engines(&mut self) {
        let mut engines = 0;
        for source in self.0.iter_mut().rev() {
            source.engine.take_if(|kept| {
                engines += 1;
                engines > keep::ENGINES || !kept.is_young()
            });
        }
    }
}

impl Kept {
    fn is_young(&self) -> bool {
        self.since.elapsed() <= keep::AGE
    }
}

impl Source {
    fn new(function: Option<(FunctionId, Arc<str>)>) -> Self {
        let source = function.as_ref().map(|(_, source)| &**source);
        let library =
            source.map_or(Library::Whole, |source| Library::of(source, vm::library_names()));
        let may_keep = source.is_some_and(|source| keep::words_of(source).is_some());
        Self { function, library, may_keep, calls: 0, engine: None }
    }

    fn is(&self, function: Option<&(FunctionId, Arc<str>)>) -> bool {
        match (&self.function, function) {
            (Some((own, known)), Some((id, source))) => own == id && Arc::ptr_eq(known, source),
            (None, None) => true,
            _ => false,
        }
    }

    /// Whether the engine of the next call is kept: a source that runs once leaves none.
    fn keeps(&mut self) -> bool {
        self.calls = self.calls.saturating_add(1);
        self.may_keep && self.calls > 1 && !self.calls.is_multiple_of(keep::CALLS)
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
