//! Values as text.

use std::{fmt::Write as _, rc::Rc, sync::OnceLock};

use gc_arena::{Collect, Gc};
use piccolo::{
    BoxSequence, CallbackReturn, Context, Error, Execution, Function, Sequence, SequencePoll,
    Stack, Value, meta_ops,
};

use super::sequence::metamethod;
use crate::lua::{
    bytes::number::{self, Number},
    vm::{
        call::{Call, Native, Outcome, positioned},
        host::Host,
    },
};

/// What `tostring` gives without asking `__tostring`.
pub(crate) fn plain(value: Value<'_>) -> Vec<u8> {
    match value {
        Value::Nil => b"nil".to_vec(),
        Value::Boolean(true) => b"true".to_vec(),
        Value::Boolean(false) => b"false".to_vec(),
        Value::Integer(value) => number::to_text(Number::Int(value)),
        Value::Number(value) => number::to_text(Number::Float(value)),
        Value::String(text) => text.as_bytes().to_vec(),
        Value::Table(table) => named("table", Gc::as_ptr(table.into_inner()).addr()),
        Value::Function(Function::Closure(closure)) => {
            named("function", Gc::as_ptr(closure.into_inner()).addr())
        }
        Value::Function(Function::Callback(callback)) => {
            named("function: builtin", Gc::as_ptr(callback.into_inner()).addr())
        }
        Value::Thread(thread) => named("thread", Gc::as_ptr(thread.into_inner()).addr()),
        Value::UserData(data) => named("userdata", Gc::as_ptr(data.into_inner()).addr()),
    }
}

/// A name that differs for different values and does not show where they are in memory.
fn named(kind: &str, address: usize) -> Vec<u8> {
    static KEY: OnceLock<u64> = OnceLock::new();
    let key = KEY.get_or_init(|| fastrand::u64(..) >> 16 & !0xf);
    let mut text = String::with_capacity(32);
    // Writing to a string does not fail.
    let _ = write!(text, "{kind}: 0x{:012x}", address as u64 ^ key);
    text.into_bytes()
}

/// `tostring(value)`
pub(super) fn tostring<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    let value = call.check_any(1)?;
    if let Value::String(_) = value {
        return call.done(value);
    }
    if let Some(method) = metamethod(call.ctx, value, "__tostring") {
        let function = meta_ops::call(call.ctx, method)
            .map_err(|_| call.fail(format!("attempt to call a {} value", method.type_name())))?;
        let then = Some(BoxSequence::new(&call.ctx, IsString));
        return call.hand_over(function, [value], then);
    }
    let text = named_plain(call.ctx, value);
    call.done_string(text)
}

/// As [`plain`], with the name that a metatable gives to its kind of values.
pub(super) fn named_plain<'gc>(ctx: Context<'gc>, value: Value<'gc>) -> Vec<u8> {
    let text = plain(value);
    match metamethod(ctx, value, "__name") {
        Some(Value::String(name)) => {
            let address = text.iter().position(|byte| *byte == b':').unwrap_or(0);
            let mut named = name.as_bytes().to_vec();
            named.truncate(256);
            named.extend_from_slice(text.get(address..).unwrap_or_default());
            named
        }
        _ => text,
    }
}

#[derive(Collect)]
#[collect(require_static)]
struct IsString;

impl<'gc> Sequence<'gc> for IsString {
    fn poll(
        &mut self,
        ctx: Context<'gc>,
        exec: Execution<'gc, '_>,
        mut stack: Stack<'gc, '_>,
    ) -> Result<SequencePoll<'gc>, Error<'gc>> {
        let text = string_result(ctx, &exec, &stack)?;
        stack.clear();
        stack.push_back(text.into());
        Ok(SequencePoll::Return)
    }
}

/// What `__tostring` has returned.
fn string_result<'gc>(
    ctx: Context<'gc>,
    exec: &Execution<'gc, '_>,
    stack: &Stack<'gc, '_>,
) -> Result<piccolo::String<'gc>, Error<'gc>> {
    match stack.get(0) {
        Value::String(text) => Ok(text),
        _ => Err(positioned(ctx, exec, "'__tostring' must return a string")),
    }
}

/// Runs `then` with every argument that has a `__tostring` replaced by its text.
///
/// `then` must not call anything itself.
pub(super) fn with_texts<'gc>(mut call: Call<'gc, '_>, then: Native) -> Outcome<'gc> {
    let special = |value: Value<'gc>| metamethod(call.ctx, value, "__tostring").is_some();
    if !call.stack.into_iter().any(special) {
        return then(call);
    }
    let arguments = call.stack.into_iter().collect();
    call.stack.clear();
    let host = Rc::clone(call.host);
    let texts = Texts { arguments, next: 0, asked: false, host, name: call.name, then };
    Ok(CallbackReturn::Sequence(BoxSequence::new(&call.ctx, texts)))
}

#[derive(Collect)]
#[collect(no_drop)]
struct Texts<'gc> {
    arguments: Vec<Value<'gc>>,
    next: usize,
    asked: bool,
    #[collect(require_static)]
    host: Rc<Host>,
    #[collect(require_static)]
    name: &'static str,
    #[collect(require_static)]
    then: Native,
}

impl<'gc> Sequence<'gc> for Texts<'gc> {
    fn poll(
        &mut self,
        ctx: Context<'gc>,
        exec: Execution<'gc, '_>,
        mut stack: Stack<'gc, '_>,
    ) -> Result<SequencePoll<'gc>, Error<'gc>> {
        if self.asked {
            self.asked = false;
            let text = string_result(ctx, &exec, &stack)?;
            if let Some(argument) = self.arguments.get_mut(self.next) {
                *argument = text.into();
            }
            self.next += 1;
        }
        stack.clear();
        while let Some(argument) = self.arguments.get(self.next).copied() {
            if let Some(method) = metamethod(ctx, argument, "__tostring") {
                self.asked = true;
                stack.push_back(argument);
                let function = meta_ops::call(ctx, method)?;
                return Ok(SequencePoll::Call { function, is_tail: false });
            }
            self.next += 1;
        }
        stack.extend(self.arguments.drain(..));
        match (self.then)(Call::of(&self.host, self.name, ctx, exec, stack))? {
            CallbackReturn::Call { function, then: None } => {
                Ok(SequencePoll::Call { function, is_tail: true })
            }
            _ => Ok(SequencePoll::Return),
        }
    }
}
