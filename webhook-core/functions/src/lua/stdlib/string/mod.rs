//! The `string` library.

mod find;
mod gsub;

use piccolo::{CallbackReturn, Value};

use super::text;
use crate::lua::{
    bytes::{self, Arg, pack},
    vm::call::{Call, Native, Outcome, new_string},
};

pub(super) const FUNCTIONS: &[(&str, Native)] = &[
    ("byte", byte),
    ("char", char),
    ("find", |call| find::search(call, true)),
    ("format", format),
    ("gmatch", find::gmatch),
    ("gsub", gsub::gsub),
    ("len", len),
    ("lower", |call| changed(call, bytes::string::lower)),
    ("match", |call| find::search(call, false)),
    ("pack", pack),
    ("packsize", packsize),
    ("rep", rep),
    ("reverse", |call| changed(call, bytes::string::reverse)),
    ("sub", sub),
    ("unpack", unpack),
    ("upper", |call| changed(call, bytes::string::upper)),
];

/// A value as the functions over bytes see it. Tables and such have no text.
pub(super) fn argument<'gc>(value: Value<'gc>) -> Arg<'gc> {
    match value {
        Value::Nil => Arg::Nil,
        Value::Boolean(value) => Arg::Bool(value),
        Value::Integer(value) => Arg::Int(value),
        Value::Number(value) => Arg::Float(value),
        Value::String(text) => Arg::Bytes(text.as_bytes()),
        other => Arg::Other { type_name: other.type_name(), text: b"" },
    }
}

fn byte<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let text = call.check_string(1)?;
    let first = call.opt_int(2, 1)?;
    let last = call.opt_int(3, first)?;
    let bytes = call.compute(|budget| bytes::string::byte(text.as_bytes(), first, last, budget))?;
    call.done_all(bytes.iter().map(|byte| Value::Integer(i64::from(*byte))))
}

fn char<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    let codes: Vec<_> = call.stack.into_iter().map(argument).collect();
    call.done_computed(|budget| bytes::string::char(&codes, budget))
}

fn format<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    call.check_string(1)?;
    text::with_texts(call, format_texts)
}

fn format_texts<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    let format = call.check_string(1)?;
    let texts: Vec<_> = call
        .stack
        .into_iter()
        .skip(1)
        .map(|value| match argument(value) {
            Arg::Other { .. } => text::named_plain(call.ctx, value),
            _ => Vec::new(),
        })
        .collect();
    let values = call.stack.into_iter().skip(1).zip(&texts);
    let arguments: Vec<_> = values
        .map(|(value, text)| match argument(value) {
            Arg::Other { type_name, .. } => Arg::Other { type_name, text },
            plain => plain,
        })
        .collect();
    call.done_computed(|budget| bytes::format::format(format.as_bytes(), &arguments, budget))
}

fn len<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    let length = call.check_string(1)?.len();
    call.done(length)
}

fn sub<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let text = call.check_string(1)?;
    let (first, last) = (call.check_int(2)?, call.opt_int(3, -1)?);
    let part = bytes::string::sub(text.as_bytes(), first, last);
    if part.len() == text.as_bytes().len() {
        return call.done(text);
    }
    call.charge_bytes(part.len());
    call.done_text(part.to_vec())
}

fn rep<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    let (text, count) = (call.check_string(1)?, call.check_int(2)?);
    let separator = call.opt_string(3)?;
    let separator = separator.as_ref().map_or(&b""[..], |separator| separator.as_bytes());
    call.done_computed(|budget| bytes::string::rep(text.as_bytes(), count, separator, budget))
}

type Change = fn(&[u8], &mut bytes::Budget) -> Result<Vec<u8>, bytes::Error>;

fn changed<'gc>(call: Call<'gc, '_>, change: Change) -> Outcome<'gc> {
    let text = call.check_string(1)?;
    call.done_computed(|budget| change(text.as_bytes(), budget))
}

fn pack<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    let format = call.check_string(1)?;
    let arguments: Vec<_> = call.stack.into_iter().skip(1).map(argument).collect();
    call.done_computed(|budget| pack::pack(format.as_bytes(), &arguments, budget))
}

fn packsize<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let format = call.check_string(1)?;
    let size = call.compute(|budget| pack::packsize(format.as_bytes(), budget))?;
    call.done(i64::try_from(size).unwrap_or(i64::MAX))
}

fn unpack<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let (format, data) = (call.check_string(1)?, call.check_string(2)?);
    let position = call.opt_int(3, 1)?;
    let (values, behind) =
        call.compute(|budget| pack::unpack(format.as_bytes(), data.as_bytes(), position, budget))?;
    call.stack.clear();
    for value in values {
        call.stack.push_back(match value {
            pack::Unpacked::Int(value) => Value::Integer(value),
            pack::Unpacked::Float(value) => Value::Number(value),
            pack::Unpacked::Bytes(bytes) => new_string(call.ctx, bytes.to_vec()).into(),
        });
    }
    call.stack.push_back(Value::Integer(behind));
    Ok(CallbackReturn::Return)
}
