//! `string.unpack`.

use super::super::string::start_index;
use super::INTEGER_BYTES;
use super::layout::{Kind, Layout};
use crate::lua::bytes::{Budget, Error};

const NAME: &str = "unpack";

/// One value that `string.unpack` returns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Unpacked<'d> {
    /// An integer.
    Int(i64),
    /// A float.
    Float(f64),
    /// A string, a part of the data.
    Bytes(&'d [u8]),
}

/// `string.unpack(format, data, position)`: the values and the position (from 1) behind what was read.
///
/// # Errors
/// A malformed format, data that ends too early, a position out of the data, an integer that does not fit, more
/// values than the budget's, or too few steps.
pub fn unpack<'d>(
    format: &[u8],
    data: &'d [u8],
    position: i64,
    budget: &mut Budget,
) -> Result<(Vec<Unpacked<'d>>, i64), Error> {
    let mut at = start_index(position, data.len());
    if at > data.len() {
        return Err(Error::argument(NAME, 3, "initial position out of string"));
    }
    let too_short = || Error::argument(NAME, 2, "data string too short");
    let mut layout = Layout::new(format, NAME);
    let mut values = Vec::new();
    while let Some(option) = layout.next(at)? {
        budget.charge(1)?;
        let start = at.checked_add(option.padding).ok_or_else(too_short)?;
        let end = start.checked_add(option.size).ok_or_else(too_short)?;
        let bytes = data.get(start..end).ok_or_else(too_short)?;
        at = end;
        let value = match option.kind {
            Kind::Pad | Kind::Nothing => continue,
            Kind::Signed | Kind::Unsigned => {
                Unpacked::Int(integer(bytes, option.little, option.kind == Kind::Signed)?)
            }
            Kind::Float => {
                let bits = integer(bytes, option.little, false)? as u32;
                Unpacked::Float(f64::from(f32::from_bits(bits)))
            }
            Kind::Double => {
                let bits = integer(bytes, option.little, false)? as u64;
                Unpacked::Float(f64::from_bits(bits))
            }
            Kind::Fixed => Unpacked::Bytes(bytes),
            Kind::Counted => {
                let len = usize::try_from(integer(bytes, option.little, false)?)
                    .map_err(|_| too_short())?;
                let end = end.checked_add(len).ok_or_else(too_short)?;
                let text = data.get(at..end).ok_or_else(too_short)?;
                at = end;
                Unpacked::Bytes(text)
            }
            Kind::ZeroEnded => {
                let rest = data.get(at..).unwrap_or_default();
                let len = memchr::memchr(0, rest)
                    .ok_or_else(|| Error::argument(NAME, 2, "unfinished string for format 'z'"))?;
                budget.charge_copy(len)?;
                at += len + 1;
                Unpacked::Bytes(rest.get(..len).unwrap_or_default())
            }
        };
        budget.check_values(values.len() + 1)?;
        values.push(value);
    }
    Ok((values, at as i64 + 1))
}

/// The integer in `bytes`; one of more than 8 bytes must have the value of one of 8.
fn integer(bytes: &[u8], little: bool, signed: bool) -> Result<i64, Error> {
    let at = |index: usize| {
        let index = if little { index } else { bytes.len() - 1 - index };
        bytes.get(index).copied().unwrap_or(0)
    };
    let low = bytes.len().min(INTEGER_BYTES);
    let value = (0..low).fold(0_u64, |value, index| value | u64::from(at(index)) << (8 * index));
    let unused = 64 - 8 * low as u32;
    let value = if signed { (value << unused) as i64 >> unused } else { value as i64 };
    let filler = if signed && value < 0 { 0xFF } else { 0 };
    if (low..bytes.len()).any(|index| at(index) != filler) {
        return Err(Error::message(format!(
            "{}-byte integer does not fit into Lua Integer",
            bytes.len()
        )));
    }
    Ok(value)
}
