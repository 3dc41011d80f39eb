//! Running user-defined functions.

pub(crate) mod decoded;
#[cfg(feature = "admin")]
pub mod generate;
pub(crate) mod kv;
pub mod record;
mod trial;

pub use crate::model::ScriptResponse;
pub use trial::Trial;

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    sync::Arc,
    time::Duration,
};

use async_trait::async_trait;

use crate::{
    id::{AccountId, FunctionId},
    model::{Checks, Driver, Request},
};

/// Runs functions in a sandbox.
///
/// Implementations never panic, never block the calling thread, and end every
/// call within its [`ScriptLimits`].
///
/// ```
/// use std::time::Duration;
/// use webhook_core::{
///     function::{Completion, FunctionError, FunctionRuntime, Invocation},
///     model::Driver,
/// };
///
/// /// Knows no language.
/// #[derive(Debug)]
/// struct None;
///
/// #[async_trait::async_trait]
/// impl FunctionRuntime for None {
///     async fn check(&self, driver: Driver, _source: &str) -> Result<(), FunctionError> {
///         Err(FunctionError::NoDriver(driver))
///     }
///
///     async fn run(&self, invocation: Invocation) -> Completion {
///         let result = Err(FunctionError::NoDriver(invocation.driver));
///         Completion { result, logs: Vec::new(), duration: Duration::ZERO }
///     }
/// }
/// ```
#[async_trait]
pub trait FunctionRuntime: Send + Sync + fmt::Debug {
    /// Whether `source` compiles.
    async fn check(&self, driver: Driver, source: &str) -> Result<(), FunctionError>;

    /// Runs a function once.
    ///
    /// The captured output comes back in both cases: beside the error a script
    /// may have printed what explains it.
    async fn run(&self, invocation: Invocation) -> Completion;
}

/// One call of a function.
#[derive(Clone)]
pub struct Invocation {
    /// Whose function: accounts never share a VM.
    pub account_id: AccountId,
    /// Which function.
    pub function_id: FunctionId,
    /// Grows with each change of the source; compiled code is cached by
    /// `(function_id, revision)`.
    pub revision: u64,
    /// The language.
    pub driver: Driver,
    /// The source text.
    pub source: Arc<str>,
    /// What `cfg` reads.
    pub config: Arc<BTreeMap<String, String>>,
    /// What `r.Metadata` reads.
    pub metadata: BTreeMap<String, String>,
    /// What `r.Verified`, `r.EventType` and `r.DuplicateOf` read.
    pub checks: Checks,
    /// The request, which the script may change.
    pub request: Request,
    /// The destination's answer, for a response function.
    pub response: Option<ScriptResponse>,
    /// Where it is only tried, what has been kept so far: it sends nothing and stores nothing.
    pub trial: Option<Arc<Trial>>,
}

/// What `cfg` reads is secret: it is left out.
impl fmt::Debug for Invocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Invocation")
            .field("account_id", &self.account_id)
            .field("function_id", &self.function_id)
            .field("driver", &self.driver)
            .field("request", &self.request)
            .finish_non_exhaustive()
    }
}

/// How a call ended.
#[derive(Debug)]
pub struct Completion {
    /// What the script left, or why it failed.
    pub result: Result<ScriptOutcome, FunctionError>,
    /// What it printed, a line each, cut at [`ScriptLimits::log_bytes`].
    pub logs: Vec<String>,
    /// How long the call took, waiting included.
    pub duration: Duration,
}

/// What a script left when it returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptOutcome {
    /// The request, changed or not.
    pub request: Request,
    /// The response, when there was one or the script set any part of one.
    pub response: Option<ScriptResponse>,
    /// Whether `response` was changed by the script.
    pub response_modified: bool,
    /// Whether the script called `StopForwarding`.
    pub stop_forwarding: bool,
}

impl ScriptOutcome {
    /// Whether the script changed nothing of this request and did not stop it.
    pub(crate) fn is_unmodified(&self, before: &Request) -> bool {
        !self.stop_forwarding && !self.response_modified && self.request == *before
    }
}

