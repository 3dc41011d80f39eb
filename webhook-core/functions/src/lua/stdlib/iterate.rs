//! Walking over tables.

use piccolo::{
    BoxSequence, Stack, Value,
    meta_ops::{self, MetaResult},
    table::NextValue,
};

use super::sequence::{Results, metamethod};
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

fn pairs<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    let value = call.check_any(1)?;
    if let Some(method) = metamethod(call.ctx, value, "__pairs") {
        let function = meta_ops::call(call.ctx, method)
            .map_err(|_| call.fail("attempt to call a '__pairs' that is no function"))?;
        let then = Some(BoxSequence::new(&call.ctx, Results(three)));
        return call.hand_over(function, [value], then);
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

fn step<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
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
            let then = Results(move |stack: &mut Stack<'gc, '_>| indexed(index, stack));
            let then = Some(BoxSequence::new(&call.ctx, then));
            call.hand_over(meta.function, meta.args, then)
        }
        Err(_) => {
            Err(call.bad_argument(1, format!("table expected, got {}", type_name(call.ctx, value))))
        }
    }
}

/// Puts the index before the value that `__index` gave, unless that is nil.
fn indexed<'gc>(index: i64, stack: &mut Stack<'gc, '_>) {
    let value = stack.get(0);
    stack.clear();
    if !value.is_nil() {
        stack.extend([Value::Integer(index), value]);
    }
}

/// Cuts the results to three.
fn three<'gc>(stack: &mut Stack<'gc, '_>) {
    stack.resize(3);
}
