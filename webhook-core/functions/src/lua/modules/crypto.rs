//! `crypto`

use piccolo::{Error, Value};
use ring::rand::{SecureRandom as _, SystemRandom};
use webhook_core::encoding::Base64;

use super::encoding;
use crate::{
    lua::vm::call::{Call, Native, Outcome},
    modules::{
        ModuleError, cipher,
        digest::{self, Hash},
        encoding::{base64_decode, hex_decode, hex_encode},
    },
};

pub(super) const FUNCTIONS: &[(&str, Native)] = &[
    ("base64_decode", encoding::decode_standard),
    ("base64_encode", encoding::encode_standard),
    ("base64_url_decode", encoding::decode_url),
    ("base64_url_encode", encoding::encode_url),
    ("crc32", crc32),
    ("decrypt", decrypt),
    ("encrypt", encrypt),
    ("equal", equal),
    ("hmac", hmac),
    ("md5", md5),
    ("random_bytes", random_bytes),
    ("sha1", sha1),
    ("sha256", sha256),
    ("sha512", sha512),
    ("uuid", uuid),
];

/// Returns a checksum in hex, or as bytes when argument `raw` is true.
fn done_checksum<'gc>(mut call: Call<'gc, '_>, sum: Vec<u8>, raw: usize) -> Outcome<'gc> {
    let sum = if call.arg(raw).to_bool() { sum } else { hex_encode(&sum).into_bytes() };
    let sum = call.string(sum)?;
    call.done(sum)
}

fn checksum<'gc>(mut call: Call<'gc, '_>, sum: fn(&[u8]) -> Vec<u8>) -> Outcome<'gc> {
    let data = call.check_string(1)?;
    call.charge_bytes(data.as_bytes().len() * 4);
    done_checksum(call, sum(data.as_bytes()), 2)
}

fn crc32<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    checksum(call, |data| digest::crc32(data).to_vec())
}

fn md5<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    checksum(call, |data| Hash::Md5.digest(data))
}

fn sha1<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    checksum(call, |data| Hash::Sha1.digest(data))
}

fn sha256<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    checksum(call, |data| Hash::Sha256.digest(data))
}

fn sha512<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    checksum(call, |data| Hash::Sha512.digest(data))
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

/// What one call of `random_bytes` gives at most, as `getRandomValues` of the web.
const MAX_RANDOM_BYTES: usize = 65_536;
const NO_RANDOM: &str = "the system gives no random bytes";

/// `random_bytes(count)`: bytes that nobody can guess.
fn random_bytes<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let count = usize::try_from(call.check_int(1)?).ok().filter(|n| *n <= MAX_RANDOM_BYTES);
    let Some(count) = count else {
        return Err(call.bad_argument(1, format!("expected 0 to {MAX_RANDOM_BYTES} bytes")));
    };
    call.charge_bytes(count * 4);
    let mut bytes = vec![0; count];
    match SystemRandom::new().fill(&mut bytes) {
        Ok(()) => {
            let bytes = call.string(bytes)?;
            call.done(bytes)
        }
        Err(_) => call.done_failed(NO_RANDOM),
    }
}

/// `uuid()`: a random UUID, version 4, in lower case.
fn uuid<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    call.charge(16);
    let mut bytes = [0; 16];
    if SystemRandom::new().fill(&mut bytes).is_err() {
        return call.done_failed(NO_RANDOM);
    }
    let id = uuid::Builder::from_random_bytes(bytes).into_uuid().to_string();
    let id = call.string(id.into_bytes())?;
    call.done(id)
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
fn encrypt<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let data = call.check_string(1)?;
    let name = call.check_text(2)?;
    let (key, iv) = (call.check_string(3)?, call.check_string(5)?);
    let form = form(&call)?;
    call.charge_bytes(data.as_bytes().len() * 4);
    let encrypted = cipher::encrypt(data.as_bytes(), &name, key.as_bytes(), iv.as_bytes());
    call.done_bytes(encrypted.map(|bytes| match form {
        Form::Raw => bytes,
        Form::Hex => hex_encode(&bytes).into_bytes(),
        Form::Base64 => Base64::Standard.encode(&bytes).into_bytes(),
    }))
}

/// `decrypt(data, cipher, key, options, iv)`
fn decrypt<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let data = call.check_string(1)?;
    let name = call.check_text(2)?;
    let (key, iv) = (call.check_string(3)?, call.check_string(5)?);
    let form = form(&call)?;
    call.charge_bytes(data.as_bytes().len() * 4);
    let bytes: Result<Vec<u8>, ModuleError> = match form {
        Form::Raw => Ok(data.as_bytes().to_vec()),
        Form::Hex => hex_decode(data.as_bytes()),
        Form::Base64 => base64_decode(data.as_bytes(), Base64::Standard),
    };
    let decrypted =
        bytes.and_then(|bytes| cipher::decrypt(&bytes, &name, key.as_bytes(), iv.as_bytes()));
    call.done_bytes(decrypted)
}
