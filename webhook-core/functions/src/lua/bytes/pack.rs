//! `string.pack`, `string.unpack` and `string.packsize`.
//!
//! "Native" is the layout of a 64-bit little-endian machine wherever this runs: `int` has 4 bytes, `long`, `size_t`
//! and numbers 8, and the alignment that a plain `!` asks for is 8.

mod layout;
mod unpack;

use super::budget::{Budget, BudgetExceeded, STRING_BYTES};
use crate::lua::bytes::{Arg, Error};
use layout::{Kind, Layout};
pub use unpack::{Unpacked, unpack};

const NAME: &str = "pack";

/// The bytes of a Lua integer; what is beyond them is the sign.
const INTEGER_BYTES: usize = 8;

/// `string.pack(format, …)`, where `arguments` are those behind the format.
///
/// # Errors
/// A malformed format, an argument that does not fit, or the budget.
pub fn pack(format: &[u8], arguments: &[Arg<'_>], budget: &mut Budget) -> Result<Vec<u8>, Error> {
    let mut layout = Layout::new(format, NAME);
    let mut out = Vec::new();
    let mut used = 0;
    while let Some(option) = layout.next(out.len())? {
        budget.charge(1)?;
        let needed =
            out.len().checked_add(option.padding).and_then(|len| len.checked_add(option.size));
        budget.check_string(needed.unwrap_or(usize::MAX))?;
        out.resize(out.len() + option.padding, 0);
        if matches!(option.kind, Kind::Nothing) {
            continue;
        }
        if matches!(option.kind, Kind::Pad) {
            out.push(0);
            continue;
        }
        let index = used + 2;
        let argument = arguments.get(used).copied().unwrap_or(Arg::Nil);
        used += 1;
        match option.kind {
            Kind::Signed => {
                let value = argument.check_integer(NAME, index, budget)?;
                if option.size < INTEGER_BYTES {
                    let limit = 1_i64 << (8 * option.size - 1);
                    if !(-limit..limit).contains(&value) {
                        return Err(Error::argument(NAME, index, "integer overflow"));
                    }
                }
                push_integer(value, value < 0, option.size, option.little, &mut out);
            }
            Kind::Unsigned => {
                let value = argument.check_integer(NAME, index, budget)?;
                if option.size < INTEGER_BYTES && value as u64 >= 1_u64 << (8 * option.size) {
                    return Err(Error::argument(NAME, index, "unsigned overflow"));
                }
                push_integer(value, false, option.size, option.little, &mut out);
            }
            Kind::Float => {
                let value = argument.check_number(NAME, index, budget)?.to_float() as f32;
                push_integer(i64::from(value.to_bits()), false, 4, option.little, &mut out);
            }
            Kind::Double => {
                let value = argument.check_number(NAME, index, budget)?.to_float();
                push_integer(value.to_bits() as i64, false, 8, option.little, &mut out);
            }
            Kind::Fixed | Kind::Counted | Kind::ZeroEnded => {
                let mut scratch = Vec::new();
                let text = argument.check_bytes(NAME, index, &mut scratch)?;
                push_text(text, &option, index, &mut out, budget)?;
            }
            Kind::Pad | Kind::Nothing => {}
        }
    }
    Ok(out)
}

fn push_text(
    text: &[u8],
    option: &layout::Opt,
    index: usize,
    out: &mut Vec<u8>,
    budget: &mut Budget,
) -> Result<(), Error> {
    match option.kind {
        Kind::Fixed => {
            let missing = option
                .size
                .checked_sub(text.len())
                .ok_or_else(|| Error::argument(NAME, index, "string longer than given size"))?;
            budget.append(out, text)?;
            budget.charge_copy(missing)?;
            out.resize(out.len() + missing, 0);
        }
        Kind::Counted => {
            if option.size < INTEGER_BYTES && text.len() as u64 >= 1 << (8 * option.size) {
                return Err(Error::argument(
                    NAME,
                    index,
                    "string length does not fit in given size",
                ));
            }
            push_integer(text.len() as i64, false, option.size, option.little, out);
            budget.append(out, text)?;
        }
        _ => {
            if memchr::memchr(0, text).is_some() {
                return Err(Error::argument(NAME, index, "string contains zeros"));
            }
            budget.append(out, text)?;
            budget.append(out, &[0])?;
        }
    }
    Ok(())
}

/// Appends the low `size` bytes of `value`; those beyond a Lua integer are its sign when `negative`, else zeros.
fn push_integer(value: i64, negative: bool, size: usize, little: bool, out: &mut Vec<u8>) {
    let start = out.len();
    let bytes = value.to_le_bytes();
    out.extend_from_slice(bytes.get(..size).unwrap_or(&bytes));
    out.resize(start + size, if negative { 0xFF } else { 0 });
    if !little && let Some(written) = out.get_mut(start..) {
        written.reverse();
    }
}

/// `string.packsize`.
///
/// # Errors
/// A malformed format, one without a fixed size, a size above the budget's string cap, or too few steps.
pub fn packsize(format: &[u8], budget: &mut Budget) -> Result<usize, Error> {
    const TOO_LONG: BudgetExceeded = BudgetExceeded { limit: STRING_BYTES };
    let mut layout = Layout::new(format, "packsize");
    let mut total = 0_usize;
    while let Some(option) = layout.next(total)? {
        budget.charge(1)?;
        if matches!(option.kind, Kind::Counted | Kind::ZeroEnded) {
            return Err(Error::argument("packsize", 1, "variable-length format"));
        }
        total = total
            .checked_add(option.padding)
            .and_then(|sum| sum.checked_add(option.size))
            .ok_or(TOO_LONG)?;
        budget.check_string(total)?;
    }
    Ok(total)
}
