//! `%e`, `%f`, `%g` and `%a`.

use super::super::number::{Decimal, Scratch, write_fixed};
use super::spec::{Flags, Spec};

/// Digits behind the point when the directive does not say.
const DEFAULT_PRECISION: usize = 6;

/// Hexadecimal digits behind the point of a float.
const FRACTION_DIGITS: usize = 13;

/// The most digits of which rounding is cheap; more need big integers.
const CHEAP_DIGITS: u64 = 17;

/// Steps that a further digit takes.
const STEPS_PER_DIGIT: u64 = 6;

/// The steps that `%e`, `%f` and `%g` take.
pub(super) fn steps(spec: &Spec, value: f64, conversion: u8) -> u64 {
    let mut digits = spec.precision.unwrap_or(DEFAULT_PRECISION) as u64;
    if matches!(conversion, b'f' | b'F') && value.is_finite() {
        // At 3 bits to a digit, somewhat more than there are before the point.
        digits += ((value.to_bits() >> 52 & 0x7FF).saturating_sub(1023)) / 3;
    }
    STEPS_PER_DIGIT * digits.saturating_sub(CHEAP_DIGITS)
}

pub(super) fn write(spec: &Spec, value: f64, conversion: u8, out: &mut Vec<u8>) {
    let sign = spec.sign(value.is_sign_negative());
    let upper = conversion.is_ascii_uppercase();
    if !value.is_finite() {
        let text: &[u8] = match (value.is_nan(), upper) {
            (true, false) => b"nan",
            (true, true) => b"NAN",
            (false, false) => b"inf",
            (false, true) => b"INF",
        };
        spec.pad_number(sign, 0, text, false, out);
        return;
    }
    let magnitude = value.abs();
    let alternate = spec.flags.has(Flags::ALTERNATE);
    let precision = spec.precision.unwrap_or(DEFAULT_PRECISION);
    let mut digits = Scratch::new();
    match conversion {
        b'e' | b'E' => Decimal::new(magnitude, precision + 1).write_exponent(
            alternate,
            conversion,
            &mut digits,
        ),
        b'f' | b'F' => write_fixed(magnitude, precision, alternate, &mut digits),
        b'g' | b'G' => {
            let letter = if upper { b'E' } else { b'e' };
            Decimal::new(magnitude, precision.max(1)).write_shortest(
                alternate,
                letter,
                &mut digits,
            );
        }
        _ => {
            write_hex(magnitude, spec.precision, alternate, upper, &mut digits);
            // The prefix stands before the zeros that fill the width.
            let mut prefixed = [0; 3];
            let len = sign.len() + 2;
            if let Some(prefix) = prefixed.get_mut(..len) {
                prefix[..sign.len()].copy_from_slice(sign);
                prefix[sign.len()..].copy_from_slice(if upper { b"0X" } else { b"0x" });
                spec.pad_number(prefix, 0, digits.bytes(), true, out);
            }
            return;
        }
    }
    spec.pad_number(sign, 0, digits.bytes(), true, out);
}

/// Writes a float, finite and not negative, as `%a` does, without the `0x`.
pub(super) fn write_hex(
    value: f64,
    precision: Option<usize>,
    point: bool,
    upper: bool,
    out: &mut Scratch,
) {
    let bits = value.to_bits();
    let field = (bits >> 52) as i32;
    let implicit = u64::from(field != 0) << 52;
    let mut significand = bits & ((1 << 52) - 1) | implicit;
    let exponent = if value == 0.0 { 0 } else { field.max(1) - 1023 };
    let digits = match precision {
        Some(digits) => digits,
        None => FRACTION_DIGITS - ((significand | 1 << 52).trailing_zeros() / 4) as usize,
    };
    if digits < FRACTION_DIGITS {
        let cut = 4 * (FRACTION_DIGITS - digits);
        let (rest, half) = (significand & ((1 << cut) - 1), 1_u64 << (cut - 1));
        significand >>= cut;
        let up = rest > half || (rest == half && significand & 1 == 1);
        significand = (significand + u64::from(up)) << cut;
    }
    out.print(format_args!("{}", significand >> 52));
    if point || digits > 0 {
        out.push(b".");
    }
    let fraction = significand & ((1 << 52) - 1);
    for index in 0..digits.min(FRACTION_DIGITS) {
        let digit = fraction >> (48 - 4 * index) & 15;
        if upper {
            out.print(format_args!("{digit:X}"));
        } else {
            out.print(format_args!("{digit:x}"));
        }
    }
    out.push_zeros(digits.saturating_sub(FRACTION_DIGITS));
    let letter = if upper { 'P' } else { 'p' };
    out.print(format_args!("{letter}{exponent:+}"));
}
