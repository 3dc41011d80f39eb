//! `kv`: what a function keeps between its calls.

use piccolo::{Error, Value};
use webhook_core::store::KvValue;

use super::waiting::wait;
use crate::{
    lua::{
        vm::{
            Limit,
            call::{Call, Native, Outcome, to_string},
        },
        wait::{Answer, Wish},
    },
    modules::{
        ModuleError,
        kv::{Kv, KvRequest, NO_STORE},
    },
};

pub(super) const FUNCTIONS: &[(&str, Native)] =
    &[("delete", delete), ("get", get), ("incr", increment), ("set", set)];

/// `kv.get(key)`: the value, or nil.
fn get<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let key = call.check_text(1)?;
    count(&mut call)?;
    ask(call, |kv| kv.get(&key))
}

/// `kv.set(key, value, seconds)`: true. Nil for a value removes the key.
fn set<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let key = call.check_text(1)?;
    let value = match call.check_any(2)? {
        Value::Nil => None,
        value => match to_string(call.ctx, value) {
            Some(text) => Some(text.as_bytes().to_vec()),
            None => return Err(call.expected(2, "string")),
        },
    };
    let seconds = seconds(&call, 3)?;
    count(&mut call)?;
    ask(call, |kv| match value {
        Some(value) => kv.set(&key, value, seconds),
        None => kv.remove(&key),
    })
}

/// `kv.incr(key, by, seconds)`: the number afterwards.
fn increment<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let (key, by) = (call.check_text(1)?, call.opt_int(2, 1)?);
    let seconds = seconds(&call, 3)?;
    count(&mut call)?;
    ask(call, |kv| kv.increment(&key, by, seconds))
}

/// `kv.delete(key)`: true.
fn delete<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let key = call.check_text(1)?;
    count(&mut call)?;
    ask(call, |kv| kv.remove(&key))
}

fn seconds<'gc>(call: &Call<'gc, '_>, index: usize) -> Result<Option<f64>, Error<'gc>> {
    match call.arg(index) {
        Value::Nil => Ok(None),
        _ => call.check_float(index).map(Some),
    }
}

/// Counts the operation against the limit.
fn count<'gc>(call: &mut Call<'gc, '_>) -> Result<(), Error<'gc>> {
    let most = call.host.limits.kv_calls;
    call.count(|script| &mut script.kv_calls, 1, most, Limit::KvCalls)
}

fn ask<'gc>(
    call: Call<'gc, '_>,
    request: impl FnOnce(Kv<'_>) -> Result<KvRequest, ModuleError>,
) -> Outcome<'gc> {
    let owner = call.host.script.borrow().owner;
    let Some(owner) = owner else { return call.done_failed(NO_STORE) };
    let (now, limits) = (call.host.clock.now(), &*call.host.limits);
    match request(Kv { owner, now, limits }) {
        Ok(request) => {
            let then = match &request {
                KvRequest::Get(..) => found,
                KvRequest::Write(_) => written,
            };
            wait(call, Wish::Kv(request), then)
        }
        Err(error) => call.done_error(&error),
    }
}

fn found<'gc>(call: Call<'gc, '_>, answer: Answer) -> Outcome<'gc> {
    match kept(answer) {
        Ok(Some(value)) => call.done_string(value.into_bytes().to_vec()),
        Ok(None) => call.done(Value::Nil),
        Err(reason) => call.done_failed(&reason),
    }
}

/// A counter's number; true for what else was written.
fn written<'gc>(call: Call<'gc, '_>, answer: Answer) -> Outcome<'gc> {
    match kept(answer) {
        Ok(Some(KvValue::Number(number))) => call.done(number),
        Ok(_) => call.done(true),
        Err(reason) => call.done_failed(&reason),
    }
}

fn kept(answer: Answer) -> Result<Option<KvValue>, std::string::String> {
    match answer {
        Answer::Kv(answer) => answer,
        Answer::Sent(_) | Answer::Slept => Err(NO_STORE.to_owned()),
    }
}
