//! Walking over tables.

use gc_arena::Collect;
use piccolo::{
    BoxSequence, CallbackReturn, Context, Error, Execution, Sequence, SequencePoll, Stack, Value,
    meta_ops::{self, MetaResult},
    table::NextValue,
};

use super::sequence::metamethod;
use crate::lua::vm::{
    call::{Call, Native, Outcome, native, type_name},
    walk,
};

pub(super) const FUNCTIONS: &[(&str, Native)] =
    &[("next", next), ("pairs", pairs), ("ipairs", ipairs)];

/// Fuel for a step that may have passed over any number of empty slots.
const JUMP_FUEL: u64 = 64;

fn next<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let table = call.check_table(1)?;
    let key = call.arg(2);
    match walk::next(call.host, call.ctx, table, key) {
        NextValue::Found { key: found, value } => {
            let adjacent = match (key, found) {
                (Value::Integer(before), Value::Integer(found)) => found.wrapping_sub(before) == 1,
                _ => !key.is_nil(),
            };
            if !adjacent {
                call.charge(JUMP_FUEL);
            }
            call.done_all([found, value])
        }
        NextValue::Last => {
            call.charge(JUMP_FUEL);
            call.done(Value::Nil)
        }
        NextValue::NotFound => Err(call.fail("invalid key to 'next'")),
    }
}

fn pairs<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let value = call.check_any(1)?;
    if let Some(method) = metamethod(call.ctx, value, "__pairs") {
        let function = meta_ops::call(call.ctx, method)
            .map_err(|_| call.fail("attempt to call a '__pairs' that is no function"))?;
        call.stack.clear();
        call.stack.push_back(value);
        let then = Some(BoxSequence::new(&call.ctx, Three));
        return Ok(CallbackReturn::Call { function, then });
    }
    call.check_table(1)?;
    let next = iterator(&call, "next", next);
    call.done_all([next, value, Value::Nil])
}

fn ipairs<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    let value = call.check_any(1)?;
    let step = iterator(&call, "inext", step);
    call.done_all([step, value, Value::Integer(0)])
}

/// A function that is made once for each call of the script.
fn iterator<'gc>(call: &Call<'gc, '_>, name: &'static str, function: Native) -> Value<'gc> {
    let kept = call.host.kept(call.ctx);
    let key = call.ctx.intern_static(name.as_bytes());
    let found = kept.get(call.ctx, key);
    if !found.is_nil() {
        return found;
    }
    let made = native(call.ctx, call.host, name, function);
    // Only nil and NaN are refused as keys.
    let _ = kept.set(call.ctx, key, made);
    made.into()
}

fn step<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let value = call.arg(1);
    let Value::Integer(index) = call.arg(2) else { return call.done(Value::Nil) };
    let index = index.wrapping_add(1);
    if let Value::Table(table) = value {
        let found = table.get_value(Value::Integer(index));
        if !found.is_nil() {
            return call.done_all([Value::Integer(index), found]);
        }
        if metamethod(call.ctx, value, "__index").is_none() {
            return call.done(Value::Nil);
        }
    }
    match meta_ops::index(call.ctx, value, Value::Integer(index)) {
        Ok(MetaResult::Value(Value::Nil)) => call.done(Value::Nil),
        Ok(MetaResult::Value(found)) => call.done_all([Value::Integer(index), found]),
        Ok(MetaResult::Call(meta)) => {
            call.stack.clear();
            call.stack.extend(meta.args);
            let then = Some(BoxSequence::new(&call.ctx, Indexed(index)));
            Ok(CallbackReturn::Call { function: meta.function, then })
        }
        Err(_) => {
            Err(call.bad_argument(1, format!("table expected, got {}", type_name(call.ctx, value))))
        }
    }
}

/// Puts the index before the value that `__index` gave, unless that is nil.
#[derive(Collect)]
#[collect(require_static)]
struct Indexed(i64);

impl<'gc> Sequence<'gc> for Indexed {
    fn poll(
        &mut self,
        _: Context<'gc>,
        _: Execution<'gc, '_>,
        mut stack: Stack<'gc, '_>,
    ) -> Result<SequencePoll<'gc>, Error<'gc>> {
        let value = stack.get(0);
        stack.clear();
        if !value.is_nil() {
            stack.extend([Value::Integer(self.0), value]);
        }
        Ok(SequencePoll::Return)
    }
}

/// Cuts the results to three.
#[derive(Collect)]
#[collect(require_static)]
struct Three;

impl<'gc> Sequence<'gc> for Three {
    fn poll(
        &mut self,
        _: Context<'gc>,
        _: Execution<'gc, '_>,
        mut stack: Stack<'gc, '_>,
    ) -> Result<SequencePoll<'gc>, Error<'gc>> {
        stack.resize(3);
        Ok(SequencePoll::Return)
    }
}
