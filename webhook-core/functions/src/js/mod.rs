//! Functions written in JavaScript, on QuickJS.
//!
//! # How calls run
//!
//! A source is the body of a function, so that what it declares is new in each
//! call. The first call of a source has an engine of its own (most of what a short
//! call computes; 100 KB), made ahead and dropped afterwards. From the second call
//! on a thread keeps the engine for the same source, unless that names `this` or
//! `prototype`: after each call the engine is compared with what it was before,
//! and one that differs is dropped, as is one after an error, a limit, a number of
//! calls or some time. So nothing is left behind for another call.
//! A source that names little of the language's library gets an
//! engine without most of it, which takes less than half as much. The prelude is
//! compiled once in a process, and the parts of it that a script may not need are
//! read when it names them.
//!
//! A call also has a thread of its own from a bounded pool, so that `http` and
//! `time.sleep` can wait like any function does. A few calls compute at a time;
//! who waits for an answer gives its turn back, and the accounts take turns, in
//! slices of some milliseconds.
//!
//! # How calls end
//!
//! The engine asks whether to go on after every 10 000 calls and turns of
//! loops (that is also what fuel counts), and has its own bound of memory and
//! of the stack. Its own functions (`sort`, `repeat`, `JSON`, …) do not ask,
//! so a prelude makes them pay for their time in turns of a loop and refuses
//! sizes at which one step would take too long. What cannot be bounded is not
//! there: `eval` and `Function`, `Proxy`, BigInt, shared memory and `Atomics`.
//!
//! Operators on large values (`{...o}` with a hundred thousand fields, in a
//! loop) stay: ten thousand of them can take minutes. A watchdog answers for
//! such a call at its deadline. Its thread is lost until the engine asks
//! again, and until then the account gets no other turn; because one account
//! never has the last turn, it takes one core at most and keeps nobody waiting.

mod call;
mod keep;
mod library;
mod limit;
mod names;
mod options;
mod place;
mod queue;
mod reach;
mod seen;
mod source;
mod styles;
#[cfg(test)]
mod tests;
mod tokens;
mod turns;
mod vm;
mod worker;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use async_trait::async_trait;
use tokio::runtime::Handle;
use webhook_core::{
    AccountId,
    function::{Completion, FunctionError, FunctionRuntime, Invocation, ScriptOutcome},
    model::Driver,
};

pub use self::options::{JsOptions, JsRuntimeBuilder};
use self::{
    call::{Call, Ended, Job, Task},
    limit::Limit,
    queue::{Added, Bounds, Queue},
    turns::Turns,
    worker::Shared,
};
use crate::modules::Outside;

/// Runs functions written in JavaScript.
///
/// Dropping it ends its threads; calls that wait then fail as [`FunctionError::Busy`].
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use webhook_core::{function::FunctionRuntime, model::Driver};
/// use webhook_functions::js::JsRuntime;
///
/// let runtime = JsRuntime::builder().build()?;
/// assert!(runtime.check(Driver::Js, "r.stopForwarding()").await.is_ok());
/// let error = runtime.check(Driver::Js, "let x =").await.expect_err("not a statement");
/// assert!(error.to_string().starts_with("line 1: "), "{error}");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct JsRuntime {
    shared: Shared,
}

impl JsRuntime {
    /// Starts a runtime. Its threads start when there are calls.
    ///
    /// # Errors
    /// When the system gives no threads.
    pub fn new(options: JsOptions) -> std::io::Result<Self> {
        let limits = Arc::new(options.limits);
        let computing = options.computing.max(1);
        let queue = Arc::new(Queue::new(Bounds {
            waiting: options.queued_calls,
            running_per_account: options.running_calls_per_account.max(1),
            threads: options.running_calls.max(1),
        }));
        let turns = Arc::new(Turns::new(computing, computing.saturating_sub(1).max(1)));
        let (watched, taken, total) = (Arc::clone(&queue), Arc::clone(&turns), limits.total_time);
        let late = Limit::TotalTime.error(&limits);
        std::thread::Builder::new()
            .name("js-watchdog".to_owned())
            .spawn(move || watched.watch(&taken, total, &late))?;
        let JsOptions { clock, forwarder, store, .. } = options;
        let outside = Outside { forwarder, store, trial: None };
        let shared = Shared {
            queue,
            turns,
            limits,
            clock,
            outside,
            #[cfg(test)]
            made: Arc::default(),
        };
        Ok(Self { shared })
    }

    /// A runtime with defaults for what is not set.
    pub fn builder() -> JsRuntimeBuilder {
        JsRuntimeBuilder::default()
    }

    async fn call(&self, account: AccountId, task: Task) -> Ended {
        let (call, ended) = Call::new(account);
        let busy = || Ended { result: Err(FunctionError::Busy), logs: Vec::new() };
        let added = self.shared.queue.push(Job { task, call });
        let started = match added {
            Added::No => return busy(),
            Added::NeedsThread => self.shared.start_thread().inspect_err(|error| {
                tracing::warn!(%error, "no thread for a JavaScript function");
            }),
            Added::Yes => Ok(()),
        };
        if started.is_err() && !self.shared.queue.thread_failed() {
            return busy();
        }
        ended.await.unwrap_or_else(|_| busy())
    }
}

impl Drop for JsRuntime {
    fn drop(&mut self) {
        self.shared.queue.close();
    }
}

#[async_trait]
impl FunctionRuntime for JsRuntime {
    async fn check(&self, driver: Driver, source: &str) -> Result<(), FunctionError> {
        if driver != Driver::Js {
            return Err(FunctionError::NoDriver(driver));
        }
        source::inspect(source, self.shared.limits.source_bytes)?;
        source::uses_webhook(source)?;
        seen::refuse(source)?;
        // Nobody's function yet: a lane of its own.
        let account = AccountId::from_uuid(uuid::Uuid::nil());
        self.call(account, Task::Check(source.to_owned())).await.result.map(drop)
    }

    async fn run(&self, invocation: Invocation) -> Completion {
        let started = Instant::now();
        let ended = self.run_once(invocation).await;
        let (result, logs) = ended.unwrap_or_else(|error| (Err(error), Vec::new()));
        let duration: Duration = started.elapsed();
        Completion { result, logs, duration }
    }
}

impl JsRuntime {
    async fn run_once(
        &self,
        invocation: Invocation,
    ) -> Result<(Result<ScriptOutcome, FunctionError>, Vec<String>), FunctionError> {
        if invocation.driver != Driver::Js {
            return Err(FunctionError::NoDriver(invocation.driver));
        }
        source::inspect(&invocation.source, self.shared.limits.source_bytes)?;
        let account = invocation.account_id;
        let task = Task::Run(Box::new(invocation), Handle::try_current().ok());
        let Ended { result, logs } = self.call(account, task).await;
        // A run that ended well always leaves an outcome.
        Ok((result.and_then(|left| left.ok_or(FunctionError::Busy)), logs))
    }
}
