//! Coroutines.

mod failed;

use std::rc::Rc;

use piccolo::{BoxSequence, Callback, CallbackReturn, Error, Execution, Thread, ThreadMode, Value};

use super::protected::{OnError, Protected};
use crate::lua::vm::call::{Call, Native, Outcome, positioned};

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

pub(super) use self::failed::{forget, remember};

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
    let (host, on_error) = (Rc::clone(call.host), OnError::Remember(thread));
    let resumed = Protected { host, on_error, failed: false };
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
        let host = Rc::clone(&host);
        let resumed = Protected { host, on_error: OnError::Raise, failed: false };
        let then = Some(BoxSequence::new(&ctx, resumed));
        Ok(CallbackReturn::Resume { thread: *thread, then })
    });
    call.done(function)
}
