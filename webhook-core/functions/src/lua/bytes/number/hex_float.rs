//! Hexadecimal floats such as `0x1.8p3`, rounded to nearest, half to even.

use super::parse::split_sign;

/// Bits of a float's significand, the implicit one included.
const SIGNIFICANT_BITS: i64 = 53;

/// The exponent of the smallest normal float, `2^-1022`.
const MIN_EXPONENT: i64 = -1022;

const MAX_EXPONENT: i64 = 1023;

/// The magnitude of the hexadecimal float `text`, without sign and `0x`; `None` when it is not one.
pub(super) fn parse(text: &[u8]) -> Option<f64> {
    let (mantissa, exponent) = match text.iter().position(|byte| matches!(byte, b'p' | b'P')) {
        Some(at) => (text.get(..at)?, decimal_exponent(text.get(at + 1..)?)?),
        None => (text, 0),
    };
    let mut bits = 0_u64;
    let mut scale = 0_i64;
    let (mut any, mut point, mut lost) = (false, false, false);
    for &byte in mantissa {
        if byte == b'.' && !point {
            point = true;
            continue;
        }
        let digit = u64::from((byte as char).to_digit(16)?);
        any = true;
        if bits >> 60 == 0 {
            bits = bits << 4 | digit;
            scale -= if point { 4 } else { 0 };
        } else {
            lost |= digit != 0;
            scale += if point { 0 } else { 4 };
        }
    }
    any.then(|| assemble(bits, scale.saturating_add(exponent), lost))
}

/// The exponent behind `p`; so large a one that it does not matter how large is cut.
fn decimal_exponent(text: &[u8]) -> Option<i64> {
    let (negative, digits) = split_sign(text);
    if digits.is_empty() {
        return None;
    }
    let mut value = 0_i64;
    for &byte in digits {
        let digit = i64::from((byte as char).to_digit(10)?);
        value = (value * 10 + digit).min(1 << 48);
    }
    Some(if negative { -value } else { value })
}

/// `bits * 2^scale`, where `lost` says that something not zero was cut off below.
fn assemble(bits: u64, scale: i64, lost: bool) -> f64 {
    if bits == 0 {
        return 0.0;
    }
    let shift = bits.leading_zeros();
    let bits = bits << shift;
    let exponent = scale + 63 - i64::from(shift);
    if exponent > MAX_EXPONENT {
        return f64::INFINITY;
    }
    let kept = SIGNIFICANT_BITS - (MIN_EXPONENT - exponent).max(0);
    if kept < 0 {
        return 0.0;
    }
    let cut = (64 - kept) as u32;
    // 64 only when not one bit is kept.
    let (whole, rest, half) = match bits.checked_shr(cut) {
        Some(whole) => (whole, bits & ((1 << cut) - 1), 1_u64 << (cut - 1)),
        None => (0, bits, 1 << 63),
    };
    let up = rest > half || (rest == half && (lost || whole & 1 == 1));
    let significand = whole + u64::from(up);
    // A carry out of the significand moves on into the exponent, which is what rounding up asks for.
    let biased = (exponent - MIN_EXPONENT).max(0) as u64;
    if exponent < MIN_EXPONENT {
        f64::from_bits(significand)
    } else {
        f64::from_bits((biased << (SIGNIFICANT_BITS - 1)) + significand)
    }
}
