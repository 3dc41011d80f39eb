//! The functions without a table.

use piccolo::{CallbackReturn, Table, Value};

use super::{sequence::metamethod, string::argument, text};
use crate::lua::{
    bytes::number,
    vm::{
        call::{Call, Native, Outcome, number_value, set_field},
        chain, guard, walk,
    },
};

pub(super) const FUNCTIONS: &[(&str, Native)] = &[
    ("assert", assert),
    ("collectgarbage", collectgarbage),
    ("getmetatable", getmetatable),
    ("log", print),
    ("print", print),
    ("rawequal", rawequal),
    ("rawget", rawget),
    ("rawlen", rawlen),
    ("rawset", rawset),
    ("require", crate::lua::modules::require),
    ("select", select),
    ("setmetatable", setmetatable),
    ("tonumber", tonumber),
    ("tostring", text::tostring),
    ("type", type_of),
];

fn assert<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    if call.check_any(1)?.to_bool() {
        return Ok(CallbackReturn::Return);
    }
    if call.stack.len() > 1 {
        return Err(match call.arg(2) {
            Value::String(message) => super::protected::prefixed(&call, message),
            other => other.into(),
        });
    }
    Err(call.fail("assertion failed!"))
}

fn collectgarbage<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    match call.opt_string(1)?.as_ref().map(piccolo::String::as_ref) {
        Some(b"count") => {
            let bytes = call.ctx.metrics().total_allocation();
            call.done(bytes as f64 / 1024.0)
        }
        // The host collects on its own.
        _ => call.done(0),
    }
}

fn getmetatable<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    let value = call.check_any(1)?;
    if let Some(instead) = metamethod(call.ctx, value, "__metatable") {
        return call.done(instead);
    }
    let metatable = match value {
        Value::Table(table) => guard::metatable(call.host, call.ctx, table),
        Value::String(_) => {
            let Some(string) = call.host.string_table(call.ctx) else {
                return call.done(Value::Nil);
            };
            let own = call.host.script.borrow().string.is_some();
            // The shared one may not be changed.
            let string = if own { string } else { super::copy(call.ctx, string) };
            let metatable = Table::new(&call.ctx);
            set_field(call.ctx, metatable, "__index", string);
            Some(metatable)
        }
        _ => None,
    };
    call.done(metatable.map_or(Value::Nil, Value::Table))
}

fn setmetatable<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let table = call.check_table(1)?;
    let metatable = match call.arg(2) {
        Value::Nil if call.stack.len() > 1 => None,
        Value::Table(metatable) => Some(metatable),
        _ => return Err(call.expected(2, "nil or table")),
    };
    if metamethod(call.ctx, table.into(), "__metatable").is_some() {
        return Err(call.fail("cannot change a protected metatable"));
    }
    let moved = guard::set_metatable(call.ctx, table, metatable);
    call.charge(moved);
    chain::metatable_set(&mut call, table);
    call.done(table)
}

/// `print` and `log`: a line of the captured output.
fn print<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    text::with_texts(call, print_texts)
}

fn print_texts<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let mut line = Vec::new();
    let room = call.host.limits.log_bytes;
    for (index, value) in call.stack.into_iter().enumerate() {
        if index > 0 {
            line.push(b'\t');
        }
        if line.len() > room {
            break;
        }
        line.extend_from_slice(&text::named_plain(call.ctx, value));
    }
    call.charge_bytes(line.len());
    call.host.log(&line);
    call.done_all([])
}

fn rawequal<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    call.check_any(1)?;
    call.check_any(2)?;
    let equal = raw_equal(call.arg(1), call.arg(2));
    call.done(equal)
}

/// Whether two values are the same one, without asking `__eq`.
pub(super) fn raw_equal<'gc>(left: Value<'gc>, right: Value<'gc>) -> bool {
    match (left, right) {
        (Value::Nil, Value::Nil) => true,
        (Value::Integer(integer), Value::Number(float))
        | (Value::Number(float), Value::Integer(integer)) => {
            number::float_to_integer(float) == Some(integer)
        }
        _ => walk::same_key(left, right),
    }
}

fn rawget<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    let value = call.check_table(1)?.get_value(call.check_any(2)?);
    call.done(value)
}

fn rawlen<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    match call.arg(1) {
        Value::Table(table) => call.done(table.length()),
        Value::String(text) => call.done(text.len()),
        _ => Err(call.bad_argument(1, "table or string expected")),
    }
}

fn rawset<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let table = call.check_table(1)?;
    let (key, value) = (call.check_any(2)?, call.check_any(3)?);
    call.raw_set(table, key, value)?;
    if let Value::String(key) = key {
        chain::note(&mut call, table, key);
    }
    call.done(table)
}

fn select<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let count = call.stack.len().saturating_sub(1);
    if matches!(call.arg(1), Value::String(text) if text.as_bytes() == b"#") {
        return call.done(i64::try_from(count).unwrap_or(i64::MAX));
    }
    let index = call.check_int(1)?;
    let skipped = if index > 0 {
        usize::try_from(index).unwrap_or(usize::MAX).min(count + 1)
    } else {
        let from_end = usize::try_from(index.unsigned_abs()).unwrap_or(usize::MAX);
        match count.checked_sub(from_end) {
            Some(before) if index < 0 => before + 1,
            _ => return Err(call.bad_argument(1, "index out of range")),
        }
    };
    call.stack.drain(..skipped.min(call.stack.len()));
    let left = call.stack.len() as u64;
    call.charge(left / 8);
    Ok(CallbackReturn::Return)
}

fn tonumber<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let value = call.check_any(1)?;
    let base = call.maybe_int(2)?;
    let number = call.compute(|budget| number::to_number(argument(value), base, budget))?;
    call.done(number.map_or(Value::Nil, number_value))
}

fn type_of<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    let name = call.check_any(1)?.type_name();
    let name = call.ctx.intern_static(name.as_bytes());
    call.done(name)
}
