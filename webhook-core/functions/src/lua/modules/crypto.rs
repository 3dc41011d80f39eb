//! `crypto`

use piccolo::{Error, Value};
use webhook_core::encoding::Base64;

use super::encoding;
use crate::{
    lua::vm::call::{Call, Native, Outcome},
    modules::{
        ModuleError, cipher,
        digest::{self, Hash},
        encoding::{base64_decode, hex_decode, hex_encode},
        random,
    },
};

pub(super) const FUNCTIONS: &[(&str, Native)] = &[
    ("base64_decode", encoding::DECODE_STANDARD),
    ("base64_encode", encoding::ENCODE_STANDARD),
    ("base64_url_decode", encoding::DECODE_URL),
    ("base64_url_encode", encoding::ENCODE_URL),
    ("crc32", |call| checksum(call, |data| digest::crc32(data).to_vec())),
    ("decrypt", decrypt),
    ("encrypt", encrypt),
    ("equal", equal),
    ("hmac", hmac),
    ("md5", |call| checksum(call, |data| Hash::Md5.digest(data))),
    ("random_bytes", random_bytes),
    ("sha1", |call| checksum(call, |data| Hash::Sha1.digest(data))),
    ("sha256", |call| checksum(call, |data| Hash::Sha256.digest(data))),
    ("sha512", |call| checksum(call, |data| Hash::Sha512.digest(data))),
    ("uuid", uuid),
];

/// Returns a checksum in hex, or as bytes when argument `raw` is true.
fn done_checksum<'gc>(call: Call<'gc, '_>, sum: Vec<u8>, raw: usize) -> Outcome<'gc> {
    let sum = if call.arg(raw).to_bool() { sum } else { hex_encode(&sum).into_bytes() };
    call.done_string(sum)
}

fn checksum<'gc>(mut call: Call<'gc, '_>, sum: fn(&[u8]) -> Vec<u8>) -> Outcome<'gc> {
    let data = call.check_string(1)?;
    call.charge_bytes(data.as_bytes().len() * 4);
    done_checksum(call, sum(data.as_bytes()), 2)
}

/// `hmac(algorithm, data, key[, raw])`
fn hmac<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let algorithm = call.check_text(1)?;
    let (data, key) = (call.check_string(2)?, call.check_string(3)?);
    call.charge_bytes((data.as_bytes().len() + key.as_bytes().len()) * 4);
    match Hash::named(&algorithm) {
        Ok(hash) => done_checksum(call, hash.hmac(data.as_bytes(), key.as_bytes()), 4),
        Err(error) => call.done_error(&error),
    }
}

/// `equal(a, b)`, in a time that says nothing about where they differ.
fn equal<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let (left, right) = (call.check_string(1)?, call.check_string(2)?);
    call.charge_bytes(left.as_bytes().len());
    call.done(digest::equal(left.as_bytes(), right.as_bytes()))
}

/// `random_bytes(count)`: bytes that nobody can guess.
fn random_bytes<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let count = usize::try_from(call.check_int(1)?).ok().filter(|n| *n <= random::MAX_BYTES);
    let Some(count) = count else {
        return Err(call.bad_argument(1, format!("expected 0 to {} bytes", random::MAX_BYTES)));
    };
    call.charge_bytes(count * 4);
    call.done_bytes(random::bytes(count))
}

/// `uuid()`: a random UUID, version 4, in lower case.
fn uuid<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    call.charge(16);
    call.done_bytes(random::uuid().map(String::into_bytes))
}

/// How the encrypted side is written.
#[derive(Clone, Copy)]
enum Form {
    Raw,
    Hex,
    Base64,
}

/// The options of `encrypt` and `decrypt`: `true` or `{encoding = "raw" | "hex" | "base64"}`.
/// Without them it is base64, as other libraries do it.
fn form<'gc>(call: &Call<'gc, '_>) -> Result<Form, Error<'gc>> {
    let name = match call.arg(4) {
        Value::Nil | Value::Boolean(false) | Value::Integer(0) => return Ok(Form::Base64),
        Value::Boolean(true) | Value::Integer(1) => return Ok(Form::Raw),
        Value::Table(options) => {
            if options.get(call.ctx, "raw").to_bool() {
                return Ok(Form::Raw);
            }
            match options.get(call.ctx, "encoding") {
                Value::Nil => return Ok(Form::Base64),
                name => name,
            }
        }
        name => name,
    };
    match name {
        Value::String(name) if name.as_bytes() == b"raw" => Ok(Form::Raw),
        Value::String(name) if name.as_bytes() == b"hex" => Ok(Form::Hex),
        Value::String(name) if name.as_bytes() == b"base64" => Ok(Form::Base64),
        _ => Err(call.bad_argument(4, "expected the encoding raw, hex or base64")),
    }
}

/// `encrypt(data, cipher, key, options, iv)`
fn encrypt<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    crypt(call, |form, data, name, key, iv| {
        let bytes = cipher::encrypt(data, name, key, iv)?;
        Ok(match form {
            Form::Raw => bytes,
            Form::Hex => hex_encode(&bytes).into_bytes(),
            Form::Base64 => Base64::Standard.encode(&bytes).into_bytes(),
        })
    })
}

/// `decrypt(data, cipher, key, options, iv)`
fn decrypt<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    crypt(call, |form, data, name, key, iv| match form {
        Form::Raw => cipher::decrypt(data, name, key, iv),
        Form::Hex => cipher::decrypt(&hex_decode(data)?, name, key, iv),
        Form::Base64 => cipher::decrypt(&base64_decode(data, Base64::Standard)?, name, key, iv),
    })
}

/// What one of the two does with the form, the data, the cipher, the key and the iv.
type Crypt = fn(Form, &[u8], &str, &[u8], &[u8]) -> Result<Vec<u8>, ModuleError>;

fn crypt<'gc>(mut call: Call<'gc, '_>, run: Crypt) -> Outcome<'gc> {
    let data = call.check_string(1)?;
    let name = call.check_text(2)?;
    let (key, iv) = (call.check_string(3)?, call.check_string(5)?);
    let form = form(&call)?;
    call.charge_bytes(data.as_bytes().len() * 4);
    call.done_bytes(run(form, data.as_bytes(), &name, key.as_bytes(), iv.as_bytes()))
}
