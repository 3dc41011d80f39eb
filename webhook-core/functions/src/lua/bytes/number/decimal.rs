//! Floats in decimal: the digits of C's `%e`, `%f` and `%g`, written without allocation.

use std::fmt::{self, Write as _};

/// Room for the longest directive: 309 digits before the point and 99 behind it.
const SCRATCH_BYTES: usize = 448;

/// The digits of the most precise `%g` and `%e`: one before the point and 99 behind it.
const MAX_DIGITS: usize = 100;

/// A short text on the stack; what does not fit is dropped, and nothing that is written here is that long.
#[derive(Debug)]
pub(crate) struct Scratch {
    bytes: [u8; SCRATCH_BYTES],
    len: usize,
}

impl Scratch {
    pub(crate) const fn new() -> Self {
        Self { bytes: [0; SCRATCH_BYTES], len: 0 }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let room = self.bytes.get_mut(self.len..).unwrap_or_default();
        let len = room.len().min(bytes.len());
        if let (Some(room), Some(bytes)) = (room.get_mut(..len), bytes.get(..len)) {
            room.copy_from_slice(bytes);
            self.len += len;
        }
    }

    pub(crate) fn push_zeros(&mut self, count: usize) {
        for _ in 0..count {
            self.push(b"0");
        }
    }

    pub(crate) fn print(&mut self, arguments: fmt::Arguments<'_>) {
        // Never fails: `write_str` below does not.
        let _ = self.write_fmt(arguments);
    }
}

impl fmt::Write for Scratch {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.push(text.as_bytes());
        Ok(())
    }
}

/// A float, finite and not negative, rounded to some significant digits.
#[derive(Debug)]
pub(crate) struct Decimal {
    digits: [u8; MAX_DIGITS],
    len: usize,
    exponent: i32,
}

impl Decimal {
    /// Rounds `value` to `significant` digits (1 to 100), half to even as C does.
    pub(crate) fn new(value: f64, significant: usize) -> Self {
        let len = significant.clamp(1, MAX_DIGITS);
        let mut text = Scratch::new();
        text.print(format_args!("{:.*e}", len - 1, value));
        let mut decimal = Self { digits: [b'0'; MAX_DIGITS], len, exponent: 0 };
        let mut parts = text.bytes().split(|byte| *byte == b'e');
        let mantissa = parts.next().unwrap_or_default().iter().filter(|byte| byte.is_ascii_digit());
        for (place, digit) in decimal.digits.iter_mut().zip(mantissa) {
            *place = *digit;
        }
        let exponent = parts.next().and_then(|text| std::str::from_utf8(text).ok());
        decimal.exponent = exponent.and_then(|text| text.parse().ok()).unwrap_or(0);
        decimal
    }

    fn digits(&self) -> &[u8] {
        self.digits.get(..self.len).unwrap_or_default()
    }

    /// As `%e`, with a point even without digits behind it when `point`; `letter` is `e` or `E`.
    pub(crate) fn write_exponent(&self, point: bool, letter: u8, out: &mut Scratch) {
        let (first, rest) = self.digits().split_at(1);
        out.push(first);
        if point || !rest.is_empty() {
            out.push(b".");
        }
        out.push(rest);
        out.push(&[letter]);
        let sign = if self.exponent < 0 { '-' } else { '+' };
        out.print(format_args!("{sign}{:02}", self.exponent.unsigned_abs()));
    }

    /// As `%g`: whichever is shorter, without trailing zeros unless `keep_zeros`.
    pub(crate) fn write_shortest(mut self, keep_zeros: bool, letter: u8, out: &mut Scratch) {
        let precision = self.len as i32;
        if !keep_zeros {
            let used =
                self.digits().iter().rposition(|digit| *digit != b'0').map_or(1, |index| index + 1);
            self.len = used;
        }
        if self.exponent < -4 || self.exponent >= precision {
            self.write_exponent(keep_zeros, letter, out);
        } else if self.exponent < 0 {
            out.push(b"0.");
            out.push_zeros(self.exponent.unsigned_abs() as usize - 1);
            out.push(self.digits());
        } else {
            let whole = self.exponent as usize + 1;
            let (before, behind) = self.digits().split_at(whole.min(self.len));
            out.push(before);
            out.push_zeros(whole - before.len());
            if keep_zeros || !behind.is_empty() {
                out.push(b".");
            }
            out.push(behind);
        }
    }
}

/// Writes a float, finite and not negative, as `%f` does, with a point even for precision 0 when `point`.
pub(crate) fn write_fixed(value: f64, precision: usize, point: bool, out: &mut Scratch) {
    out.print(format_args!("{value:.precision$}"));
    if point && precision == 0 {
        out.push(b".");
    }
}
