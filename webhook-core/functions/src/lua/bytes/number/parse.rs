//! Text to numbers.

use super::{Number, hex_float};
use crate::lua::bytes::{Budget, Error};

const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | 9..=13)
}

fn trim(text: &[u8]) -> &[u8] {
    let start = text.iter().position(|byte| !is_space(*byte)).unwrap_or(text.len());
    let end = text.iter().rposition(|byte| !is_space(*byte)).map_or(start, |last| last + 1);
    text.get(start..end).unwrap_or_default()
}

/// The number that `text` reads as, as in `tonumber(text)` and in arithmetic; `None` when it is not one.
///
/// Takes whitespace around it and a sign. Hexadecimal integers wrap around; decimal ones that do not fit become
/// floats. `inf` and `nan` are not numbers.
///
/// # Errors
/// The budget.
pub fn parse(text: &[u8], budget: &mut Budget) -> Result<Option<Number>, Error> {
    budget.charge_scan(text.len())?;
    Ok(parse_trimmed(trim(text)))
}

/// Whether `text` begins with a minus, and what is behind its sign.
pub(super) fn split_sign(text: &[u8]) -> (bool, &[u8]) {
    match text.split_first() {
        Some((b'-', digits)) => (true, digits),
        Some((b'+', digits)) => (false, digits),
        _ => (false, text),
    }
}

fn parse_trimmed(text: &[u8]) -> Option<Number> {
    let (negative, digits) = split_sign(text);
    if let [b'0', b'x' | b'X', hex @ ..] = digits {
        if let Some(value) = hex_integer(hex) {
            return Some(Number::Int(if negative { value.wrapping_neg() } else { value }));
        }
        let value = hex_float::parse(hex)?;
        return Some(Number::Float(if negative { -value } else { value }));
    }
    if !is_decimal(digits) {
        return None;
    }
    let text = std::str::from_utf8(text).ok()?;
    if digits.iter().all(u8::is_ascii_digit)
        && let Ok(value) = text.parse()
    {
        return Some(Number::Int(value));
    }
    text.parse().ok().map(Number::Float)
}

fn hex_integer(digits: &[u8]) -> Option<i64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0_i64, |value, byte| {
        let digit = (*byte as char).to_digit(16)?;
        Some(value << 4 | i64::from(digit))
    })
}

/// Whether this is digits with at most one point among them, and perhaps an exponent.
fn is_decimal(text: &[u8]) -> bool {
    let (mantissa, exponent) = match text.iter().position(|byte| matches!(byte, b'e' | b'E')) {
        Some(at) => (text.get(..at), text.get(at + 1..)),
        None => (Some(text), None),
    };
    let mantissa = mantissa.unwrap_or_default();
    let points = mantissa.iter().filter(|byte| **byte == b'.').count();
    let digits = mantissa.iter().filter(|byte| byte.is_ascii_digit()).count();
    let exponent = exponent.is_none_or(|text| {
        let (_, digits) = split_sign(text);
        !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
    });
    digits > 0 && points <= 1 && digits + points == mantissa.len() && exponent
}

/// The integer that `text` reads as in `base` (2 to 36), as in `tonumber(text, base)`; wraps around.
///
/// # Errors
/// The budget.
pub fn parse_in_base(text: &[u8], base: u32, budget: &mut Budget) -> Result<Option<i64>, Error> {
    budget.charge_scan(text.len())?;
    let text = trim(text);
    let (negative, digits) = split_sign(text);
    if digits.is_empty() || !(2..=36).contains(&base) {
        return Ok(None);
    }
    let value = digits.iter().try_fold(0_i64, |value, byte| {
        let digit = (*byte as char).to_digit(base)?;
        Some(value.wrapping_mul(i64::from(base)).wrapping_add(i64::from(digit)))
    });
    Ok(value.map(|value| if negative { value.wrapping_neg() } else { value }))
}
