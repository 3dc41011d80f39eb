//! Numbers as text: `tostring`, `tonumber` and the coercion of strings to numbers.

mod decimal;
mod hex_float;
mod parse;

use crate::lua::bytes::{Arg, Budget, Error};

pub(super) use decimal::{Decimal, Scratch, write_fixed};
pub use parse::{parse, parse_in_base};

/// A Lua number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// An integer.
    Int(i64),
    /// A float.
    Float(f64),
}

impl Number {
    /// As a float; an integer of more than 53 bits is rounded.
    #[must_use]
    pub const fn to_float(self) -> f64 {
        match self {
            Self::Int(value) => value as f64,
            Self::Float(value) => value,
        }
    }

    /// As an integer, when it has that value exactly.
    #[must_use]
    pub fn to_integer(self) -> Option<i64> {
        match self {
            Self::Int(value) => Some(value),
            Self::Float(value) => float_to_integer(value),
        }
    }
}

/// The integer with the value of `float`; `None` for a fraction, infinity, NaN and what does not fit.
#[must_use]
pub fn float_to_integer(float: f64) -> Option<i64> {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    (float.trunc() == float && (-LIMIT..LIMIT).contains(&float)).then_some(float as i64)
}

/// Appends what Lua's `tostring` makes of `number`: at most 24 bytes.
///
/// Floats as with `%.14g`, and `.0` behind what would look like an integer.
pub fn write(number: Number, out: &mut Vec<u8>) {
    let mut scratch = Scratch::new();
    match number {
        Number::Int(value) => {
            scratch.print(format_args!("{value}"));
            out.extend_from_slice(scratch.bytes());
        }
        Number::Float(value) => {
            if value.is_nan() {
                out.extend_from_slice(if value.is_sign_negative() { b"-nan" } else { b"nan" });
                return;
            }
            if value.is_sign_negative() {
                out.push(b'-');
            }
            if value.is_infinite() {
                out.extend_from_slice(b"inf");
                return;
            }
            Decimal::new(value.abs(), 14).write_shortest(false, b'e', &mut scratch);
            out.extend_from_slice(scratch.bytes());
            if scratch.bytes().iter().all(u8::is_ascii_digit) {
                out.extend_from_slice(b".0");
            }
        }
    }
}

/// What Lua's `tostring` makes of `number`.
#[must_use]
pub fn to_text(number: Number) -> Vec<u8> {
    let mut out = Vec::with_capacity(24);
    write(number, &mut out);
    out
}

/// `tonumber`; `None` stands for `nil`.
///
/// # Errors
/// With a base: a value that is no string, a base that is not from 2 to 36. And the budget.
pub fn to_number(
    value: Arg<'_>,
    base: Option<i64>,
    budget: &mut Budget,
) -> Result<Option<Number>, Error> {
    let Some(base) = base else { return value.to_number(budget) };
    let Arg::Bytes(text) = value else {
        return Err(value.expected("string", "tonumber", 1));
    };
    match u32::try_from(base) {
        Ok(base @ 2..=36) => Ok(parse_in_base(text, base, budget)?.map(Number::Int)),
        _ => Err(Error::argument("tonumber", 2, "base out of range")),
    }
}
