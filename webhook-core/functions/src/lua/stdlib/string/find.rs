//! `find`, `match` and `gmatch`.

use std::{cell::RefCell, rc::Rc};

use gc_arena::Collect;
use piccolo::{Callback, CallbackReturn, Error, String, Value};

use crate::lua::{
    bytes::{
        Budget,
        pattern::{self, Captured, GMatch, Match},
    },
    vm::call::{Call, Outcome, new_string},
};

/// `find`, which gives the positions of the match first, or `match`.
pub(super) fn search<'gc>(mut call: Call<'gc, '_>, positions: bool) -> Outcome<'gc> {
    let (text, pattern) = (call.check_string(1)?, call.check_string(2)?);
    let init = call.opt_int(3, 1)?;
    let plain = positions && call.arg(4).to_bool();
    let (text, pattern) = (text.as_bytes(), pattern.as_bytes());
    let found = call.compute(|budget| pattern::find(text, pattern, init, plain, budget))?;
    let Some(found) = found else { return call.done(Value::Nil) };
    call.stack.clear();
    if positions {
        let (first, last) = found.lua_range();
        call.stack.extend([Value::Integer(first), Value::Integer(last)]);
        if found.captures() == 0 {
            return Ok(CallbackReturn::Return);
        }
    }
    push_all(&mut call, &found, text)?;
    Ok(CallbackReturn::Return)
}

/// Pushes the captures of a match, or the whole of it when there are none.
fn push_all<'gc>(call: &mut Call<'gc, '_>, found: &Match, text: &[u8]) -> Result<(), Error<'gc>> {
    push_values(call, found, text, found.values())?;
    call.charge_bytes(found.range().len());
    Ok(())
}

/// Pushes the first `count` values of a match.
pub(super) fn push_values<'gc>(
    call: &mut Call<'gc, '_>,
    found: &Match,
    text: &[u8],
    count: usize,
) -> Result<(), Error<'gc>> {
    for index in 0..count {
        let value = found.value(text, index).map_err(|error| call.bytes_error(&error))?;
        call.stack.push_back(match value {
            Captured::Bytes(bytes) => new_string(call.ctx, bytes.to_vec()).into(),
            Captured::Position(position) => Value::Integer(position),
        });
    }
    Ok(())
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
        let call = Call::of(&host, "gmatch", ctx, exec, stack);
        let mut call = Call { origin: host.origin.take(), ..call };
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
            Ok(Some(found)) => push_all(&mut call, &found, text)?,
            Ok(None) => call.stack.push_back(Value::Nil),
            Err(error) => return Err(call.bytes_error(&error)),
        }
        Ok(CallbackReturn::Return)
    });
    call.done(next)
}
