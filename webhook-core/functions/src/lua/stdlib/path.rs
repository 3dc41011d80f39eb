//! Fields of fields and calls on lines where more than one of them can be missing.

use gc_arena::Collect;
use piccolo::{
    BoxSequence, CallbackReturn, Context, Error, Execution, Function, Sequence, SequencePoll,
    Stack, Value,
    meta_ops::{self, MetaResult},
};

use crate::lua::vm::{
    call::{Call, Outcome, positioned, type_name},
    message::{line, what_to_write},
};

/// `@path(name, value, key, …)`: `value[key]…`, where the value is called `name`.
pub(super) fn path<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    let mut value = call.arg(2);
    let last = call.stack.len();
    for index in 3..=last {
        let key = call.arg(index);
        if let Value::Table(table) = value {
            let found = table.get_value(key);
            if !found.is_nil() || table.metatable().is_none() {
                value = found;
                continue;
            }
        }
        match meta_ops::index(call.ctx, value, key) {
            Ok(MetaResult::Value(found)) => value = found,
            Ok(MetaResult::Call(meta)) => {
                let keys = call.stack.into_iter().skip(index - 1).collect();
                let then = Some(BoxSequence::new(&call.ctx, Rest { keys, at: 0 }));
                return call.hand_over(meta.function, meta.args, then);
            }
            Err(_) => {
                let name =
                    if index == 3 { spelled(call.arg(1)) } else { field(call.arg(index - 1)) };
                let cause = call.cause(value);
                let text = wrong(call.ctx, "index", value, &name);
                return Err(call.fail(format!("{text}{cause}")));
            }
        }
    }
    call.done(value)
}

fn spelled(name: Value<'_>) -> String {
    match name {
        Value::String(name) => name.to_str_lossy().into_owned(),
        _ => String::new(),
    }
}

fn field(key: Value<'_>) -> String {
    match key {
        Value::String(key) => format!("field '{}'", key.to_str_lossy()),
        Value::Integer(key) => format!("field '{key}'"),
        _ => "field '?'".to_owned(),
    }
}

fn wrong<'gc>(ctx: Context<'gc>, verb: &str, value: Value<'gc>, name: &str) -> String {
    let kind = type_name(ctx, value);
    if name.is_empty() {
        format!("attempt to {verb} a {kind} value")
    } else {
        let here = what_to_write(name, &kind);
        format!("attempt to {verb} a {kind} value ({name}){here}")
    }
}

/// Goes on with the keys behind the one whose value a function of the script gives.
#[derive(Collect)]
#[collect(no_drop)]
struct Rest<'gc> {
    keys: Vec<Value<'gc>>,
    at: usize,
}

impl<'gc> Sequence<'gc> for Rest<'gc> {
    fn poll(
        &mut self,
        ctx: Context<'gc>,
        exec: Execution<'gc, '_>,
        mut stack: Stack<'gc, '_>,
    ) -> Result<SequencePoll<'gc>, Error<'gc>> {
        let mut value = stack.get(0);
        stack.clear();
        while let Some(key) = self.keys.get(self.at + 1).copied() {
            let before = self.keys.get(self.at).copied().unwrap_or_default();
            self.at += 1;
            match meta_ops::index(ctx, value, key) {
                Ok(MetaResult::Value(found)) => value = found,
                Ok(MetaResult::Call(meta)) => {
                    stack.extend(meta.args);
                    return Ok(SequencePoll::Call { function: meta.function, is_tail: false });
                }
                Err(_) => {
                    let text = wrong(ctx, "index", value, &field(before));
                    return Err(positioned(ctx, &exec, &text));
                }
            }
        }
        stack.push_back(value);
        Ok(SequencePoll::Return)
    }
}

/// `@call(name, function, …)`
pub(super) fn call<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let function = callee(&call)?;
    call.stack.drain(..2);
    Ok(CallbackReturn::Call { function, then: None })
}

/// `@tail(name, function, …)`: the frame that called is gone, and the line that it noted is left.
pub(super) fn tail<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    call.origin = Some(line(call.ctx));
    let function = callee(&call)?;
    call.stack.drain(..2);
    if let Function::Callback(_) = function {
        call.host.origin.set(call.origin);
    }
    Ok(CallbackReturn::Call { function, then: None })
}

fn callee<'gc>(call: &Call<'gc, '_>) -> Result<Function<'gc>, Error<'gc>> {
    let value = call.arg(2);
    meta_ops::call(call.ctx, value).map_err(|_| {
        let text = wrong(call.ctx, "call", value, &spelled(call.arg(1)));
        call.fail(text)
    })
}
