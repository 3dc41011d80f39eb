//! `..`, which never builds a string that is too long.

use gc_arena::Collect;
use piccolo::{
    BoxSequence, CallbackReturn, Context, Error, Execution, Sequence, SequencePoll, Stack, String,
    Value,
};

use super::sequence::binary_metamethod;
use crate::lua::{
    bytes::number::{self, Number},
    compile::Use,
    vm::{
        Limit,
        call::{Call, Outcome, new_string},
    },
};

/// `@concat(a, b, …, nil)`; the last argument only keeps calls before it to one value.
pub(super) fn concat<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    call.stack.pop_back();
    let mut length = 0_usize;
    let mut wrong = None;
    for (index, value) in call.stack.into_iter().enumerate() {
        match value {
            Value::String(text) => length = length.saturating_add(text.as_bytes().len()),
            Value::Integer(_) | Value::Number(_) => length = length.saturating_add(24),
            other => wrong = Some((index, other)),
        }
    }
    match wrong {
        None if length > call.host.limits.string_bytes => Err(call.exceed(Limit::StringBytes)),
        None => {
            call.charge_bytes(length);
            let mut joined = Vec::with_capacity(length);
            for value in &call.stack {
                append(value, &mut joined);
            }
            call.done_text(joined)
        }
        Some((index, value)) => with_metamethods(call, index, value),
    }
}

/// Appends a text or a number.
pub(super) fn append(value: Value<'_>, out: &mut Vec<u8>) {
    match value {
        Value::String(text) => out.extend_from_slice(text.as_bytes()),
        Value::Integer(value) => number::write(Number::Int(value), out),
        Value::Number(value) => number::write(Number::Float(value), out),
        _ => {}
    }
}

pub(super) const fn is_text(value: Value<'_>) -> bool {
    matches!(value, Value::String(_) | Value::Integer(_) | Value::Number(_))
}

fn with_metamethods<'gc>(mut call: Call<'gc, '_>, index: usize, wrong: Value<'gc>) -> Outcome<'gc> {
    let any = call
        .stack
        .into_iter()
        .any(|value| super::sequence::metamethod(call.ctx, value, "__concat").is_some());
    if !any {
        let index = u8::try_from(index).unwrap_or(u8::MAX);
        return Err(call.use_error("concatenate", Use::Operand(index), wrong));
    }
    let operands = call.stack.into_iter().collect();
    call.stack.clear();
    let limit = call.host.limits.string_bytes;
    let then = Joining { operands, result: None, limit };
    Ok(CallbackReturn::Sequence(BoxSequence::new(&call.ctx, then)))
}

/// Joins from the right, two operands at a time.
#[derive(Collect)]
#[collect(no_drop)]
struct Joining<'gc> {
    operands: Vec<Value<'gc>>,
    result: Option<Value<'gc>>,
    limit: usize,
}

impl<'gc> Sequence<'gc> for Joining<'gc> {
    fn poll(
        &mut self,
        ctx: Context<'gc>,
        mut exec: Execution<'gc, '_>,
        mut stack: Stack<'gc, '_>,
    ) -> Result<SequencePoll<'gc>, Error<'gc>> {
        if self.result.is_some() {
            self.result = Some(stack.get(0));
        }
        stack.clear();
        loop {
            let right = match self.result.or_else(|| self.operands.pop()) {
                Some(right) => right,
                None => return Ok(SequencePoll::Return),
            };
            let Some(left) = self.operands.pop() else {
                stack.push_back(right);
                return Ok(SequencePoll::Return);
            };
            if is_text(left) && is_text(right) {
                let mut joined = Vec::new();
                append(left, &mut joined);
                append(right, &mut joined);
                exec.fuel().consume(i32::try_from(joined.len() / 32).unwrap_or(i32::MAX));
                if joined.len() > self.limit {
                    let message = Limit::StringBytes.name();
                    return Err(Value::from(String::from_slice(&ctx, message)).into());
                }
                self.result = Some(new_string(ctx, joined).into());
                continue;
            }
            let Some(function) = binary_metamethod(ctx, left, right, "__concat") else {
                let wrong = if is_text(left) { right } else { left };
                let message = format!("attempt to concatenate a {} value", wrong.type_name());
                return Err(super::super::vm::call::positioned(ctx, &exec, &message));
            };
            stack.extend([left, right]);
            self.result = Some(Value::Nil);
            return Ok(SequencePoll::Call { function, is_tail: false });
        }
    }
}
