//! `%d`, `%u`, `%o` and `%x`.

use super::super::number::Scratch;
use super::spec::{Flags, Spec};

pub(super) fn write_signed(spec: &Spec, value: i64, out: &mut Vec<u8>) {
    let mut digits = Scratch::new();
    digits.print(format_args!("{}", value.unsigned_abs()));
    write_digits(spec, spec.sign(value < 0), digits.bytes(), value == 0, out);
}

/// Negative integers show as their two's complement.
pub(super) fn write_unsigned(spec: &Spec, value: i64, conversion: u8, out: &mut Vec<u8>) {
    let mut digits = Scratch::new();
    let alternate = spec.flags.has(Flags::ALTERNATE);
    let mut sign: &[u8] = b"";
    match conversion {
        b'u' => digits.print(format_args!("{}", value as u64)),
        b'o' => {
            // The leading zero counts as a digit for the precision.
            if alternate && value != 0 {
                digits.push(b"0");
            }
            digits.print(format_args!("{value:o}"));
            if alternate && value == 0 && spec.precision == Some(0) {
                spec.pad(b"0", out);
                return;
            }
        }
        b'x' => {
            digits.print(format_args!("{value:x}"));
            sign = b"0x";
        }
        _ => {
            digits.print(format_args!("{value:X}"));
            sign = b"0X";
        }
    }
    let sign = if alternate && value != 0 { sign } else { b"" };
    write_digits(spec, sign, digits.bytes(), value == 0, out);
}

fn write_digits(spec: &Spec, sign: &[u8], digits: &[u8], is_zero: bool, out: &mut Vec<u8>) {
    match spec.precision {
        // C prints no digit at all for a zero without precision.
        Some(0) if is_zero => spec.pad_number(sign, 0, b"", false, out),
        Some(precision) => {
            spec.pad_number(sign, precision.saturating_sub(digits.len()), digits, false, out)
        }
        None => spec.pad_number(sign, 0, digits, true, out),
    }
}
