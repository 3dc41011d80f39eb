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
    ("find", find::find),
    ("format", format),
    ("gmatch", find::gmatch),
    ("gsub", gsub::gsub),
    ("len", len),
    ("lower", lower),
    ("match", find::find_match),
    ("pack", pack),
    ("packsize", packsize),
    ("rep", rep),
    ("reverse", reverse),
    ("sub", sub),
    ("unpack", unpack),
    ("upper", upper),
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
    let mut budget = call.budget();
    let bytes = bytes::string::byte(text.as_bytes(), first, last, &mut budget);
    let bytes = call.settle(&budget, bytes)?;
    call.done_all(bytes.iter().map(|byte| Value::Integer(i64::from(*byte))))
}

fn char<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let codes: Vec<_> = call.stack.into_iter().map(argument).collect();
    let mut budget = call.budget();
    let text = bytes::string::char(&codes, &mut budget);
    let text = call.settle(&budget, text)?;
    let text = new_string(call.ctx, text);
    call.done(text)
}

fn format<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    call.check_string(1)?;
    text::with_texts(call, format_texts)
}

fn format_texts<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
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
    let mut budget = call.budget();
    let text = bytes::format::format(format.as_bytes(), &arguments, &mut budget);
    let text = call.settle(&budget, text)?;
    let text = new_string(call.ctx, text);
    call.done(text)
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
    let part = new_string(call.ctx, part.to_vec());
    call.done(part)
}

fn rep<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let (text, count) = (call.check_string(1)?, call.check_int(2)?);
    let separator = call.opt_string(3)?;
    let separator = separator.as_ref().map_or(&b""[..], |separator| separator.as_bytes());
    let mut budget = call.budget();
    let text = bytes::string::rep(text.as_bytes(), count, separator, &mut budget);
    let text = call.settle(&budget, text)?;
    let text = new_string(call.ctx, text);
    call.done(text)
}

type Change = fn(&[u8], &mut bytes::Budget) -> Result<Vec<u8>, bytes::Error>;

fn changed<'gc>(mut call: Call<'gc, '_>, change: Change) -> Outcome<'gc> {
    let text = call.check_string(1)?;
    let mut budget = call.budget();
    let text = change(text.as_bytes(), &mut budget);
    let text = call.settle(&budget, text)?;
    let text = new_string(call.ctx, text);
    call.done(text)
}

fn lower<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    changed(call, bytes::string::lower)
}

fn upper<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    changed(call, bytes::string::upper)
}

fn reverse<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    changed(call, bytes::string::reverse)
}

fn pack<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let format = call.check_string(1)?;
    let arguments: Vec<_> = call.stack.into_iter().skip(1).map(argument).collect();
    let mut budget = call.budget();
    let packed = pack::pack(format.as_bytes(), &arguments, &mut budget);
    let packed = call.settle(&budget, packed)?;
    let packed = new_string(call.ctx, packed);
    call.done(packed)
}

fn packsize<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let format = call.check_string(1)?;
    let mut budget = call.budget();
    let size = pack::packsize(format.as_bytes(), &mut budget);
    let size = call.settle(&budget, size)?;
    call.done(i64::try_from(size).unwrap_or(i64::MAX))
}

fn unpack<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let (format, data) = (call.check_string(1)?, call.check_string(2)?);
    let position = call.opt_int(3, 1)?;
    let mut budget = call.budget();
    let unpacked = pack::unpack(format.as_bytes(), data.as_bytes(), position, &mut budget);
    let (values, behind) = call.settle(&budget, unpacked)?;
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
