//! One directive of a format: flags, width, precision.

use std::ops::BitOr;

use super::super::error::Error;

/// The most characters between a `%` and the letter that ends its directive.
const MAX_MODIFIERS: usize = 20;

/// A set of flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Flags(u8);

impl Flags {
    pub(super) const NONE: Self = Self(0);
    pub(super) const LEFT: Self = Self(1);
    pub(super) const PLUS: Self = Self(2);
    pub(super) const SPACE: Self = Self(4);
    pub(super) const ALTERNATE: Self = Self(8);
    pub(super) const ZERO: Self = Self(16);
    pub(super) const ALL: Self = Self(31);

    const fn of(byte: u8) -> Self {
        match byte {
            b'-' => Self::LEFT,
            b'+' => Self::PLUS,
            b' ' => Self::SPACE,
            b'#' => Self::ALTERNATE,
            b'0' => Self::ZERO,
            _ => Self::NONE,
        }
    }

    pub(super) const fn has(self, flag: Self) -> bool {
        self.0 & flag.0 != 0
    }
}

impl BitOr for Flags {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Splits off the directive at the start of `text`, its letter included; `text` begins behind the `%`.
pub(super) fn split(text: &[u8]) -> Result<(&[u8], &[u8]), Error> {
    let modifiers = text
        .iter()
        .take_while(|byte| b"-+ #0123456789.".contains(byte))
        .take(MAX_MODIFIERS + 1)
        .count();
    if modifiers > MAX_MODIFIERS {
        return Err(Error::message("invalid format (too long)"));
    }
    Ok(text.split_at((modifiers + 1).min(text.len())))
}

/// A directive that was checked.
#[derive(Debug)]
pub(super) struct Spec {
    pub(super) flags: Flags,
    pub(super) width: usize,
    pub(super) precision: Option<usize>,
}

impl Spec {
    /// Reads the directive `text`, of which only the `allowed` flags and, if so said, a precision may be there.
    pub(super) fn parse(
        text: &[u8],
        allowed: Flags,
        precision_allowed: bool,
    ) -> Result<Self, Error> {
        let mut spec = Self { flags: Flags::NONE, width: 0, precision: None };
        let mut rest = text;
        while let Some((&byte, behind)) = rest.split_first() {
            let flag = Flags::of(byte);
            if !allowed.has(flag) {
                break;
            }
            spec.flags = spec.flags | flag;
            rest = behind;
        }
        if rest.first() != Some(&b'0') {
            (spec.width, rest) = two_digits(rest);
            if precision_allowed && let Some(behind) = rest.strip_prefix(b".") {
                let (precision, behind) = two_digits(behind);
                spec.precision = Some(precision);
                rest = behind;
            }
        }
        if rest.len() == 1 {
            return Ok(spec);
        }
        let shown = String::from_utf8_lossy(text);
        Err(Error::message(format!("invalid conversion specification: '%{shown}'")))
    }

    /// Appends `text`, filled up with spaces to the width.
    pub(super) fn pad(&self, text: &[u8], out: &mut Vec<u8>) {
        self.pad_number(b"", 0, text, false, out);
    }

    /// Appends `sign`, `zeros` zeros and `digits`, filled up to the width: with zeros behind the sign when
    /// `zero_fill` and the flag ask for it, else with spaces.
    pub(super) fn pad_number(
        &self,
        sign: &[u8],
        zeros: usize,
        digits: &[u8],
        zero_fill: bool,
        out: &mut Vec<u8>,
    ) {
        let missing = self.width.saturating_sub(sign.len() + zeros + digits.len());
        let left = self.flags.has(Flags::LEFT);
        let zero_fill = zero_fill && !left && self.flags.has(Flags::ZERO);
        let (before, inside, behind) = match (left, zero_fill) {
            (true, _) => (0, 0, missing),
            (false, true) => (0, missing, 0),
            (false, false) => (missing, 0, 0),
        };
        out.resize(out.len() + before, b' ');
        out.extend_from_slice(sign);
        out.resize(out.len() + inside + zeros, b'0');
        out.extend_from_slice(digits);
        out.resize(out.len() + behind, b' ');
    }

    /// The sign to write: `-`, or what the flags ask for.
    pub(super) const fn sign(&self, negative: bool) -> &'static [u8] {
        if negative {
            b"-"
        } else if self.flags.has(Flags::PLUS) {
            b"+"
        } else if self.flags.has(Flags::SPACE) {
            b" "
        } else {
            b""
        }
    }
}

/// The number of at most two digits at the start of `text`, and what is behind it.
fn two_digits(text: &[u8]) -> (usize, &[u8]) {
    let len = text.iter().take(2).take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = text.split_at(len);
    (digits.iter().fold(0, |value, digit| value * 10 + usize::from(digit - b'0')), rest)
}
