//! `<`, `<=` and their mirrors.

use std::cmp::Ordering;

use piccolo::{Context, Value};

use super::{
    numbers::compare_mixed,
    sequence::{binary_metamethod, call_one},
};
use crate::lua::vm::call::{Call, Outcome, type_name};

/// `<`, with `mirrored` `>`, and with `or_equal` what else holds for equal values.
pub(super) fn compare<'gc>(
    mut call: Call<'gc, '_>,
    mirrored: bool,
    or_equal: bool,
) -> Outcome<'gc> {
    let (left, right) = (call.arg(1), call.arg(2));
    let (left, right) = if mirrored { (right, left) } else { (left, right) };
    if let (Value::String(left), Value::String(right)) = (left, right) {
        call.charge_bytes(left.as_bytes().len().min(right.as_bytes().len()));
    }
    if let Some(ordering) = order(left, right) {
        let holds = match ordering {
            Some(Ordering::Less) => true,
            Some(Ordering::Equal) => or_equal,
            Some(Ordering::Greater) | None => false,
        };
        return call.done(holds);
    }
    let event = if or_equal { "__le" } else { "__lt" };
    match binary_metamethod(call.ctx, left, right, event) {
        Some(function) => call_one(call, function, [left, right], |value| value.to_bool().into()),
        None => match binary_metamethod(call.ctx, right, left, "__lt").filter(|_| or_equal) {
            // As in 5.1: `a <= b` is `not (b < a)`.
            Some(function) => {
                call_one(call, function, [right, left], |value| (!value.to_bool()).into())
            }
            None => Err(call.fail(not_comparable(call.ctx, left, right))),
        },
    }
}

/// The order of two numbers or two strings, where NaN has none; `None` for other values.
pub(super) fn order(left: Value<'_>, right: Value<'_>) -> Option<Option<Ordering>> {
    Some(match (left, right) {
        (Value::Integer(left), Value::Integer(right)) => Some(left.cmp(&right)),
        (Value::Number(left), Value::Number(right)) => left.partial_cmp(&right),
        (Value::Integer(left), Value::Number(right)) => compare_mixed(left, right),
        (Value::Number(left), Value::Integer(right)) => {
            compare_mixed(right, left).map(Ordering::reverse)
        }
        (Value::String(left), Value::String(right)) => Some(left.as_bytes().cmp(right.as_bytes())),
        _ => return None,
    })
}

pub(super) fn not_comparable<'gc>(
    ctx: Context<'gc>,
    left: Value<'gc>,
    right: Value<'gc>,
) -> String {
    let (left, right) = (type_name(ctx, left), type_name(ctx, right));
    if left == right {
        format!("attempt to compare two {left} values")
    } else {
        format!("attempt to compare {left} with {right}")
    }
}
