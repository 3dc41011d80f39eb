//! `string.rep`, `reverse`, `sub`, `upper`, `lower`, `byte`, `char` and the positions that they take.

use std::ops::Range;

use super::budget::{Budget, BudgetExceeded, STRING_BYTES};
use crate::lua::bytes::{Arg, Error};

/// Where position `init` (from 1; negative counts from the end) begins, counted from 0.
///
/// Above `len` when the position is more than one behind the end; the start for one before the start.
#[must_use]
pub const fn start_index(init: i64, len: usize) -> usize {
    if init > 0 {
        // Strings are far shorter than `usize::MAX`, so an enormous position may be any that is behind the end.
        if init as u64 - 1 > len as u64 { len + 1 } else { (init - 1) as usize }
    } else if init == 0 || init.unsigned_abs() > len as u64 {
        0
    } else {
        len - init.unsigned_abs() as usize
    }
}

/// Where position `last` (from 1, itself included; negative counts from the end) ends, counted from 0.
#[must_use]
pub const fn end_index(last: i64, len: usize) -> usize {
    if last >= 0 {
        if last as u64 > len as u64 { len } else { last as usize }
    } else if last.unsigned_abs() > len as u64 {
        0
    } else {
        len + 1 - last.unsigned_abs() as usize
    }
}

/// The bytes from position `first` to position `last` of a string of `len` bytes, counted from 0; empty when they
/// cross.
#[must_use]
pub const fn range(first: i64, last: i64, len: usize) -> Range<usize> {
    let (start, end) = (start_index(first, len), end_index(last, len));
    if start < end { start..end } else { 0..0 }
}

/// `string.sub`, without a copy.
#[must_use]
pub fn sub(text: &[u8], first: i64, last: i64) -> &[u8] {
    text.get(range(first, last, text.len())).unwrap_or_default()
}

/// `string.byte`: the bytes, of which each is one returned value.
///
/// # Errors
/// When there are more than the budget's values, or too few steps.
pub fn byte<'t>(
    text: &'t [u8],
    first: i64,
    last: i64,
    budget: &mut Budget,
) -> Result<&'t [u8], Error> {
    let bytes = sub(text, first, last);
    budget.check_values(bytes.len())?;
    budget.charge_scan(bytes.len())?;
    Ok(bytes)
}

/// `string.char`.
///
/// # Errors
/// An argument that is no integer from 0 to 255, or the budget.
pub fn char(codes: &[Arg<'_>], budget: &mut Budget) -> Result<Vec<u8>, Error> {
    budget.check_string(codes.len())?;
    budget.charge_scan(codes.len())?;
    let mut out = Vec::with_capacity(codes.len());
    for (index, code) in codes.iter().enumerate() {
        let code = code.check_integer("char", index + 1, budget)?;
        out.push(
            u8::try_from(code)
                .map_err(|_| Error::argument("char", index + 1, "value out of range"))?,
        );
    }
    Ok(out)
}

/// `string.rep` with a separator, which may be empty.
///
/// # Errors
/// When the result would be longer than the budget's string cap, or too few steps.
pub fn rep(
    text: &[u8],
    count: i64,
    separator: &[u8],
    budget: &mut Budget,
) -> Result<Vec<u8>, Error> {
    const TOO_LONG: BudgetExceeded = BudgetExceeded { limit: STRING_BYTES };
    if count <= 0 || (text.is_empty() && separator.is_empty()) {
        return Ok(Vec::new());
    }
    let count = usize::try_from(count).map_err(|_| TOO_LONG)?;
    let unit = text.len().checked_add(separator.len()).ok_or(TOO_LONG)?;
    let len = unit.checked_mul(count).ok_or(TOO_LONG)? - separator.len();
    budget.check_string(len)?;
    budget.charge_copy(len)?;
    if separator.is_empty() {
        return Ok(text.repeat(count));
    }
    let mut out = [text, separator].concat().repeat(count);
    out.truncate(len);
    Ok(out)
}

/// `string.reverse`.
///
/// # Errors
/// The budget.
pub fn reverse(text: &[u8], budget: &mut Budget) -> Result<Vec<u8>, Error> {
    copied(text, budget, |out| out.reverse())
}

/// `string.upper`, for ASCII letters.
///
/// # Errors
/// The budget.
pub fn upper(text: &[u8], budget: &mut Budget) -> Result<Vec<u8>, Error> {
    copied(text, budget, <[u8]>::make_ascii_uppercase)
}

/// `string.lower`, for ASCII letters.
///
/// # Errors
/// The budget.
pub fn lower(text: &[u8], budget: &mut Budget) -> Result<Vec<u8>, Error> {
    copied(text, budget, <[u8]>::make_ascii_lowercase)
}

fn copied(
    text: &[u8],
    budget: &mut Budget,
    change: impl FnOnce(&mut [u8]),
) -> Result<Vec<u8>, Error> {
    budget.check_string(text.len())?;
    budget.charge_copy(text.len())?;
    let mut out = text.to_vec();
    change(&mut out);
    Ok(out)
}
