//! `error`, `pcall` and `xpcall`.

use std::rc::Rc;

use gc_arena::Collect;
use piccolo::{
    BoxSequence, CallbackReturn, Context, Error, Execution, Function, Sequence, SequencePoll,
    Stack, Value, meta_ops,
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
    mut call: Call<'gc, '_>,
    function: Value<'gc>,
    handler: Option<Function<'gc>>,
) -> Outcome<'gc> {
    let host = Rc::clone(call.host);
    let protected = Protected { host, handler, failed: false };
    let then = BoxSequence::new(&call.ctx, protected);
    match meta_ops::call(call.ctx, function) {
        Ok(function) => Ok(CallbackReturn::Call { function, then: Some(then) }),
        Err(_) => {
            let message = format!("attempt to call a {} value", function.type_name());
            let message = piccolo::String::from_slice(&call.ctx, message);
            match handler {
                None => call.done_all([Value::Boolean(false), message.into()]),
                Some(handler) => {
                    call.stack.clear();
                    call.stack.push_back(message.into());
                    let host = Rc::clone(call.host);
                    let protected = Protected { host, handler: None, failed: true };
                    let then = Some(BoxSequence::new(&call.ctx, protected));
                    Ok(CallbackReturn::Call { function: handler, then })
                }
            }
        }
    }
}

#[derive(Collect)]
#[collect(no_drop)]
struct Protected<'gc> {
    #[collect(require_static)]
    host: Rc<Host>,
    handler: Option<Function<'gc>>,
    /// Whether what runs is the handler.
    failed: bool,
}

impl<'gc> Sequence<'gc> for Protected<'gc> {
    fn poll(
        &mut self,
        _: Context<'gc>,
        _: Execution<'gc, '_>,
        mut stack: Stack<'gc, '_>,
    ) -> Result<SequencePoll<'gc>, Error<'gc>> {
        stack.push_front(Value::Boolean(!self.failed));
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
        stack.clear();
        match self.handler.take() {
            Some(handler) => {
                self.failed = true;
                stack.push_back(value);
                Ok(SequencePoll::Call { function: handler, is_tail: false })
            }
            None => {
                stack.extend([Value::Boolean(false), value]);
                Ok(SequencePoll::Return)
            }
        }
    }
}
