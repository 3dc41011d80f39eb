//! `url`

use super::tree;
use crate::{
    lua::vm::call::{Call, Native, Outcome},
    modules::{ModuleError, url},
};

pub(super) const FUNCTIONS: &[(&str, Native)] = &[
    ("build", |call| written(call, url::build)),
    ("decode", decode),
    ("decode_query", decode_query),
    ("encode", encode),
    ("encode_query", |call| written(call, url::encode_query)),
    ("parse", parse),
];

fn parse<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let text = call.check_text(1)?;
    call.charge_bytes(text.len() * 4);
    call.done_tree(url::parse(&text))
}

/// Returns the text that `write` makes from a table.
fn written<'gc>(
    call: Call<'gc, '_>,
    write: fn(&serde_json::Value, usize) -> Result<String, ModuleError>,
) -> Outcome<'gc> {
    let parts = call.check_table(1)?;
    let tree = tree::from_lua(call.host, call.ctx, parts.into(), &mut call.bounds());
    let longest = call.host.limits.string_bytes;
    let text = tree.and_then(|parts| write(&parts, longest));
    call.done_bytes(text.map(String::into_bytes))
}

fn encode<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    let text = call.check_string(1)?;
    call.done_string(url::encode(text.as_bytes()).into_bytes())
}

fn decode<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let text = call.check_string(1)?;
    call.charge_bytes(text.as_bytes().len());
    call.done_text(url::decode(text.as_bytes()))
}

fn decode_query<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let text = call.check_string(1)?;
    call.charge_bytes(text.as_bytes().len() * 4);
    let fields = url::decode_query(text.as_bytes(), &mut call.bounds());
    call.done_tree(fields)
}
