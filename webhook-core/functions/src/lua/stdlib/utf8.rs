//! The `utf8` library.

use std::rc::Rc;

use piccolo::{Context, String, Table, Value};

use super::string::argument;
use crate::lua::{
    bytes::utf8,
    vm::{
        call::{Call, Native, Outcome, library, native, set_field},
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

fn char<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    let codes: Vec<_> = call.stack.into_iter().map(argument).collect();
    call.done_computed(|budget| utf8::char(&codes, budget))
}

fn codepoint<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let text = call.check_string(1)?;
    let first = call.opt_int(2, 1)?;
    let (last, lax) = (call.maybe_int(3)?, call.arg(4).to_bool());
    let codes =
        call.compute(|budget| utf8::codepoint(text.as_bytes(), first, last, lax, budget))?;
    call.done_all(codes.into_iter().map(|code| Value::Integer(i64::from(code))))
}

fn len<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let text = call.check_string(1)?;
    let (first, last) = (call.opt_int(2, 1)?, call.opt_int(3, -1)?);
    let lax = call.arg(4).to_bool();
    match call.compute(|budget| utf8::len(text.as_bytes(), first, last, lax, budget))? {
        Ok(count) => call.done(count),
        Err(position) => call.done_all([Value::Nil, Value::Integer(position)]),
    }
}

fn offset<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let text = call.check_string(1)?;
    let (n, from) = (call.check_int(2)?, call.maybe_int(3)?);
    let offset = call.compute(|budget| utf8::offset(text.as_bytes(), n, from, budget))?;
    call.done(offset.map_or(Value::Nil, Value::Integer))
}

fn codes<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    let text = call.check_string(1)?;
    let lax = call.arg(2).to_bool();
    let step: Native = if lax { |call| step(call, true) } else { |call| step(call, false) };
    let step = native(call.ctx, call.host, "codes", step);
    call.done_all([step.into(), text.into(), Value::Integer(0)])
}

fn step<'gc>(mut call: Call<'gc, '_>, lax: bool) -> Outcome<'gc> {
    let (text, after) = (call.check_string(1)?, call.check_int(2)?);
    match call.compute(|budget| utf8::next_code(text.as_bytes(), after, lax, budget))? {
        Some((position, code)) => {
            call.done_all([Value::Integer(position), Value::Integer(i64::from(code))])
        }
        None => call.done(Value::Nil),
    }
}
