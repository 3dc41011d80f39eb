//! `base64` and `hex`.

use webhook_core::encoding::Base64;

use crate::{
    lua::vm::call::{Call, Native, Outcome},
    modules::{
        ModuleError,
        encoding::{base64_decode, hex_decode, hex_encode},
    },
};

pub(super) const ENCODE_STANDARD: Native =
    |call| encode(call, |data| Base64::Standard.encode(data));
pub(super) const ENCODE_URL: Native = |call| encode(call, |data| Base64::UrlSafe.encode(data));
pub(super) const DECODE_STANDARD: Native =
    |call| decode(call, |text| base64_decode(text, Base64::Standard));
pub(super) const DECODE_URL: Native =
    |call| decode(call, |text| base64_decode(text, Base64::UrlSafe));

pub(super) const BASE64: &[(&str, Native)] = &[
    ("decode", DECODE_STANDARD),
    ("encode", ENCODE_STANDARD),
    ("url_decode", DECODE_URL),
    ("url_encode", ENCODE_URL),
];

pub(super) const HEX: &[(&str, Native)] =
    &[("decode", |call| decode(call, hex_decode)), ("encode", |call| encode(call, hex_encode))];

fn encode<'gc>(mut call: Call<'gc, '_>, encode: fn(&[u8]) -> String) -> Outcome<'gc> {
    let data = call.check_string(1)?;
    call.charge_bytes(data.as_bytes().len());
    call.done_string(encode(data.as_bytes()).into_bytes())
}

type Decode = fn(&[u8]) -> Result<Vec<u8>, ModuleError>;

fn decode<'gc>(call: Call<'gc, '_>, decode: Decode) -> Outcome<'gc> {
    let data = call.check_string(1)?;
    call.done_bytes(decode(data.as_bytes()))
}
