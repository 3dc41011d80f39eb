//! `error`, `pcall` and `xpcall`.

use std::rc::Rc;

use gc_arena::Collect;
use piccolo::{
    BoxSequence, CallbackReturn, Context, Error, Execution, Function, Sequence, SequencePoll,
    Stack, Thread, Value, meta_ops,
};

use crate::lua::vm::{
    call::{Call, Native, Outcome, positioned},
    host::Host,
    message::error_value,
};

pub(super) const FUNCTIONS: &[(&str, Native)] =
    &[("error", error), ("pcall", pcall), ("xpcall", xpcall)];

fn error<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    let value = call.arg(1);
    match value {
        // Levels above 1 are told apart no further: the host sees one frame.
        Value::String(message) if call.opt_int(2, 1)? > 0 => Err(prefixed(&call, message)),
        other => Err(other.into()),
    }
}

/// The message behind its position, byte for byte.
pub(super) fn prefixed<'gc>(call: &Call<'gc, '_>, message: piccolo::String<'gc>) -> Error<'gc> {
    let Error::Lua(piccolo::error::LuaError(Value::String(position))) =
        positioned(call.ctx, &call.exec, "")
    else {
        return Value::from(message).into();
    };
    let text = [position.as_bytes(), message.as_bytes()].concat();
    Value::from(crate::lua::vm::call::new_string(call.ctx, text)).into()
}

fn pcall<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let function = call.check_any(1)?;
    call.stack.pop_front();
    protect(call, function, None)
}

fn xpcall<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let function = call.arg(1);
    let handler = meta_ops::call(call.ctx, call.arg(2))
        .map_err(|_| call.bad_argument(2, "function expected"))?;
    call.stack.drain(..2);
    protect(call, function, Some(handler))
}

fn protect<'gc>(
    call: Call<'gc, '_>,
    function: Value<'gc>,
    handler: Option<Function<'gc>>,
) -> Outcome<'gc> {
    let host = Rc::clone(call.host);
    let then = |protected| Some(BoxSequence::new(&call.ctx, protected));
    if let Ok(function) = meta_ops::call(call.ctx, function) {
        let on_error = handler.map_or(OnError::Return, OnError::Handle);
        let then = then(Protected { host, on_error, failed: false });
        return Ok(CallbackReturn::Call { function, then });
    }
    let message = format!("attempt to call a {} value", function.type_name());
    let message = piccolo::String::from_slice(&call.ctx, message);
    match handler {
        None => call.done_all([Value::Boolean(false), message.into()]),
        Some(handler) => {
            let then = then(Protected { host, on_error: OnError::Return, failed: true });
            call.hand_over(handler, [message.into()], then)
        }
    }
}

/// How a call ends that has an error.
#[derive(Collect)]
#[collect(no_drop)]
pub(super) enum OnError<'gc> {
    /// With false and the error.
    Return,
    /// With false and the results of the function, which gets the error.
    Handle(Function<'gc>),
    /// With false and the error, which is remembered for the coroutine.
    Remember(Thread<'gc>),
    /// With the error. Without one the results have no `true` before them.
    Raise,
}

/// Ends a call of a function that may have an error.
#[derive(Collect)]
#[collect(no_drop)]
pub(super) struct Protected<'gc> {
    #[collect(require_static)]
    pub(super) host: Rc<Host>,
    pub(super) on_error: OnError<'gc>,
    /// Whether what runs is the handler.
    pub(super) failed: bool,
}

impl<'gc> Sequence<'gc> for Protected<'gc> {
    fn poll(
        &mut self,
        _: Context<'gc>,
        _: Execution<'gc, '_>,
        mut stack: Stack<'gc, '_>,
    ) -> Result<SequencePoll<'gc>, Error<'gc>> {
        if !matches!(self.on_error, OnError::Raise) {
            stack.push_front(Value::Boolean(!self.failed));
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
        match std::mem::replace(&mut self.on_error, OnError::Return) {
            OnError::Raise => return Err(value.into()),
            OnError::Handle(function) => {
                self.failed = true;
                stack.clear();
                stack.push_back(value);
                return Ok(SequencePoll::Call { function, is_tail: false });
            }
            OnError::Remember(thread) => super::coroutine::remember(ctx, thread, value),
            OnError::Return => {}
        }
        stack.clear();
        stack.extend([Value::Boolean(false), value]);
        Ok(SequencePoll::Return)
    }
}
