//! `%q`: a literal that Lua reads back as the same value.

use super::super::number::Scratch;
use super::NAME;
use super::float::write_hex;
use crate::lua::bytes::{Arg, Budget, Error};

pub(super) fn write(
    argument: &Arg<'_>,
    index: usize,
    out: &mut Vec<u8>,
    budget: &mut Budget,
) -> Result<(), Error> {
    match argument {
        Arg::Nil => out.extend_from_slice(b"nil"),
        Arg::Bool(true) => out.extend_from_slice(b"true"),
        Arg::Bool(false) => out.extend_from_slice(b"false"),
        // Its decimal digits would be read as a float.
        Arg::Int(i64::MIN) => out.extend_from_slice(b"0x8000000000000000"),
        Arg::Int(value) => {
            let mut digits = Scratch::new();
            digits.print(format_args!("{value}"));
            out.extend_from_slice(digits.bytes());
        }
        Arg::Float(value) => write_float(*value, out),
        Arg::Bytes(text) => write_bytes(text, out, budget)?,
        Arg::Other { .. } => return Err(Error::argument(NAME, index, "value has no literal form")),
    }
    Ok(())
}

fn write_float(value: f64, out: &mut Vec<u8>) {
    if value.is_nan() {
        out.extend_from_slice(b"(0/0)");
        return;
    }
    if value.is_sign_negative() {
        out.push(b'-');
    }
    if value.is_infinite() {
        out.extend_from_slice(b"1e9999");
        return;
    }
    let mut digits = Scratch::new();
    write_hex(value.abs(), None, false, false, &mut digits);
    out.extend_from_slice(b"0x");
    out.extend_from_slice(digits.bytes());
}

fn write_bytes(text: &[u8], out: &mut Vec<u8>, budget: &mut Budget) -> Result<(), Error> {
    budget.check_string(out.len().saturating_add(text.len()))?;
    budget.charge_scan(text.len())?;
    out.push(b'"');
    for (at, &byte) in text.iter().enumerate() {
        match byte {
            b'"' | b'\\' | b'\n' => out.extend_from_slice(&[b'\\', byte]),
            _ if byte.is_ascii_control() => {
                out.push(b'\\');
                // All three digits, when another digit follows.
                let padded = text.get(at + 1).is_some_and(u8::is_ascii_digit);
                if padded || byte >= 100 {
                    out.push(b'0' + byte / 100);
                }
                if padded || byte >= 10 {
                    out.push(b'0' + byte / 10 % 10);
                }
                out.push(b'0' + byte % 10);
                // The caller looks at the end, but this text may be four times as long as the string.
                budget.check_string(out.len())?;
            }
            _ => out.push(byte),
        }
    }
    out.push(b'"');
    Ok(())
}
