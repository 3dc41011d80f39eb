//! What the functions of one VM share: the call that runs and what the script did so far.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    rc::Rc,
    sync::Arc,
};

use bytes::Bytes;
use rquickjs::{Ctx, Exception, TypedArray};
use tokio::runtime::Handle;
use webhook_core::{
    Clock,
    function::{Invocation, ScriptLimits, ScriptOutcome, ScriptResponse, Trial},
    model::{Checks, Request},
};

use super::meter::Meter;
use crate::{
    js::{limit::Limit, source},
    modules::{Bounds, ModuleError, Outside, kv::Owner},
};

/// The state that a VM's functions share.
pub(super) struct Host {
    pub(super) limits: Arc<ScriptLimits>,
    pub(super) clock: Arc<dyn Clock>,
    /// What every call reaches.
    pub(super) outside: Outside,
    pub(super) meter: Rc<Meter>,
    /// Whether the part of the prelude is there that bounds what bytes can do.
    pub(super) gives_bytes: Cell<bool>,
    pub(super) script: RefCell<Script>,
}

/// What belongs to the call of the script.
#[derive(Default)]
pub(super) struct Script {
    pub(super) request: Option<Request>,
    pub(super) response: Option<ScriptResponse>,
    pub(super) response_modified: bool,
    pub(super) stop_forwarding: bool,
    pub(super) config: Arc<BTreeMap<String, String>>,
    pub(super) metadata: BTreeMap<String, String>,
    pub(super) checks: Checks,
    pub(super) handle: Option<Handle>,
    pub(super) http_calls: usize,
    pub(super) kv_calls: usize,
    /// Whose keys the script works on.
    pub(super) owner: Option<Owner>,
    pub(super) trial: Option<Arc<Trial>>,
    source: Arc<str>,
    /// The bodies of the answers to the script's requests.
    pub(super) answers: Vec<Bytes>,
    /// Rejections of promises that nobody has looked at so far.
    rejections: Vec<String>,
    logs: Vec<String>,
    log_bytes: usize,
}

impl Script {
    /// Whether a script that has not looked at its request has no other purpose either.
    pub(super) fn only_declares(&self) -> bool {
        self.http_calls == 0 && self.kv_calls == 0 && source::leaves_functions(&self.source)
    }
}

impl Host {
    /// Takes in a call; identifiers are looked at elsewhere.
    pub(super) fn begin(&self, invocation: Invocation, handle: Option<Handle>) {
        let Invocation { account_id, function_id, .. } = invocation;
        let owner = Some(Owner { account_id, function_id });
        let Invocation { config, metadata, checks, request, response, source, trial, .. } =
            invocation;
        let request = Some(request);
        *self.script.borrow_mut() = Script {
            request,
            response,
            config,
            metadata,
            checks,
            handle,
            source,
            owner,
            trial,
            ..Script::default()
        };
    }

    /// Forgets the call.
    pub(super) fn end(&self) {
        *self.script.borrow_mut() = Script::default();
    }

    /// What the call reaches.
    pub(super) fn outside(&self) -> Outside {
        self.outside.of_call(self.script.borrow().trial.clone())
    }

    /// What the script has left.
    pub(super) fn outcome(&self) -> Option<ScriptOutcome> {
        let mut script = self.script.borrow_mut();
        Some(ScriptOutcome {
            request: script.request.take()?,
            response: script.response.take(),
            response_modified: script.response_modified,
            stop_forwarding: script.stop_forwarding,
        })
    }

    /// What the script has printed.
    pub(super) fn take_logs(&self) -> Vec<String> {
        std::mem::take(&mut self.script.borrow_mut().logs)
    }

    /// Adds a line to the captured output, as far as there is room.
    pub(super) fn log(&self, line: &str) {
        let mut script = self.script.borrow_mut();
        let left = self.limits.log_bytes.saturating_sub(script.log_bytes);
        if left == 0 {
            return;
        }
        let text = &line[..line.floor_char_boundary(left)];
        // An empty line costs too, or there could be any number of them.
        script.log_bytes += text.len().max(1) + 1;
        script.logs.push(text.to_owned());
    }

    /// Remembers a rejection, or forgets one that was looked at after all.
    pub(super) fn rejected(&self, reason: Option<String>) {
        /// More of them say nothing more.
        const KEPT: usize = 16;
        let rejections = &mut self.script.borrow_mut().rejections;
        match reason {
            Some(reason) if rejections.len() < KEPT => rejections.push(reason),
            Some(_) => {}
            None => drop(rejections.pop()),
        }
    }

    /// Prints the rejections that are left, which are lost otherwise.
    pub(super) fn log_rejections(&self) {
        let rejections = std::mem::take(&mut self.script.borrow_mut().rejections);
        for reason in rejections {
            self.log(&format!("unhandled rejection: {reason}"));
        }
    }

    /// What a function of the host may make, beside the engine's own memory.
    pub(super) fn bounds(&self) -> Bounds {
        Bounds::of_memory(self.limits.memory_bytes).until(self.meter.compute_deadline())
    }

    /// Bytes for the script, of which it gets none before the prelude has bounded what they can do.
    pub(super) fn give_bytes<'js>(
        &self,
        ctx: &Ctx<'js>,
        bytes: &[u8],
    ) -> rquickjs::Result<TypedArray<'js, u8>> {
        if !self.gives_bytes.get() {
            return Err(Exception::throw_message(ctx, "bytes without their part of the prelude"));
        }
        TypedArray::new_copy(ctx.clone(), bytes)
    }

    /// Throws why a module has no result.
    pub(super) fn refuse(&self, ctx: &Ctx<'_>, error: &ModuleError) -> rquickjs::Error {
        match error {
            ModuleError::Invalid(message) => Exception::throw_message(ctx, message),
            ModuleError::TooLarge => self.exceed(ctx, Limit::Memory),
            ModuleError::TooLong => self.exceed(ctx, Limit::StringBytes),
            ModuleError::TooSlow => self.exceed(ctx, Limit::ComputeTime),
        }
    }

    /// Throws the error of a limit into the script.
    pub(super) fn exceed(&self, ctx: &Ctx<'_>, limit: Limit) -> rquickjs::Error {
        Exception::throw_range(ctx, &limit.message(&self.limits))
    }
}
