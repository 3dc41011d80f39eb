//! Operators where the VM's own differ from Lua's, with metamethods and messages.

use piccolo::Value;

use super::{
    numbers::{Arithmetic, arithmetic},
    sequence::{binary_metamethod, call_one},
};
use crate::lua::{
    bytes::number::{Number, float_to_integer},
    compile::Use,
    vm::call::{Call, Outcome, number_value, to_number},
};

pub(super) fn calculate<'gc>(
    call: Call<'gc, '_>,
    op: Arithmetic,
    event: &'static str,
) -> Outcome<'gc> {
    let (left, right) = (call.arg(1), call.arg(2));
    match (to_number(left), to_number(right)) {
        (Some(left), Some(right)) => match arithmetic(op, left, right) {
            Ok(number) => call.done(number_value(number)),
            Err(message) => Err(call.fail(message)),
        },
        (left_number, _) => {
            if let Some(function) = binary_metamethod(call.ctx, left, right, event) {
                return call_one(call, function, [left, right], |value| value);
            }
            if matches!(left, Value::String(_)) || matches!(right, Value::String(_)) {
                let (verb, left, right) =
                    (event.trim_start_matches('_'), left.type_name(), right.type_name());
                return Err(call.fail(format!("attempt to {verb} a '{left}' with a '{right}'")));
            }
            let (index, wrong) = if left_number.is_none() { (0, left) } else { (1, right) };
            Err(call.use_error("perform arithmetic on", Use::Operand(index), wrong))
        }
    }
}

pub(super) fn negate<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    let operand = call.arg(1);
    match to_number(operand) {
        Some(Number::Int(value)) => call.done(value.wrapping_neg()),
        Some(Number::Float(value)) => call.done(-value),
        None => match binary_metamethod(call.ctx, operand, operand, "__unm") {
            Some(function) => call_one(call, function, [operand, operand], |value| value),
            None => Err(call.use_error("perform arithmetic on", Use::Operand(0), operand)),
        },
    }
}

pub(super) fn bit_not<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let operand = call.arg(1);
    call.stack.clear();
    call.stack.extend([operand, operand]);
    bits(call, "__bnot", |operand, _| !operand)
}

pub(super) fn bits<'gc>(
    call: Call<'gc, '_>,
    event: &'static str,
    with: fn(i64, i64) -> i64,
) -> Outcome<'gc> {
    let (left, right) = (call.arg(1), call.arg(2));
    // Strings are numbers for arithmetic only.
    let number = |value| match value {
        Value::String(_) => None,
        value => to_number(value),
    };
    let numbers = (number(left), number(right));
    if let (Some(left), Some(right)) = numbers {
        return match (left.to_integer(), right.to_integer()) {
            (Some(left), Some(right)) => call.done(with(left, right)),
            _ => Err(call.fail("number has no integer representation")),
        };
    }
    if let Some(function) = binary_metamethod(call.ctx, left, right, event) {
        return call_one(call, function, [left, right], |value| value);
    }
    let (index, wrong) = if numbers.0.is_none() { (0, left) } else { (1, right) };
    Err(call.use_error("perform bitwise operation on", Use::Operand(index), wrong))
}

/// `@for(start, limit, step)`: the three numbers as the VM's loop needs them.
pub(super) fn for_prepare<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    // As in 5.4, a text counts in floats, but as a limit it is an integer where it can be.
    let number = |value: Value<'gc>| match value {
        Value::String(_) => to_number(value).map(|number| Number::Float(number.to_float())),
        value => to_number(value),
    };
    let wrong = |index: usize, what: &str| {
        let got = call.arg(index).type_name();
        call.fail(format!("bad 'for' {what} (number expected, got {got})"))
    };
    let start = number(call.arg(1)).ok_or_else(|| wrong(1, "initial value"))?;
    let limit = number(call.arg(2)).ok_or_else(|| wrong(2, "limit"))?;
    let step = number(call.arg(3)).ok_or_else(|| wrong(3, "step"))?;
    if step.to_float() == 0.0 {
        return Err(call.fail("'for' step is zero"));
    }
    let (Number::Int(start), Number::Int(step)) = (start, step) else {
        let (first, last) = (start.to_float(), limit.to_float());
        // The VM takes NaN for a number that is not past the end.
        let runs = if step.to_float() > 0.0 { first <= last } else { first >= last };
        if !runs {
            return call.done_all([1, 0, 1].map(Value::Integer));
        }
        let bounds = [start, limit, step].map(|bound| Value::Number(bound.to_float()));
        return call.done_all(bounds);
    };
    let limit = match limit {
        Number::Int(limit) => Some(limit),
        Number::Float(limit) => clip(limit, step > 0),
    };
    let runs = limit.is_some_and(|limit| if step > 0 { start <= limit } else { start >= limit });
    let Some(limit) = limit.filter(|_| runs) else {
        return call.done_all([1, 0, 1].map(Value::Integer));
    };
    // The VM counts one step beyond both ends.
    if start.checked_sub(step).is_none() || limit.checked_add(step).is_none() {
        return Err(call.fail("'for' runs too close to the largest integer"));
    }
    call.done_all([start, limit, step].map(Value::Integer))
}

/// The last integer inside a float limit; `None` when there is none.
fn clip(limit: f64, upwards: bool) -> Option<i64> {
    let whole = if upwards { limit.floor() } else { limit.ceil() };
    match float_to_integer(whole) {
        Some(limit) => Some(limit),
        None if limit.is_nan() => None,
        // Beyond all integers, but leaving room for a step of usual size.
        None if limit > 0.0 => upwards.then_some(i64::MAX - (1 << 32)),
        None => (!upwards).then_some(i64::MIN + (1 << 32)),
    }
}
