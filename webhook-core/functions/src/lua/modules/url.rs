//! `url`

use super::tree;
use crate::{
    lua::vm::call::{Call, Native, Outcome, new_string},
    modules::url,
};

pub(super) const FUNCTIONS: &[(&str, Native)] = &[
    ("build", build),
    ("decode", decode),
    ("decode_query", decode_query),
    ("encode", encode),
    ("encode_query", encode_query),
    ("parse", parse),
];

fn parse<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let text = call.check_text(1)?;
    call.charge_bytes(text.len() * 4);
    call.done_tree(url::parse(&text))
}

fn build<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    let parts = call.check_table(1)?;
    let tree = tree::from_lua(call.host, call.ctx, parts.into(), &mut call.bounds());
    let longest = call.host.limits.string_bytes;
    let text = tree.and_then(|parts| url::build(&parts, longest));
    call.done_bytes(text.map(String::into_bytes))
}

fn encode<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let text = call.check_string(1)?;
    let text = call.string(url::encode(text.as_bytes()).into_bytes())?;
    call.done(text)
}

fn decode<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let text = call.check_string(1)?;
    call.charge_bytes(text.as_bytes().len());
    let text = new_string(call.ctx, url::decode(text.as_bytes()));
    call.done(text)
}

fn encode_query<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    let fields = call.check_table(1)?;
    let tree = tree::from_lua(call.host, call.ctx, fields.into(), &mut call.bounds());
    let longest = call.host.limits.string_bytes;
    let text = tree.and_then(|fields| url::encode_query(&fields, longest));
    call.done_bytes(text.map(String::into_bytes))
}

fn decode_query<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let text = call.check_string(1)?;
    call.charge_bytes(text.as_bytes().len() * 4);
    let fields = url::decode_query(text.as_bytes(), &mut call.bounds());
    call.done_tree(fields)
}
