//! `base64` and `hex`.

use webhook_core::encoding::Base64;

use crate::{
    lua::vm::call::{Call, Native, Outcome},
    modules::encoding::{base64_decode, hex_decode, hex_encode},
};

pub(super) const BASE64: &[(&str, Native)] = &[
    ("decode", decode_standard),
    ("encode", encode_standard),
    ("url_decode", decode_url),
    ("url_encode", encode_url),
];

pub(super) const HEX: &[(&str, Native)] = &[("decode", decode_hex), ("encode", encode_hex)];

fn encode<'gc>(mut call: Call<'gc, '_>, encode: fn(&[u8]) -> String) -> Outcome<'gc> {
    let data = call.check_string(1)?;
    call.charge_bytes(data.as_bytes().len());
    let text = call.string(encode(data.as_bytes()).into_bytes())?;
    call.done(text)
}

pub(super) fn encode_standard<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    encode(call, |data| Base64::Standard.encode(data))
}

pub(super) fn encode_url<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    encode(call, |data| Base64::UrlSafe.encode(data))
}

fn encode_hex<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    encode(call, hex_encode)
}

pub(super) fn decode_standard<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    let data = call.check_string(1)?;
    call.done_bytes(base64_decode(data.as_bytes(), Base64::Standard))
}

pub(super) fn decode_url<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    let data = call.check_string(1)?;
    call.done_bytes(base64_decode(data.as_bytes(), Base64::UrlSafe))
}

fn decode_hex<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    let data = call.check_string(1)?;
    call.done_bytes(hex_decode(data.as_bytes()))
}