/// Why a function did not run to its end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FunctionError {
    /// The source does not compile.
    #[error("line {line}: {reason}")]
    Compile {
        /// The line, from 1.
        line: u32,
        /// What is wrong there.
        reason: String,
    },
    /// The script raised an error; the message carries the line.
    #[error("{0}")]
    Script(String),
    /// The script ran into a limit, which the message names.
    #[error("limit exceeded: {0}")]
    Limit(String),
    /// All VMs are busy and the queue is full; another try may succeed.
    #[error("too many functions are running")]
    Busy,
    /// It changed nothing, where [`FunctionMust::Change`](crate::model::FunctionMust) counts.
    #[error("it changed nothing and did not stop the webhook, and function_must is change")]
    Unmodified,
    /// No runtime for this language is built in.
    #[error("the driver {0} is not available on this server")]
    NoDriver(Driver),
}

impl FunctionError {
    /// Whether another try could end differently.
    #[must_use]
    pub const fn is_retryable(&self) -> bool {
        matches!(self, Self::Busy)
    }
}

/// What one call of a function may use. The operator of a server sets each by an option.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ScriptLimits {
    /// The length of the source, 64 KB.
    pub source_bytes: usize,
    /// Everything, waiting included, 5 s.
    pub total_time: Duration,
    /// Computing, 1 s.
    pub compute_time: Duration,
    /// VM instructions, 50 million.
    pub fuel: u64,
    /// Memory, 32 MB.
    pub memory_bytes: usize,
    /// One string, 8 MB.
    pub string_bytes: usize,
    /// The body that a script leaves, 3 MB.
    pub body_bytes: usize,
    /// Steps of one pattern match, 1 million.
    pub pattern_steps: u64,
    /// Values of one `unpack`, 8 192.
    pub unpacked_values: usize,
    /// Captured output, 64 KB.
    pub log_bytes: usize,
    /// Calls of `http`, 10.
    pub http_calls: usize,
    /// The answer to one of them, 1 MB.
    pub http_response_bytes: usize,
    /// Calls of `kv`, 20.
    pub kv_calls: usize,
    /// Keys that a function has, 1 000.
    pub kv_keys: usize,
    /// The value of one of them, 8 KB.
    pub kv_value_bytes: usize,
}

impl Default for ScriptLimits {
    fn default() -> Self {
        Self {
            source_bytes: 64 << 10,
            total_time: Duration::from_secs(5),
            compute_time: Duration::from_secs(1),
            fuel: 50_000_000,
            memory_bytes: 32 << 20,
            string_bytes: 8 << 20,
            body_bytes: 3 << 20,
            pattern_steps: 1_000_000,
            unpacked_values: 8_192,
            log_bytes: 64 << 10,
            http_calls: 10,
            http_response_bytes: 1 << 20,
            kv_calls: 20,
            kv_keys: 1_000,
            kv_value_bytes: 8 << 10,
        }
    }
}

/// Gives each function to the runtime of its language. A language that has
/// none is refused as [`FunctionError::NoDriver`].
///
/// ```
/// use std::sync::Arc;
/// use webhook_core::{
///     function::{Drivers, FunctionRuntime},
///     model::Driver,
/// };
///
/// // For instance the `LuaRuntime` of `webhook-functions`.
/// async fn example(lua: Arc<dyn FunctionRuntime>) {
///     let runtime = Drivers::new().with(Driver::Lua, lua);
///     assert!(runtime.check(Driver::Lua, "r:StopForwarding()").await.is_ok());
///     assert!(runtime.check(Driver::Wasm, "").await.is_err());
/// }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Drivers {
    by_driver: HashMap<Driver, Arc<dyn FunctionRuntime>>,
}

impl Drivers {
    /// No language yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Runs functions of this language with `runtime`.
    #[must_use]
    pub fn with(mut self, driver: Driver, runtime: Arc<dyn FunctionRuntime>) -> Self {
        self.by_driver.insert(driver, runtime);
        self
    }
}

#[async_trait]
impl FunctionRuntime for Drivers {
    async fn check(&self, driver: Driver, source: &str) -> Result<(), FunctionError> {
        match self.by_driver.get(&driver) {
            Some(runtime) => runtime.check(driver, source).await,
            None => Err(FunctionError::NoDriver(driver)),
        }
    }

    async fn run(&self, invocation: Invocation) -> Completion {
        match self.by_driver.get(&invocation.driver) {
            Some(runtime) => runtime.run(invocation).await,
            None => Completion {
                result: Err(FunctionError::NoDriver(invocation.driver)),
                logs: Vec::new(),
                duration: Duration::ZERO,
            },
        }
    }
}
