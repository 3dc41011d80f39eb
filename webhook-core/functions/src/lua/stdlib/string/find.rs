//! `find`, `match` and `gmatch`.

use std::{cell::RefCell, rc::Rc};

use gc_arena::Collect;
use piccolo::{Callback, CallbackReturn, Context, Error, String, Value};

use crate::lua::{
    bytes::{
        self, Budget,
        pattern::{self, Captured, GMatch, Match},
    },
    vm::call::{Call, Outcome, new_string},
};

pub(super) fn find<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    search(call, true)
}

pub(super) fn find_match<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    search(call, false)
}

fn search<'gc>(mut call: Call<'gc, '_>, positions: bool) -> Outcome<'gc> {
    let (text, pattern) = (call.check_string(1)?, call.check_string(2)?);
    let init = call.opt_int(3, 1)?;
    let plain = positions && call.arg(4).to_bool();
    let mut budget = call.budget();
    let (text, pattern) = (text.as_bytes(), pattern.as_bytes());
    let found = pattern::find(text, pattern, init, plain, &mut budget);
    let Some(found) = call.settle(&budget, found)? else { return call.done(Value::Nil) };
    call.stack.clear();
    if positions {
        let (first, last) = found.lua_range();
        call.stack.extend([Value::Integer(first), Value::Integer(last)]);
        if found.captures() == 0 {
            return Ok(CallbackReturn::Return);
        }
    }
    push_values(&mut call, &found, text)?;
    Ok(CallbackReturn::Return)
}

/// Pushes the captures of a match, or the whole of it when there are none.
fn push_values<'gc>(
    call: &mut Call<'gc, '_>,
    found: &Match,
    text: &[u8],
) -> Result<(), Error<'gc>> {
    for index in 0..found.values() {
        let value = capture(call.ctx, found, text, index);
        let value = value.map_err(|error| call.bytes_error(&error))?;
        call.stack.push_back(value);
    }
    let captured = found.range().len();
    call.charge_bytes(captured);
    Ok(())
}

/// One of the values of a match.
pub(super) fn capture<'gc>(
    ctx: Context<'gc>,
    found: &Match,
    text: &[u8],
    index: usize,
) -> Result<Value<'gc>, bytes::Error> {
    Ok(match found.value(text, index)? {
        Captured::Bytes(bytes) => new_string(ctx, bytes.to_vec()).into(),
        Captured::Position(position) => Value::Integer(position),
    })
}

#[derive(Collect)]
#[collect(no_drop)]
struct Matches<'gc> {
    text: String<'gc>,
    pattern: String<'gc>,
    #[collect(require_static)]
    state: RefCell<(GMatch, Budget)>,
}

pub(super) fn gmatch<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    let (text, pattern) = (call.check_string(1)?, call.check_string(2)?);
    let state = GMatch::new(call.opt_int(3, 1)?, text.as_bytes().len());
    let state = RefCell::new((state, call.budget()));
    let host = Rc::clone(call.host);
    let matches = Matches { text, pattern, state };
    let next = Callback::from_fn_with(&call.ctx, matches, move |matches, ctx, exec, stack| {
        let mut call = Call {
            host: &host,
            name: "gmatch",
            method: false,
            origin: host.origin.take(),
            ctx,
            exec,
            stack,
        };
        let (text, pattern) = (matches.text.as_bytes(), matches.pattern.as_bytes());
        let found = {
            let (state, budget) = &mut *matches.state.borrow_mut();
            let before = budget.steps_used();
            let found = state.next(text, pattern, budget);
            call.charge(budget.steps_used() - before);
            found
        };
        call.stack.clear();
        match found {
            Ok(Some(found)) => push_values(&mut call, &found, text)?,
            Ok(None) => call.stack.push_back(Value::Nil),
            Err(error) => return Err(call.bytes_error(&error)),
        }
        Ok(CallbackReturn::Return)
    });
    call.done(next)
}
