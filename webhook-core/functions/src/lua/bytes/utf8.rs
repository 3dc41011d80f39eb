//! Lua's `utf8` library.
//!
//! `lax` accepts what UTF-8 could encode once: up to 2^31 - 1 and surrogates. Unlike the first releases of Lua 5.4,
//! and like the later ones, [`next_code`] refuses continuation bytes that belong to no character.

use crate::lua::bytes::{Arg, Budget, Error};

/// `utf8.charpattern`: matches one character of valid text.
pub const CHAR_PATTERN: &[u8] = b"[\0-\x7F\xC2-\xFD][\x80-\xBF]*";

/// The largest code that six bytes hold.
const LAX_MAX: u32 = 0x7FFF_FFFF;

const INVALID: &str = "invalid UTF-8 code";

const fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

fn continues_at(text: &[u8], at: usize) -> bool {
    text.get(at).is_some_and(|byte| is_continuation(*byte))
}

/// The character at the start of `text` and its length in bytes; `None` when it is not valid.
fn decode(text: &[u8], lax: bool) -> Option<(u32, usize)> {
    let (&first, rest) = text.split_first()?;
    let following = match first {
        0x00..=0x7F => return Some((u32::from(first), 1)),
        0xC0..=0xDF => 1,
        0xE0..=0xEF => 2,
        0xF0..=0xF7 => 3,
        0xF8..=0xFB => 4,
        0xFC..=0xFD => 5,
        _ => return None,
    };
    let mut code = u32::from(first) & (0x3F >> following);
    for &byte in rest.get(..following)? {
        if !is_continuation(byte) {
            return None;
        }
        code = code << 6 | u32::from(byte & 0x3F);
    }
    let shortest = [0x80, 0x800, 0x1_0000, 0x20_0000, 0x400_0000];
    let overlong = shortest.get(following - 1).is_none_or(|least| code < *least);
    let valid = !overlong && (lax || char::from_u32(code).is_some());
    valid.then_some((code, following + 1))
}

/// The encoding of a code below 2^31, as `\u{…}` in a source has it.
#[cfg(feature = "lua")]
pub(crate) fn encoded(code: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode(code.min(LAX_MAX), &mut bytes);
    bytes
}

/// Appends the encoding of `code`, which is at most [`LAX_MAX`].
fn encode(code: u32, out: &mut Vec<u8>) {
    if let Some(scalar) = char::from_u32(code) {
        out.extend_from_slice(scalar.encode_utf8(&mut [0; 4]).as_bytes());
        return;
    }
    let following = match code {
        0..=0xFFFF => 2,
        0x1_0000..=0x1F_FFFF => 3,
        0x20_0000..=0x3FF_FFFF => 4,
        _ => 5,
    };
    // As many leading ones as there are bytes.
    let marker = 0xFF_u32 << (7 - following) & 0xFF;
    out.push((marker | code >> (6 * following)) as u8);
    for index in (0..following).rev() {
        out.push((0x80 | (code >> (6 * index) & 0x3F)) as u8);
    }
}

/// A position from 1, negative from the end; 0 when that is before the start.
const fn position(at: i64, len: usize) -> i64 {
    if at >= 0 {
        at
    } else if at.unsigned_abs() > len as u64 {
        0
    } else {
        len as i64 + at + 1
    }
}

