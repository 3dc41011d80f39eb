//! The `utf8` library.

use std::rc::Rc;

use piccolo::{Context, String, Table, Value};

use super::string::argument;
use crate::lua::{
    bytes::utf8,
    vm::{
        call::{Call, Native, Outcome, library, native, new_string, set_field},
        host::Host,
    },
};

const FUNCTIONS: &[(&str, Native)] =
    &[("char", char), ("codepoint", codepoint), ("codes", codes), ("len", len), ("offset", offset)];

pub(super) fn open<'gc>(ctx: Context<'gc>, host: &Rc<Host>) -> Table<'gc> {
    let table = library(ctx, host, FUNCTIONS);
    set_field(ctx, table, "charpattern", String::from_static(&ctx, utf8::CHAR_PATTERN));
    table
}

fn char<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let codes: Vec<_> = call.stack.into_iter().map(argument).collect();
    let mut budget = call.budget();
    let text = utf8::char(&codes, &mut budget);
    let text = call.settle(&budget, text)?;
    let text = new_string(call.ctx, text);
    call.done(text)
}

fn codepoint<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let text = call.check_string(1)?;
    let first = call.opt_int(2, 1)?;
    let last = if call.arg(3).is_nil() { None } else { Some(call.check_int(3)?) };
    let lax = call.arg(4).to_bool();
    let mut budget = call.budget();
    let codes = utf8::codepoint(text.as_bytes(), first, last, lax, &mut budget);
    let codes = call.settle(&budget, codes)?;
    call.done_all(codes.into_iter().map(|code| Value::Integer(i64::from(code))))
}

fn len<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let text = call.check_string(1)?;
    let (first, last) = (call.opt_int(2, 1)?, call.opt_int(3, -1)?);
    let lax = call.arg(4).to_bool();
    let mut budget = call.budget();
    let count = utf8::len(text.as_bytes(), first, last, lax, &mut budget);
    match call.settle(&budget, count)? {
        Ok(count) => call.done(count),
        Err(position) => call.done_all([Value::Nil, Value::Integer(position)]),
    }
}

fn offset<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let text = call.check_string(1)?;
    let n = call.check_int(2)?;
    let from = if call.arg(3).is_nil() { None } else { Some(call.check_int(3)?) };
    let mut budget = call.budget();
    let offset = utf8::offset(text.as_bytes(), n, from, &mut budget);
    let offset = call.settle(&budget, offset)?;
    call.done(offset.map_or(Value::Nil, Value::Integer))
}

fn codes<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    let text = call.check_string(1)?;
    let step = if call.arg(2).to_bool() { step_lax } else { step_strict };
    let step = native(call.ctx, call.host, "codes", step);
    call.done_all([step.into(), text.into(), Value::Integer(0)])
}

fn step_strict<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    step(call, false)
}

fn step_lax<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    step(call, true)
}

fn step<'gc>(mut call: Call<'gc, '_>, lax: bool) -> Outcome<'gc> {
    let (text, after) = (call.check_string(1)?, call.check_int(2)?);
    let mut budget = call.budget();
    let next = utf8::next_code(text.as_bytes(), after, lax, &mut budget);
    match call.settle(&budget, next)? {
        Some((position, code)) => {
            call.done_all([Value::Integer(position), Value::Integer(i64::from(code))])
        }
        None => call.done(Value::Nil),
    }
}
