//! Coroutines.

mod failed;

use std::rc::Rc;

use gc_arena::Collect;
use piccolo::{
    BoxSequence, Callback, CallbackReturn, Context, Error, Execution, Sequence, SequencePoll,
    Stack, Thread, ThreadMode, Value,
};

use crate::lua::vm::{
    call::{Call, Native, Outcome, positioned},
    host::Host,
    message::error_value,
};

pub(super) const FUNCTIONS: &[(&str, Native)] = &[
    ("close", close),
    ("create", create),
    ("isyieldable", isyieldable),
    ("resume", resume),
    ("running", running),
    ("status", status),
    ("wrap", wrap),
    ("yield", suspend),
];

pub(super) use self::failed::forget;

fn check_thread<'gc>(call: &Call<'gc, '_>) -> Result<Thread<'gc>, Error<'gc>> {
    match call.arg(1) {
        Value::Thread(thread) => Ok(thread),
        _ => Err(call.expected(1, "thread")),
    }
}

fn new_thread<'gc>(call: &mut Call<'gc, '_>) -> Result<Thread<'gc>, Error<'gc>> {
    let Value::Function(function) = call.arg(1) else {
        return Err(call.expected(1, "function"));
    };
    call.charge(32);
    let thread = Thread::new(call.ctx);
    match thread.start_suspended(&call.ctx, function) {
        Ok(()) => Ok(thread),
        Err(error) => Err(call.fail(error.to_string())),
    }
}

fn create<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let thread = new_thread(&mut call)?;
    call.done(thread)
}

fn state<'gc>(exec: &Execution<'gc, '_>, thread: Thread<'gc>) -> &'static str {
    if exec.current_thread().thread == thread {
        return "running";
    }
    match thread.mode() {
        ThreadMode::Stopped => "dead",
        ThreadMode::Suspended => "suspended",
        ThreadMode::Result | ThreadMode::Running | ThreadMode::Waiting | ThreadMode::Normal => {
            "normal"
        }
    }
}

fn status<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    let thread = check_thread(&call)?;
    let state = call.ctx.intern_static(state(&call.exec, thread).as_bytes());
    call.done(state)
}

fn running<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    let current = call.exec.current_thread();
    call.done_all([current.thread.into(), current.is_main.into()])
}

fn isyieldable<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    let current = call.exec.current_thread();
    let other = match call.arg(1) {
        Value::Nil => false,
        _ => check_thread(&call)? != current.thread,
    };
    call.done(other || !current.is_main)
}

fn suspend<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    if call.exec.current_thread().is_main {
        return Err(call.fail("attempt to yield from outside a coroutine"));
    }
    Ok(CallbackReturn::Yield { to_thread: None, then: None })
}

fn close<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    let thread = check_thread(&call)?;
    match state(&call.exec, thread) {
        state @ ("dead" | "suspended") => match thread.reset(&call.ctx) {
            Ok(()) => match failed::take(call.ctx, thread).filter(|_| state == "dead") {
                Some(error) => call.done_all([Value::Boolean(false), error]),
                None => call.done(true),
            },
            Err(error) => Err(call.fail(error.to_string())),
        },
        state => Err(call.fail(format!("cannot close a {state} coroutine"))),
    }
}

/// Why a coroutine cannot go on.
fn refusal<'gc>(exec: &Execution<'gc, '_>, thread: Thread<'gc>) -> Option<&'static str> {
    match state(exec, thread) {
        "suspended" => None,
        "dead" => Some("cannot resume dead coroutine"),
        _ => Some("cannot resume non-suspended coroutine"),
    }
}

fn resume<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let thread = check_thread(&call)?;
    if let Some(reason) = refusal(&call.exec, thread) {
        let reason = call.ctx.intern_static(reason.as_bytes());
        return call.done_all([false.into(), reason.into()]);
    }
    call.stack.pop_front();
    let resumed = Resumed { host: Rc::clone(call.host), thread: Some(thread) };
    let then = Some(BoxSequence::new(&call.ctx, resumed));
    Ok(CallbackReturn::Resume { thread, then })
}

fn wrap<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let thread = new_thread(&mut call)?;
    let host = Rc::clone(call.host);
    let function = Callback::from_fn_with(&call.ctx, thread, move |thread, ctx, exec, _| {
        // The line is known from the frame, or nobody asks for it.
        host.origin.take();
        if let Some(reason) = refusal(&exec, *thread) {
            return Err(positioned(ctx, &exec, reason));
        }
        // With this sequence the frame stays, so that the main thread stays the main one.
        let resumed = Resumed { host: Rc::clone(&host), thread: None };
        let then = Some(BoxSequence::new(&ctx, resumed));
        Ok(CallbackReturn::Resume { thread: *thread, then })
    });
    call.done(function)
}

#[derive(Collect)]
#[collect(no_drop)]
struct Resumed<'gc> {
    #[collect(require_static)]
    host: Rc<Host>,
    /// The coroutine, whose errors are returned; without it they go on.
    thread: Option<Thread<'gc>>,
}

impl<'gc> Sequence<'gc> for Resumed<'gc> {
    fn poll(
        &mut self,
        _: Context<'gc>,
        _: Execution<'gc, '_>,
        mut stack: Stack<'gc, '_>,
    ) -> Result<SequencePoll<'gc>, Error<'gc>> {
        if self.thread.is_some() {
            stack.push_front(Value::Boolean(true));
        }
        Ok(SequencePoll::Return)
    }

    fn error(
        &mut self,
        ctx: Context<'gc>,
        _: Execution<'gc, '_>,
        error: Error<'gc>,
        mut stack: Stack<'gc, '_>,
    ) -> Result<SequencePoll<'gc>, Error<'gc>> {
        if self.host.exceeded().is_some() {
            return Err(error);
        }
        let value = error_value(&self.host, ctx, &error);
        let Some(thread) = self.thread else { return Err(value.into()) };
        failed::remember(ctx, thread, value);
        stack.clear();
        stack.extend([Value::Boolean(false), value]);
        Ok(SequencePoll::Return)
    }
}