/// `utf8.char`.
///
/// # Errors
/// An argument that is no integer from 0 to 2^31 - 1, or the budget.
pub fn char(codes: &[Arg<'_>], budget: &mut Budget) -> Result<Vec<u8>, Error> {
    budget.charge_scan(codes.len())?;
    let mut out = Vec::new();
    for (index, code) in codes.iter().enumerate() {
        let code = code.check_integer("char", index + 1, budget)?;
        let code = u32::try_from(code).ok().filter(|code| *code <= LAX_MAX);
        encode(
            code.ok_or_else(|| Error::argument("char", index + 1, "value out of range"))?,
            &mut out,
        );
        budget.check_string(out.len())?;
    }
    Ok(out)
}

/// `utf8.codepoint`: the codes of the characters that begin from position `first` to `last`, by default `first`.
///
/// # Errors
/// A position out of bounds, text that is not valid, more codes than the budget's values, or too few steps.
pub fn codepoint(
    text: &[u8],
    first: i64,
    last: Option<i64>,
    lax: bool,
    budget: &mut Budget,
) -> Result<Vec<u32>, Error> {
    let first = position(first, text.len());
    let last = position(last.unwrap_or(first), text.len());
    if first < 1 {
        return Err(Error::argument("codepoint", 2, "out of bounds"));
    }
    if last > text.len() as i64 {
        return Err(Error::argument("codepoint", 3, "out of bounds"));
    }
    let (mut at, end) = (first as usize - 1, last.max(0) as usize);
    budget.charge_scan(end.saturating_sub(at))?;
    let mut codes = Vec::new();
    while at < end {
        let (code, len) = decode(text.get(at..).unwrap_or_default(), lax)
            .ok_or_else(|| Error::message(INVALID))?;
        budget.check_values(codes.len() + 1)?;
        codes.push(code);
        at += len;
    }
    Ok(codes)
}

/// `utf8.len`: how many characters begin from position `first` to `last`, or the position (from 1) of what is not
/// valid.
///
/// # Errors
/// A position out of bounds, or the budget.
pub fn len(
    text: &[u8],
    first: i64,
    last: i64,
    lax: bool,
    budget: &mut Budget,
) -> Result<Result<i64, i64>, Error> {
    let (first, last) = (position(first, text.len()), position(last, text.len()));
    if first < 1 || first - 1 > text.len() as i64 {
        return Err(Error::argument("len", 2, "initial position out of bounds"));
    }
    if last > text.len() as i64 {
        return Err(Error::argument("len", 3, "final position out of bounds"));
    }
    let (mut at, end) = (first as usize - 1, last as usize);
    budget.charge_scan(end.saturating_sub(at))?;
    let mut count = 0;
    while at < end {
        match decode(text.get(at..).unwrap_or_default(), lax) {
            Some((_, len)) => at += len,
            None => return Ok(Err(at as i64 + 1)),
        }
        count += 1;
    }
    Ok(Ok(count))
}

/// `utf8.offset`: the position (from 1) where character `n` begins, counting from position `from`, by default the
/// start, or the end for a negative `n`; for 0 the character that position `from` lies in.
///
/// # Errors
/// A position out of bounds or inside a character, or the budget.
pub fn offset(
    text: &[u8],
    n: i64,
    from: Option<i64>,
    budget: &mut Budget,
) -> Result<Option<i64>, Error> {
    let from = position(from.unwrap_or(if n >= 0 { 1 } else { text.len() as i64 + 1 }), text.len());
    if from < 1 || from - 1 > text.len() as i64 {
        return Err(Error::argument("offset", 3, "position out of bounds"));
    }
    let start = from as usize - 1;
    let mut at = start;
    let mut left = n;
    if n == 0 {
        while at > 0 && continues_at(text, at) {
            at -= 1;
        }
    } else if continues_at(text, at) {
        return Err(Error::message("initial position is a continuation byte"));
    } else if n < 0 {
        while left < 0 && at > 0 {
            at -= 1;
            while at > 0 && continues_at(text, at) {
                at -= 1;
            }
            left += 1;
        }
    } else {
        left -= 1;
        while left > 0 && at < text.len() {
            at += 1;
            while continues_at(text, at) {
                at += 1;
            }
            left -= 1;
        }
    }
    budget.charge_scan(start.abs_diff(at))?;
    Ok((left == 0).then_some(at as i64 + 1))
}

/// One step of `utf8.codes`: the position (from 1) and the code of the first character behind the one at position
/// `after`, which is 0 at first; `None` at the end.
///
/// # Errors
/// Text that is not valid, or the budget.
pub fn next_code(
    text: &[u8],
    after: i64,
    lax: bool,
    budget: &mut Budget,
) -> Result<Option<(i64, u32)>, Error> {
    let Ok(mut at) = usize::try_from(after) else { return Ok(None) };
    let from = at;
    // The byte before `at` begins a character; its continuation bytes follow.
    while at > 0 && continues_at(text, at) {
        at += 1;
    }
    budget.charge_scan(at - from)?;
    let rest = match text.get(at..) {
        None | Some([]) => return Ok(None),
        Some(rest) => rest,
    };
    match decode(rest, lax) {
        Some((code, len)) if !continues_at(text, at + len) => Ok(Some((at as i64 + 1, code))),
        _ => Err(Error::message(INVALID)),
    }
}
