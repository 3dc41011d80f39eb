//! One VM: a script that is ready to run, any number of times.

pub(super) mod call;
pub(super) mod chain;
pub(super) mod guard;
pub(super) mod held;
pub(super) mod host;
pub(super) mod message;
mod run;
pub(super) mod walk;

use std::{rc::Rc, sync::Arc};

use allocator_api2::vec::Vec as GcVec;
use gc_arena::allocator_api::MetricsAlloc;
use piccolo::{
    Closure, Context, Executor, FunctionPrototype, Lua, StashedClosure, StashedExecutor, Table,
    Value,
    closure::{UpValue, UpValueState},
    types::UpValueDescriptor,
};
use webhook_core::{Clock, function::ScriptLimits};

use self::host::{Host, Script};
pub(super) use self::run::Surroundings;
use super::{
    CHUNK,
    compile::{Helper, Program},
    stdlib,
};
pub(super) use crate::modules::Limit;

/// Calls after which a VM is thrown away, so that nothing builds up in it.
const MAX_CALLS: u32 = 5_000;
/// What an idle VM may hold, garbage included.
const COLLECT_ABOVE_BYTES: usize = 96 << 10;
/// What an idle VM may hold after a collection.
const MAX_IDLE_BYTES: usize = 256 << 10;

/// A VM with one program in it.
pub(super) struct Vm {
    lua: Lua,
    host: Rc<Host>,
    /// The script as a function whose environment is missing.
    template: StashedClosure,
    calls: u32,
}

impl Vm {
    pub(super) fn new(
        limits: Arc<ScriptLimits>,
        clock: Arc<dyn Clock>,
        program: Arc<Program>,
    ) -> Self {
        let host = Rc::new(Host::new(limits, clock, program));
        let mut lua = Lua::empty();
        let template = lua.enter(|ctx| {
            stdlib::open(ctx, &host);
            ctx.stash(template(ctx, &host))
        });
        Self { lua, host, template, calls: 0 }
    }

    /// Whether this is a VM for `program`.
    pub(super) fn holds(&self, program: &Arc<Program>) -> bool {
        Arc::ptr_eq(&self.host.program, program)
    }

    /// Sets up one call, with an environment that no other call has seen.
    fn start(&mut self, script: Script) -> StashedExecutor {
        self.calls += 1;
        self.host.begin(script);
        let (host, template) = (&self.host, &self.template);
        self.lua.enter(|ctx| {
            message::line_variable(ctx).set(&ctx, UpValueState::Closed(Value::Integer(0)));
            let environment = stdlib::environment(ctx, host);
            let closure = with_environment(ctx, ctx.fetch(template), environment);
            ctx.stash(Executor::start(ctx, closure.into(), ()))
        })
    }

    /// Drops what the call left behind; `false` when the VM should go, too.
    fn finish(&mut self) -> bool {
        self.host.begin(Script::default());
        self.lua.enter(|ctx| {
            walk::forget(ctx);
            stdlib::forget(ctx);
        });
        if self.lua.total_memory() > COLLECT_ABOVE_BYTES {
            self.lua.gc_collect();
        }
        self.calls < MAX_CALLS && self.lua.total_memory() <= MAX_IDLE_BYTES
    }
}

/// The script with its helpers, shared by all calls, and no environment.
fn template<'gc>(ctx: Context<'gc>, host: &Rc<Host>) -> Closure<'gc> {
    let program = &host.program;
    let name = ctx.intern_static(CHUNK.as_bytes());
    let outer =
        FunctionPrototype::from_compiled_map_strings(&ctx, name, &program.prototype, |text| {
            ctx.intern(text)
        });
    // The outer function does nothing but hold the script, see `compile`.
    let script = outer.prototypes[0];
    let mut upvalues = GcVec::new_in(MetricsAlloc::new(&ctx));
    for descriptor in &*script.upvalues {
        let helper = match descriptor {
            UpValueDescriptor::ParentLocal(register) => {
                program.helpers.get(usize::from(register.0)).copied()
            }
            UpValueDescriptor::Environment | UpValueDescriptor::Outer(_) => None,
        };
        upvalues.push(match helper {
            Some(Helper::Line) => message::line_variable(ctx),
            Some(helper) => {
                let function = stdlib::helper(ctx, host, helper);
                UpValue::new(&ctx, UpValueState::Closed(function.into()))
            }
            None => UpValue::new(&ctx, UpValueState::Closed(Value::Nil)),
        });
    }
    Closure::from_parts(&ctx, script, upvalues)
}

fn with_environment<'gc>(
    ctx: Context<'gc>,
    template: Closure<'gc>,
    environment: Table<'gc>,
) -> Closure<'gc> {
    let prototype = template.prototype();
    let mut upvalues = GcVec::new_in(MetricsAlloc::new(&ctx));
    for (descriptor, upvalue) in prototype.upvalues.iter().zip(template.upvalues()) {
        upvalues.push(match descriptor {
            UpValueDescriptor::ParentLocal(_) => *upvalue,
            UpValueDescriptor::Environment | UpValueDescriptor::Outer(_) => {
                UpValue::new(&ctx, UpValueState::Closed(environment.into()))
            }
        });
    }
    Closure::from_parts(&ctx, prototype, upvalues)
}
