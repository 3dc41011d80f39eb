//! Running a script in slices, inside its limits.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::{Duration, Instant},
};

use piccolo::{Fuel, StashedExecutor, Value};
use tokio::{runtime::Handle, sync::oneshot};
use webhook_core::function::{Completion, FunctionError, Invocation, ScriptOutcome};

use super::{Limit, Vm, host::Script, message};
use crate::{
    lua::{CHUNK, compile::taken_by_nobody, request, turns::Turns, wait},
    modules::{Outside, kv::Owner},
};

/// Instructions between two looks at the limits.
const SLICE_FUEL: i32 = 2_048;

/// What a call meets outside of its VM.
pub(crate) struct Surroundings<'a> {
    pub(crate) outside: Outside,
    /// The caller's runtime, which sends the requests of the script.
    pub(crate) handle: Option<Handle>,
    pub(crate) turns: &'a Turns,
    /// Closed when the caller has gone.
    pub(crate) reply: &'a mut oneshot::Sender<Completion>,
}

/// How a call ended.
pub(crate) struct Ended {
    pub(crate) result: Result<ScriptOutcome, FunctionError>,
    pub(crate) logs: Vec<String>,
    /// Whether the VM can serve another call.
    pub(crate) reusable: bool,
}

/// Why a script stopped before its end.
enum Stop {
    Limit(Limit),
    Script(String),
    /// The VM is in an unknown state.
    Panic,
    Gone,
}

struct Slice {
    done: bool,
    fuel: u64,
}

impl Vm {
    /// Runs the script once.
    pub(crate) async fn run(
        &mut self,
        invocation: Invocation,
        mut around: Surroundings<'_>,
    ) -> Ended {
        let started = Instant::now();
        let account = invocation.account_id;
        let script = Script {
            request: Some(invocation.request),
            response: invocation.response,
            config: invocation.config,
            metadata: invocation.metadata,
            checks: invocation.checks,
            owner: Some(Owner { account_id: account, function_id: invocation.function_id }),
            ..Script::default()
        };
        let executor = catch_unwind(AssertUnwindSafe(|| self.start(script)));
        let stop = match executor {
            Ok(executor) => {
                let stop = self.drive(&executor, account, started, &mut around).await;
                stop.err()
            }
            Err(_) => Some(Stop::Panic),
        };
        let mut script = self.host.script.take();
        let logs = std::mem::take(&mut script.logs);
        let result = match &stop {
            None => self.outcome(script),
            Some(Stop::Limit(limit)) => Err(limit.error(&self.host.limits)),
            Some(Stop::Script(text)) => Err(FunctionError::Script(text.clone())),
            Some(Stop::Panic) => {
                tracing::error!(
                    account_id = %account, function_id = %invocation.function_id,
                    "the Lua VM panicked; it is thrown away"
                );
                Err(FunctionError::Script("internal error of the Lua VM".to_owned()))
            }
            Some(Stop::Gone) => Err(FunctionError::Script("the caller has gone".to_owned())),
        };
        let clean = matches!(stop, None | Some(Stop::Script(_)));
        let reusable = clean && catch_unwind(AssertUnwindSafe(|| self.finish())).unwrap_or(false);
        Ended { result, logs, reusable }
    }

