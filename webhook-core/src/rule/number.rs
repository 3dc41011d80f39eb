//! Numbers as texts: compared digit by digit, so that none is too long to be exact.

use std::cmp::Ordering;

/// Which numbers pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    GreaterThan,
    AtLeast,
    LessThan,
    AtMost,
}

impl Comparison {
    /// Whether a number passes that compares so with the wanted one.
    pub(crate) const fn holds(self, order: Ordering) -> bool {
        match self {
            Self::GreaterThan => order.is_gt(),
            Self::AtLeast => order.is_ge(),
            Self::LessThan => order.is_lt(),
            Self::AtMost => order.is_le(),
        }
    }
}

/// A decimal number: `0.DIGITS × 10^exponent`, with its sign.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Decimal {
    is_negative: bool,
    /// The digits without zeros at either end; none for zero.
    digits: Vec<u8>,
    exponent: i64,
}

impl Decimal {
    /// Reads a number as JSON writes it (RFC 8259, section 6), but also with leading zeros, with a
    /// plus sign, without a digit on one side of the point, and with blanks around it.
    pub(crate) fn parse(text: &[u8]) -> Option<Self> {
        let text = text.trim_ascii();
        let (is_negative, text) = match text {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            text => (false, text),
        };
        let power = text.iter().position(|byte| matches!(byte, b'e' | b'E'));
        let (mantissa, power) = match power {
            Some(at) => (text.get(..at)?, exponent(text.get(at + 1..)?)?),
            None => (text, 0),
        };
        let point = mantissa.iter().position(|byte| *byte == b'.').unwrap_or(mantissa.len());
        let (whole, fraction) = mantissa.split_at(point);
        let fraction = fraction.get(1..).unwrap_or_default();
        let mut digits: Vec<u8> = whole.iter().chain(fraction).copied().collect();
        if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let is_digit = |digit: &u8| *digit != b'0';
        digits.truncate(digits.iter().rposition(is_digit).map_or(0, |last| last + 1));
        let leading = digits.iter().position(is_digit).unwrap_or(0);
        digits.drain(..leading);
        if digits.is_empty() {
            return Some(Self { is_negative: false, digits, exponent: 0 });
        }
        let places = i64::try_from(whole.len()).ok()? - i64::try_from(leading).ok()?;
        Some(Self { is_negative, digits, exponent: power.saturating_add(places) })
    }

    pub(crate) fn compare(&self, other: &Self) -> Ordering {
        let sign = |number: &Self| match (number.digits.is_empty(), number.is_negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        };
        let size = self.exponent.cmp(&other.exponent).then_with(|| self.digits.cmp(&other.digits));
        let same_sign = if self.is_negative { size.reverse() } else { size };
        sign(self).cmp(&sign(other)).then(same_sign)
    }
}

/// The power of ten behind an `e`; one that is out of all proportion is as good as the largest.
fn exponent(text: &[u8]) -> Option<i64> {
    const LARGEST: i64 = i64::MAX / 4;
    let (is_negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        text => (false, text),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let size = digits.iter().fold(0_i64, |size, digit| {
        size.saturating_mul(10).saturating_add(i64::from(digit - b'0')).min(LARGEST)
    });
    Some(if is_negative { -size } else { size })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn number(text: &str) -> Decimal {
        Decimal::parse(text.as_bytes()).unwrap_or_else(|| panic!("{text} is a number"))
    }

    #[test]
    fn numbers_compare_by_their_value() {
        let ascending = [
            "-1e99999999999999999999",
            "-10",
            "-9.5",
            "-1",
            "-0.1",
            "-1e-9",
            "0",
            "1e-99999999999999999999",
            "0.001",
            "0.1",
            "0.10000000000000000000001",
            "1",
            "9007199254740992",
            "9007199254740993",
            "1e400",
            "2e400",
        ];
        for (a, left) in ascending.iter().enumerate() {
            for (b, right) in ascending.iter().enumerate() {
                assert_eq!(number(left).compare(&number(right)), a.cmp(&b), "{left} {right}");
            }
        }
        for (left, right) in [
            ("12.50", "12.5"),
            ("-0", "0"),
            ("0e5", "0.000"),
            ("1e3", "1000"),
            ("0012", " 12 "),
            (".5", "0.5"),
            ("5.", "+5"),
            ("1E+2", "100"),
            ("123e-2", "1.23"),
        ] {
            assert_eq!(number(left), number(right), "{left} {right}");
        }
        for wrong in ["", " ", ".", "-", "1e", "1e+", "1.2.3", "0x10", "1 2", "NaN", "inf", "１"] {
            assert_eq!(Decimal::parse(wrong.as_bytes()), None, "{wrong:?}");
        }
    }

    proptest! {
        #[test]
        fn numbers_compare_as_integers_do(a in any::<i64>(), b in any::<i64>()) {
            let order = number(&a.to_string()).compare(&number(&b.to_string()));
            prop_assert_eq!(order, a.cmp(&b));
        }

        #[test]
        fn numbers_compare_as_floats_do(a in -1e9..1e9, b in -1e9..1e9) {
            let (left, right): (f64, f64) = (a, b);
            let order = number(&format!("{left:e}")).compare(&number(&right.to_string()));
            prop_assert_eq!(Some(order), left.partial_cmp(&right));
        }

        #[test]
        fn any_text_is_read_or_refused(text in "[-+.eE0-9 ]{0,12}") {
            let _: Option<Decimal> = Decimal::parse(text.as_bytes());
        }
    }
}
