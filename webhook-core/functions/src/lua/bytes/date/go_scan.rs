//! How the elements of a Go reference layout are read from a value.

use std::ops::RangeInclusive;

use super::go_chunk::OffsetStyle;
use super::name;

/// The most digits of a fraction of a second that count.
const NANO_DIGITS: usize = 9;

/// Why an element does not fit the value.
#[derive(Debug, Clone, Copy)]
pub(super) enum Mismatch {
    /// Something else is written there.
    Text,
    /// It is written as it should be, but is wrong.
    Invalid(&'static str),
}

/// What is behind `prefix` in `value`; any number of spaces matches any number, and none only at the end.
pub(super) fn skip<'v>(mut value: &'v [u8], mut prefix: &[u8]) -> Option<&'v [u8]> {
    while let Some((&wanted, behind)) = prefix.split_first() {
        if wanted == b' ' {
            if value.first().is_some_and(|byte| *byte != b' ') {
                return None;
            }
            prefix = cut_spaces(prefix);
            value = cut_spaces(value);
        } else {
            value = value.strip_prefix(&[wanted])?;
            prefix = behind;
        }
    }
    Some(value)
}

fn cut_spaces(text: &[u8]) -> &[u8] {
    let spaces = text.iter().take_while(|byte| **byte == b' ').count();
    text.get(spaces..).unwrap_or_default()
}

/// Reads a number of `least` to `most` digits.
pub(super) fn digits(rest: &mut &[u8], least: usize, most: usize) -> Result<i64, Mismatch> {
    let len = rest.iter().take(most).take_while(|byte| byte.is_ascii_digit()).count();
    if len < least {
        return Err(Mismatch::Text);
    }
    let (text, behind) = rest.split_at(len);
    *rest = behind;
    Ok(text.iter().fold(0, |value, digit| value * 10 + i64::from(digit - b'0')))
}

/// Reads a number of `least` to two digits, which must be in `range`.
pub(super) fn number(
    rest: &mut &[u8],
    least: usize,
    range: RangeInclusive<i64>,
    invalid: &'static str,
) -> Result<i64, Mismatch> {
    Some(digits(rest, least, 2)?)
        .filter(|value| range.contains(value))
        .ok_or(Mismatch::Invalid(invalid))
}

/// Reads one of `names`, cut to `len` characters, in any case; answers which.
pub(super) fn named(
    rest: &mut &[u8],
    names: &'static [&'static str],
    len: usize,
) -> Result<i64, Mismatch> {
    for index in 0..names.len() as u32 {
        let wanted = name(names, index, len).as_bytes();
        if let Some((text, behind)) = rest.split_at_checked(wanted.len())
            && text.eq_ignore_ascii_case(wanted)
        {
            *rest = behind;
            return Ok(i64::from(index));
        }
    }
    Err(Mismatch::Text)
}

/// Reads the half of the day; true for the second.
pub(super) fn half(rest: &mut &[u8], first: &[u8], second: &[u8]) -> Result<bool, Mismatch> {
    let (afternoon, behind) = match (rest.strip_prefix(first), rest.strip_prefix(second)) {
        (Some(behind), _) => (false, behind),
        (None, Some(behind)) => (true, behind),
        (None, None) => return Err(Mismatch::Text),
    };
    *rest = behind;
    Ok(afternoon)
}

/// Reads an offset from UTC, in seconds.
pub(super) fn offset(rest: &mut &[u8], style: OffsetStyle) -> Result<i64, Mismatch> {
    let (&sign, mut text) = rest.split_first().ok_or(Mismatch::Text)?;
    let sign = match sign {
        b'Z' if style.z_for_utc => {
            *rest = text;
            return Ok(0);
        }
        b'+' => 1,
        b'-' => -1,
        _ => return Err(Mismatch::Text),
    };
    let part = |text: &mut &[u8], most, invalid| {
        if style.colon {
            *text = text.strip_prefix(b":").ok_or(Mismatch::Text)?;
        }
        number(text, 2, 0..=most, invalid)
    };
    let mut seconds = number(&mut text, 2, 0..=24, "time zone offset hour out of range")? * 3_600;
    if style.minutes {
        seconds += part(&mut text, 60, "time zone offset minute out of range")? * 60;
    }
    if style.seconds {
        seconds += part(&mut text, 60, "time zone offset second out of range")?;
    }
    *rest = text;
    Ok(sign * seconds)
}

/// Nanoseconds from a point or comma and the digits behind it, of which nine count.
pub(super) fn nanos(text: &[u8]) -> Option<u32> {
    let (b'.' | b',', digits) = text.split_first()? else { return None };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let padded = digits.iter().chain(std::iter::repeat(&b'0')).take(NANO_DIGITS);
    Some(padded.fold(0, |value, digit| value * 10 + u32::from(digit - b'0')))
}

/// The length of the abbreviation of a zone at the start of `text`: three to five capitals of which four and five
/// end in `T`, `GMT` with an offset in hours, an offset in hours alone, and the three that follow no rule.
pub(super) fn zone_name_length(text: &[u8]) -> Option<usize> {
    if text.len() < 3 {
        return None;
    }
    if text.starts_with(b"ChST") || text.starts_with(b"MeST") {
        return Some(4);
    }
    if let Some(behind) = text.strip_prefix(b"GMT") {
        return Some(3 + signed_hours_length(behind).unwrap_or(0));
    }
    if matches!(text.first(), Some(b'+' | b'-')) {
        return signed_hours_length(text);
    }
    match text.iter().take(6).take_while(|byte| byte.is_ascii_uppercase()).count() {
        5 if text.get(4) == Some(&b'T') => Some(5),
        4 if text.get(3) == Some(&b'T') || text.starts_with(b"WITA") => Some(4),
        3 => Some(3),
        _ => None,
    }
}

/// The length of a sign and the hours, at most 23, behind it.
fn signed_hours_length(text: &[u8]) -> Option<usize> {
    let (b'+' | b'-', digits) = text.split_first()? else { return None };
    let len = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let hours = digits
        .iter()
        .take(len)
        .fold(0_u32, |hours, digit| (hours * 10 + u32::from(digit - b'0')).min(24));
    (len > 0 && hours <= 23).then_some(len + 1)
}
