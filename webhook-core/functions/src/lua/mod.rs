//! Functions written in Lua, on piccolo, a VM in safe Rust that can be stopped at any time.
//!
//! A source is parsed, rewritten and compiled once for each revision
//! (`compile`), on a thread with a large stack. A few threads run the programs;
//! each has its own VMs, one for each function that runs at the moment and some
//! idle ones, and gives its time to the accounts in turn, a slice of some
//! thousand instructions each. Between two slices the limits are looked at. A
//! script that waits for an answer holds no thread.
//!
//! Each call gets an environment of its own with its own copies of the library
//! tables, so that it can leave nothing behind.

pub mod bytes;
mod compile;
mod compiler;
mod modules;
mod options;
mod pool;
mod queue;
mod request;
mod stdlib;
mod turns;
mod vm;
mod wait;
mod worker;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use async_trait::async_trait;
use tokio::{runtime::Handle, sync::oneshot};
use webhook_core::{
    function::{Completion, FunctionError, FunctionRuntime, Invocation},
    model::Driver,
};

pub use self::options::{LuaOptions, LuaRuntimeBuilder};
use self::{
    compiler::Compiler,
    queue::{Job, Queue},
    worker::Shared,
};
use crate::modules::Outside;

/// What positions in error messages begin with: `function:3: …`.
const CHUNK: &str = "function";

/// Runs functions written in Lua.
///
/// Dropping it ends its threads; calls that run then fail as [`FunctionError::Busy`].
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use webhook_core::{function::FunctionRuntime, model::Driver};
/// use webhook_functions::lua::LuaRuntime;
///
/// let runtime = LuaRuntime::builder().threads(1).build()?;
/// assert!(runtime.check(Driver::Lua, "r:StopForwarding()").await.is_ok());
/// let error = runtime.check(Driver::Lua, "local x =").await.expect_err("not a statement");
/// assert!(error.to_string().starts_with("line 1: "), "{error}");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct LuaRuntime {
    compiler: Compiler,
    queue: Arc<Queue>,
}

impl LuaRuntime {
    /// Starts the threads of a runtime.
    ///
    /// # Errors
    /// When the system gives no threads.
    pub fn new(options: LuaOptions) -> std::io::Result<Self> {
        let threads = options.threads.max(1);
        let limits = Arc::new(options.limits);
        let queue = Arc::new(Queue::new(options.queued_calls, options.running_calls_per_account));
        let compiler = Compiler::start(limits.source_bytes, options.cached_programs)?;
        let runtime = Self { compiler, queue: Arc::clone(&queue) };
        let shared = Shared {
            queue,
            limits,
            clock: options.clock,
            outside: Outside { forwarder: options.forwarder, store: options.store, trial: None },
            running: options.running_calls.div_ceil(threads).max(1),
            idle: options.idle_vms.div_ceil(threads),
        };
        for index in 0..threads {
            let shared = shared.clone();
            std::thread::Builder::new()
                .name(format!("lua-{index}"))
                .stack_size(worker::STACK_BYTES)
                .spawn(move || worker::run(shared))?;
        }
        Ok(runtime)
    }

    /// A runtime with defaults for what is not set.
    pub fn builder() -> LuaRuntimeBuilder {
        LuaRuntimeBuilder::default()
    }
}

/// What a thread needs that calls [`check_source`].
pub const COMPILER_STACK_BYTES: usize = compile::STACK_BYTES;

/// Whether a source of at most `max_bytes` compiles, on the calling thread.
///
/// [`LuaRuntime`] does this on a thread of its own, because the compiler
/// recurses: the caller's stack must have [`COMPILER_STACK_BYTES`]. This is for
/// tools and fuzzers.
///
/// # Errors
/// The line and the reason, or that the source is too long.
pub fn check_source(source: &str, max_bytes: usize) -> Result<(), FunctionError> {
    compile::compile(source, max_bytes).map(drop)
}

/// The names of all that `r`, `cfg` and the modules have, for the reference.
#[cfg(all(test, feature = "js"))]
pub(crate) fn names() -> Vec<String> {
    let of_module = |(module, functions): &(&str, &[(&str, vm::call::Native)])| {
        functions.iter().map(|(name, _)| format!("{module}.{name}")).collect::<Vec<_>>()
    };
    let modules = modules::MODULES.iter().flat_map(of_module);
    request::names().into_iter().chain(modules).chain(["json.null".to_owned()]).collect()
}

impl Drop for LuaRuntime {
    fn drop(&mut self) {
        self.queue.close();
    }
}

#[async_trait]
impl FunctionRuntime for LuaRuntime {
    async fn check(&self, driver: Driver, source: &str) -> Result<(), FunctionError> {
        match driver {
            Driver::Lua => self.compiler.compile(Arc::from(source)).await.map(drop),
            other => Err(FunctionError::NoDriver(other)),
        }
    }

    async fn run(&self, invocation: Invocation) -> Completion {
        let started = Instant::now();
        let completion = self.run_once(invocation).await.unwrap_or_else(|error| Completion {
            result: Err(error),
            logs: Vec::new(),
            duration: Duration::ZERO,
        });
        Completion { duration: started.elapsed(), ..completion }
    }
}

impl LuaRuntime {
    async fn run_once(&self, invocation: Invocation) -> Result<Completion, FunctionError> {
        if invocation.driver != Driver::Lua {
            return Err(FunctionError::NoDriver(invocation.driver));
        }
        let program = self.compiler.program(&invocation).await?;
        let (reply, completion) = oneshot::channel();
        let handle = Handle::try_current().ok();
        let job = Job { invocation, program, handle, reply, queued_at: Instant::now() };
        self.queue.push(Box::new(job)).map_err(|_| FunctionError::Busy)?;
        completion.await.map_err(|_| FunctionError::Busy)
    }
}
