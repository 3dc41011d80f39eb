//! Calls of methods, on strings too.

use gc_arena::Collect;
use piccolo::{
    BoxSequence, CallbackReturn, Context, Error, Execution, Function, Sequence, SequencePoll,
    Stack, Value,
    meta_ops::{self, MetaResult},
};

use super::sequence::metamethod;
use crate::lua::{
    request::METHODS,
    vm::{
        call::{Call, Outcome, positioned},
        host::Host,
    },
};

/// `__index` fields that are followed before a script is told that they go in circles.
const MAX_CHAIN: usize = 100;

/// Gives back its arguments.
pub(super) fn all<'gc>(_: Call<'gc, '_>) -> Outcome<'gc> {
    Ok(CallbackReturn::Return)
}

/// `@rest(count, …)`: what follows the first `count` values.
pub(super) fn rest<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let count = match call.arg(1) {
        Value::Integer(count) => usize::try_from(count).unwrap_or(0),
        _ => 0,
    };
    let dropped = count.saturating_add(1).min(call.stack.len());
    call.stack.drain(..dropped);
    let left = call.stack.len() as u64;
    call.charge(left / 8);
    Ok(CallbackReturn::Return)
}

/// Gives back its first argument.
pub(super) fn first<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    let value = call.arg(1);
    call.done(value)
}

/// `@method(receiver, name, …)`
pub(super) fn method<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let (receiver, name) = (call.arg(1), call.arg(2));
    let found = match receiver {
        Value::String(_) => string_methods(call.host, call.ctx, name),
        Value::Table(_) | Value::UserData(_) => match lookup(call.ctx, receiver, name) {
            Some(found) => found,
            None => return slow(call, receiver, name),
        },
        other => return Err(call.receiver_error(other)),
    };
    // The name was only for finding the function.
    call.stack.drain(1..2);
    if let (Value::String(_), Value::Function(Function::Callback(_))) = (receiver, found) {
        call.host.method.set(true);
    }
    match meta_ops::call(call.ctx, found) {
        Ok(function) => Ok(CallbackReturn::Call { function, then: None }),
        Err(_) => Err(call.fail(not_callable(found, name))),
    }
}

fn not_callable(found: Value<'_>, name: Value<'_>) -> String {
    format!("attempt to call a {} value (method '{name}')", found.type_name())
}

fn string_methods<'gc>(host: &Host, ctx: Context<'gc>, name: Value<'gc>) -> Value<'gc> {
    host.string_table(ctx).map_or(Value::Nil, |table| table.get_value(name))
}

/// The method as far as it is found in tables; `None` when a function has to be asked.
fn lookup<'gc>(ctx: Context<'gc>, receiver: Value<'gc>, name: Value<'gc>) -> Option<Value<'gc>> {
    let mut holder = receiver;
    for _ in 0..MAX_CHAIN {
        if let Value::Table(table) = holder {
            let found = table.get_value(name);
            if !found.is_nil() {
                return Some(found);
            }
        }
        if let Value::UserData(data) = holder
            && let Some(metatable) = data.metatable()
            && let Value::Table(methods) = metatable.get(ctx, METHODS)
        {
            let found = methods.get_value(name);
            if !found.is_nil() {
                return Some(found);
            }
        }
        match metamethod(ctx, holder, "__index") {
            None if matches!(holder, Value::Table(_)) => return Some(Value::Nil),
            Some(next @ (Value::Table(_) | Value::UserData(_))) => holder = next,
            _ => return None,
        }
    }
    None
}

/// A receiver whose `__index` is a function.
fn slow<'gc>(call: Call<'gc, '_>, receiver: Value<'gc>, name: Value<'gc>) -> Outcome<'gc> {
    let meta = match meta_ops::index(call.ctx, receiver, name) {
        Ok(MetaResult::Call(meta)) => meta,
        _ => return Err(call.receiver_error(receiver)),
    };
    let arguments = call.stack.into_iter().skip(2).collect();
    call.host.origin.set(matches!(meta.function, Function::Callback(_)).then(|| call.line()));
    let then = FoundMethod { receiver, name, arguments };
    let then = Some(BoxSequence::new(&call.ctx, then));
    call.hand_over(meta.function, meta.args, then)
}

/// Calls what `__index` returned.
#[derive(Collect)]
#[collect(no_drop)]
struct FoundMethod<'gc> {
    receiver: Value<'gc>,
    name: Value<'gc>,
    arguments: Vec<Value<'gc>>,
}

impl<'gc> Sequence<'gc> for FoundMethod<'gc> {
    fn poll(
        &mut self,
        ctx: Context<'gc>,
        exec: Execution<'gc, '_>,
        mut stack: Stack<'gc, '_>,
    ) -> Result<SequencePoll<'gc>, Error<'gc>> {
        let found = stack.get(0);
        stack.clear();
        stack.push_back(self.receiver);
        stack.extend(self.arguments.drain(..));
        match meta_ops::call(ctx, found) {
            Ok(function) => Ok(SequencePoll::Call { function, is_tail: true }),
            Err(_) => Err(positioned(ctx, &exec, &not_callable(found, self.name))),
        }
    }
}