    async fn drive(
        &mut self,
        executor: &StashedExecutor,
        account: webhook_core::AccountId,
        started: Instant,
        around: &mut Surroundings<'_>,
    ) -> Result<(), Stop> {
        let limits = Arc::clone(&self.host.limits);
        let deadline = started + limits.total_time;
        let mut fuel = 0;
        let mut compute_time = Duration::ZERO;
        loop {
            let turn = around.turns.take(account).await;
            let slice_started = Instant::now();
            let slice = catch_unwind(AssertUnwindSafe(|| self.slice(executor)));
            compute_time += slice_started.elapsed();
            let over_memory = slice.is_ok() && self.lua.total_memory() > limits.memory_bytes;
            drop(turn);
            let slice = slice.map_err(|_| Stop::Panic)?;
            fuel += slice.fuel;
            self.host.script.borrow_mut().compute_time = compute_time;
            if let Some(limit) = self.host.exceeded() {
                return Err(Stop::Limit(limit));
            }
            if over_memory && self.is_over_memory() {
                return Err(Stop::Limit(Limit::Memory));
            }
            if slice.done {
                return self.result(executor);
            }
            if fuel > limits.fuel {
                return Err(Stop::Limit(Limit::Fuel));
            }
            if compute_time > limits.compute_time {
                return Err(Stop::Limit(Limit::ComputeTime));
            }
            if Instant::now() >= deadline {
                return Err(Stop::Limit(Limit::TotalTime));
            }
            if around.reply.is_closed() {
                return Err(Stop::Gone);
            }
            let wish = self.host.wish.take();
            match wish {
                Some(wish) => {
                    let outside = around.outside.clone();
                    let answer = wait::fulfil(wish, outside, around.handle.as_ref());
                    let answer = tokio::select! {
                        answer = answer => answer,
                        () = tokio::time::sleep_until(deadline.into()) => {
                            return Err(Stop::Limit(Limit::TotalTime));
                        }
                        () = around.reply.closed() => return Err(Stop::Gone),
                    };
                    self.host.answer.replace(Some(answer));
                }
                None => tokio::task::yield_now().await,
            }
        }
    }

    fn slice(&mut self, executor: &StashedExecutor) -> Slice {
        let mut fuel = Fuel::with(SLICE_FUEL);
        let done = self.lua.enter(|ctx| ctx.fetch(executor).step(ctx, &mut fuel));
        let used = i64::from(SLICE_FUEL) - i64::from(fuel.remaining());
        Slice { done, fuel: used.unsigned_abs() }
    }

    /// Whether too much memory is in use even after a full collection.
    fn is_over_memory(&mut self) -> bool {
        let collected = catch_unwind(AssertUnwindSafe(|| self.lua.gc_collect()));
        collected.is_err() || self.lua.total_memory() > self.host.limits.memory_bytes
    }

    fn result(&mut self, executor: &StashedExecutor) -> Result<(), Stop> {
        let host = &self.host;
        let mut telling = None;
        let ended = self.lua.enter(|ctx| match ctx.fetch(executor).take_result::<Value<'_>>(ctx) {
            Ok(Ok(value)) if value.is_nil() || request::is_object(value) => Ok(()),
            Ok(Ok(value)) => {
                let reason = taken_by_nobody(value.type_name());
                // A script without statements before it has noted no line.
                let line = Some(message::line(ctx)).filter(|line| *line > 0);
                let line = line.map_or_else(String::new, |line| format!("{line}:"));
                Err(Stop::Script(format!("{CHUNK}:{line} {reason}")))
            }
            Ok(Err(error)) => {
                telling = message::teller(ctx, &error);
                Err(Stop::Script(message::error_text(host, ctx, &error)))
            }
            Err(error) => Err(Stop::Script(error.to_string())),
        });
        match telling.and_then(|telling| self.told(&telling)) {
            Some(text) => Err(Stop::Script(text)),
            None => ended,
        }
    }

    /// What the function `__tostring` of a value that was thrown says, within a few slices.
    fn told(&mut self, telling: &StashedExecutor) -> Option<String> {
        const SLICES: usize = 64;
        if !(0..SLICES).any(|_| self.slice(telling).done) {
            return None;
        }
        self.lua.enter(|ctx| match ctx.fetch(telling).take_result::<Value<'_>>(ctx) {
            Ok(Ok(Value::String(text))) => Some(text.to_str_lossy().into_owned()),
            _ => None,
        })
    }

    fn outcome(&self, script: Script) -> Result<ScriptOutcome, FunctionError> {
        let limits = &self.host.limits;
        let Some(request) = script.request else {
            return Err(FunctionError::Script("the request got lost".to_owned()));
        };
        let longest = script.response.as_ref().map_or(0, |response| response.body.len());
        if request.body.len().max(longest) > limits.body_bytes {
            return Err(Limit::BodyBytes.error(limits));
        }
        Ok(ScriptOutcome {
            request,
            response: script.response,
            response_modified: script.response_modified,
            stop_forwarding: script.stop_forwarding,
        })
    }
}
