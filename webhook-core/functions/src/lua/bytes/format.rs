//! `string.format`.
//!
//! Bounds: a directive is at most 22 characters, width and precision at most 99, so that a directive without
//! `%s` and `%q` produces at most 448 bytes. Beyond Lua 5.4, `%F` is taken.

mod float;
mod integer;
mod quote;
mod spec;

use crate::lua::bytes::{Arg, Budget, Error};
use spec::{Flags, Spec};

const NAME: &str = "format";

/// What the first argument of `string.format` counts as; the others follow.
const FORMAT_INDEX: usize = 1;

/// `string.format(format, …)`, where `arguments` are those behind the format.
///
/// `%p` writes what follows the last space of the text of a table, function, userdata or thread, which is where
/// `tostring` writes its address, and `(null)` for every other value, a string included.
///
/// # Errors
/// A malformed directive, an argument that is missing or does not suit, or the budget.
pub fn format(format: &[u8], arguments: &[Arg<'_>], budget: &mut Budget) -> Result<Vec<u8>, Error> {
    let mut out = Vec::with_capacity(
        format.len().min(budget.max_string_bytes()) + 16 * arguments.len().min(64),
    );
    let mut rest = format;
    let mut used = 0;
    while let Some(percent) = memchr::memchr(b'%', rest) {
        let (literal, directive) = rest.split_at(percent);
        budget.append(&mut out, literal)?;
        let directive = directive.get(1..).unwrap_or_default();
        if let Some(behind) = directive.strip_prefix(b"%") {
            budget.append(&mut out, b"%")?;
            rest = behind;
            continue;
        }
        let index = FORMAT_INDEX + 1 + used;
        let argument =
            arguments.get(used).ok_or_else(|| Error::argument(NAME, index, "no value"))?;
        used += 1;
        let (text, behind) = spec::split(directive)?;
        budget.charge(2)?;
        write(text, argument, index, &mut out, budget)?;
        budget.check_string(out.len())?;
        rest = behind;
    }
    budget.append(&mut out, rest)?;
    Ok(out)
}

/// Writes `argument` as the directive whose text behind the `%` is `text` asks.
fn write(
    text: &[u8],
    argument: &Arg<'_>,
    index: usize,
    out: &mut Vec<u8>,
    budget: &mut Budget,
) -> Result<(), Error> {
    let conversion = text.last().copied().unwrap_or(0);
    // Where both the directive and its argument are wrong, Lua complains of the argument first, but for `%c` and `%a`.
    match conversion {
        b'c' => {
            let spec = Spec::parse(text, Flags::LEFT, false)?;
            let code = argument.check_integer(NAME, index, budget)?;
            spec.pad(&[code as u8], out);
        }
        b'd' | b'i' => {
            let value = argument.check_integer(NAME, index, budget)?;
            let spec =
                Spec::parse(text, Flags::LEFT | Flags::PLUS | Flags::SPACE | Flags::ZERO, true)?;
            integer::write_signed(&spec, value, out);
        }
        b'u' | b'o' | b'x' | b'X' => {
            let value = argument.check_integer(NAME, index, budget)?;
            let alternate = if conversion == b'u' { Flags::NONE } else { Flags::ALTERNATE };
            let spec = Spec::parse(text, Flags::LEFT | Flags::ZERO | alternate, true)?;
            integer::write_unsigned(&spec, value, conversion, out);
        }
        b'a' | b'A' => {
            let spec = Spec::parse(text, Flags::ALL, true)?;
            let value = argument.check_number(NAME, index, budget)?;
            float::write(&spec, value.to_float(), conversion, out);
        }
        b'e' | b'E' | b'f' | b'g' | b'G' => {
            let value = argument.check_number(NAME, index, budget)?;
            let spec = Spec::parse(text, Flags::ALL, true)?;
            budget.charge(float::steps(&spec, value.to_float(), conversion))?;
            float::write(&spec, value.to_float(), conversion, out);
        }
        b'p' => {
            let spec = Spec::parse(text, Flags::LEFT, false)?;
            spec.pad(address(argument), out);
        }
        b'q' => {
            if text.len() > 1 {
                return Err(Error::message("specifier '%q' cannot have modifiers"));
            }
            quote::write(argument, index, out, budget)?;
        }
        b's' => write_string(text, argument, index, out, budget)?,
        _ => {
            let shown = String::from_utf8_lossy(text);
            return Err(Error::message(format!("invalid conversion '%{shown}' to 'format'")));
        }
    }
    Ok(())
}

fn write_string(
    text: &[u8],
    argument: &Arg<'_>,
    index: usize,
    out: &mut Vec<u8>,
    budget: &mut Budget,
) -> Result<(), Error> {
    let mut scratch = Vec::new();
    let string: &[u8] = match argument {
        Arg::Bytes(bytes) => bytes,
        Arg::Other { text, .. } => text,
        Arg::Nil => b"nil",
        Arg::Bool(true) => b"true",
        Arg::Bool(false) => b"false",
        number => number.check_bytes(NAME, index, &mut scratch)?,
    };
    if text.len() == 1 {
        budget.append(out, string)?;
        return Ok(());
    }
    budget.charge_copy(string.len())?;
    if memchr::memchr(0, string).is_some() {
        return Err(Error::argument(NAME, index, "string contains zeros"));
    }
    let spec = Spec::parse(text, Flags::LEFT, true)?;
    let shown = spec.precision.and_then(|precision| string.get(..precision)).unwrap_or(string);
    budget.check_string(out.len().saturating_add(shown.len().max(spec.width)))?;
    spec.pad(shown, out);
    Ok(())
}

/// The address in the text of a value that has one.
fn address<'a>(argument: &Arg<'a>) -> &'a [u8] {
    match argument {
        Arg::Other { text, .. } => match memchr::memrchr(b' ', text) {
            Some(space) => text.get(space + 1..).unwrap_or_default(),
            None => text,
        },
        Arg::Nil | Arg::Bool(_) | Arg::Int(_) | Arg::Float(_) | Arg::Bytes(_) => b"(null)",
    }
}
