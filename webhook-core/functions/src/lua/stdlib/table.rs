//! The `table` library, without `sort`. As in Lua 5.1 it does not ask metatables.

use std::time::Instant;

use piccolo::{CallbackReturn, Error, Table, Value};

use super::concat::{append, is_text};
use crate::lua::{
    bytes::number::Number,
    vm::{
        Limit,
        call::{Call, Native, Outcome, set_field},
    },
};

pub(super) const FUNCTIONS: &[(&str, Native)] = &[
    ("concat", concat),
    ("insert", insert),
    ("maxn", maxn),
    ("move", shift),
    ("pack", pack),
    ("remove", remove),
    ("unpack", unpack),
];

fn set<'gc>(
    call: &Call<'gc, '_>,
    table: Table<'gc>,
    index: i64,
    value: Value<'gc>,
) -> Result<(), Error<'gc>> {
    call.raw_set(table, Value::Integer(index), value)
}

fn concat<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let table = call.check_table(1)?;
    let separator = call.opt_string(2)?;
    let separator = separator.as_ref().map_or(&b""[..], |separator| separator.as_bytes());
    let first = call.opt_int(3, 1)?;
    let last = call.opt_int(4, table.length())?;
    let mut joined = Vec::new();
    let mut index = first;
    while index <= last {
        let value = table.get_value(Value::Integer(index));
        if !is_text(value) {
            let kind = value.type_name();
            let reason = format!("invalid value ({kind}) at index {index} in table for 'concat'");
            return Err(call.fail(reason));
        }
        append(value, &mut joined);
        if index != last {
            joined.extend_from_slice(separator);
        }
        if joined.len() > call.host.limits.string_bytes {
            return Err(call.exceed(Limit::StringBytes));
        }
        let Some(next) = index.checked_add(1) else { break };
        index = next;
    }
    call.charge(last.saturating_sub(first).max(0).unsigned_abs().min(1 << 30) / 4);
    call.done_string(joined)
}

fn insert<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let table = call.check_table(1)?;
    let end = table.length().wrapping_add(1);
    let (position, value) = match call.stack.len() {
        2 => (end, call.arg(2)),
        3 => {
            let position = call.check_int(2)?;
            if position < 1 || position > end {
                return Err(call.bad_argument(2, "position out of bounds"));
            }
            (position, call.arg(3))
        }
        _ => return Err(call.fail("wrong number of arguments to 'insert'")),
    };
    call.charge(end.saturating_sub(position).unsigned_abs() / 4);
    let mut index = end;
    while index > position {
        let moved = table.get_value(Value::Integer(index - 1));
        set(&call, table, index, moved)?;
        index -= 1;
    }
    set(&call, table, position, value)?;
    call.done_all([])
}

fn remove<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let table = call.check_table(1)?;
    let size = table.length();
    let position = call.opt_int(2, size)?;
    if call.stack.len() > 1
        && size.wrapping_add(1) != position
        && (position < 1 || position > size)
        && !(size == 0 && position == 0)
    {
        return Err(call.bad_argument(2, "position out of bounds"));
    }
    call.charge(size.saturating_sub(position).max(0).unsigned_abs() / 4);
    let removed = table.get_value(Value::Integer(position));
    let mut index = position;
    while index < size {
        let moved = table.get_value(Value::Integer(index + 1));
        set(&call, table, index, moved)?;
        index += 1;
    }
    if index <= size || !removed.is_nil() {
        set(&call, table, index, Value::Nil)?;
    }
    call.done(removed)
}

fn maxn<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let table = call.check_table(1)?;
    let mut largest = Number::Int(0);
    let mut count = 0;
    for (key, _) in table {
        count += 1;
        let number = match key {
            Value::Integer(key) => Number::Int(key),
            Value::Number(key) => Number::Float(key),
            _ => continue,
        };
        if number.to_float() > largest.to_float() {
            largest = number;
        }
    }
    call.charge(count);
    call.done(crate::lua::vm::call::number_value(largest))
}

fn shift<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let from = call.check_table(1)?;
    let (first, last, target) = (call.check_int(2)?, call.check_int(3)?, call.check_int(4)?);
    let into = if call.arg(5).is_nil() { from } else { call.check_table(5)? };
    if last < first {
        return call.done(into);
    }
    let count = match last.checked_sub(first) {
        Some(count) if count < i64::MAX => count,
        _ => return Err(call.bad_argument(3, "too many elements to move")),
    };
    if target.checked_add(count).is_none() {
        return Err(call.bad_argument(4, "destination wrap around"));
    }
    // Each costs fuel; a count beyond any budget is refused before any work.
    if count.unsigned_abs() > call.host.limits.fuel {
        return Err(call.exceed(Limit::Fuel));
    }
    call.charge(count.unsigned_abs());
    let overlaps = from == into && target > first && target <= last;
    let order: Box<dyn Iterator<Item = i64>> =
        if overlaps { Box::new((0..=count).rev()) } else { Box::new(0..=count) };
    let deadline = call.compute_deadline();
    for (done, offset) in order.enumerate() {
        if done % 4096 == 4095 {
            if call.room() == 0 {
                return Err(call.exceed(Limit::Memory));
            }
            if Instant::now() >= deadline {
                return Err(call.exceed(Limit::ComputeTime));
            }
        }
        let value = from.get_value(Value::Integer(first + offset));
        set(&call, into, target + offset, value)?;
    }
    call.done(into)
}

pub(super) fn pack<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let packed = Table::new(&call.ctx);
    let count = call.stack.len();
    call.charge(count as u64 / 4);
    for (index, value) in (1..).zip(&call.stack) {
        // Only nil and NaN are refused as keys.
        let _ = packed.set_value(&call.ctx, Value::Integer(index), value);
    }
    set_field(call.ctx, packed, "n", i64::try_from(count).unwrap_or(i64::MAX));
    call.done(packed)
}

pub(super) fn unpack<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let table = call.check_table(1)?;
    let first = call.opt_int(2, 1)?;
    let last = call.opt_int(3, table.length())?;
    call.stack.clear();
    if first > last {
        return Ok(CallbackReturn::Return);
    }
    let count = last.checked_sub(first).and_then(|count| usize::try_from(count).ok());
    match count {
        Some(count) if count < call.host.limits.unpacked_values => {
            call.charge(count as u64 / 4);
            for index in first..=last {
                call.stack.push_back(table.get_value(Value::Integer(index)));
            }
            Ok(CallbackReturn::Return)
        }
        _ => Err(call.exceed(Limit::UnpackedValues)),
    }
}
