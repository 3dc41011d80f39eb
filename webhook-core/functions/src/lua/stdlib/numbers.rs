//! Arithmetic as Lua 5.4 does it.

use crate::lua::bytes::number::Number;

/// An operator on two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arithmetic {
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    Pow,
    FloorDiv,
}

/// The result; the error is a message.
pub(super) fn arithmetic(
    op: Arithmetic,
    left: Number,
    right: Number,
) -> Result<Number, &'static str> {
    if let (Number::Int(left), Number::Int(right)) = (left, right) {
        match op {
            Arithmetic::Add => return Ok(Number::Int(left.wrapping_add(right))),
            Arithmetic::Sub => return Ok(Number::Int(left.wrapping_sub(right))),
            Arithmetic::Mul => return Ok(Number::Int(left.wrapping_mul(right))),
            Arithmetic::Mod if right == 0 => return Err("attempt to perform 'n%0'"),
            Arithmetic::FloorDiv if right == 0 => return Err("attempt to divide by zero"),
            Arithmetic::Mod => {
                let rest = left.wrapping_rem(right);
                let crosses = rest != 0 && (rest ^ right) < 0;
                return Ok(Number::Int(if crosses { rest + right } else { rest }));
            }
            Arithmetic::FloorDiv => {
                let quotient = left.wrapping_div(right);
                let crosses = left.wrapping_rem(right) != 0 && (left ^ right) < 0;
                return Ok(Number::Int(if crosses { quotient - 1 } else { quotient }));
            }
            Arithmetic::Div | Arithmetic::Pow => {}
        }
    }
    let (left, right) = (left.to_float(), right.to_float());
    Ok(Number::Float(match op {
        Arithmetic::Add => left + right,
        Arithmetic::Sub => left - right,
        Arithmetic::Mul => left * right,
        Arithmetic::Div => left / right,
        Arithmetic::Pow => left.powf(right),
        Arithmetic::FloorDiv => (left / right).floor(),
        Arithmetic::Mod => {
            let rest = left % right;
            if rest != 0.0 && (rest < 0.0) != (right < 0.0) { rest + right } else { rest }
        }
    }))
}

/// `left << by`; a negative `by` shifts to the right.
pub(super) fn shift(left: i64, by: i64) -> i64 {
    let bits = left.cast_unsigned();
    let shifted = match u32::try_from(by.unsigned_abs()) {
        Ok(count) if by >= 0 => bits.checked_shl(count),
        Ok(count) => bits.checked_shr(count),
        Err(_) => None,
    };
    shifted.unwrap_or(0).cast_signed()
}

/// How an integer and a float compare, without rounding; `None` with NaN.
pub(super) fn compare_mixed(left: i64, right: f64) -> Option<std::cmp::Ordering> {
    use std::cmp::Ordering;
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if right.is_nan() {
        return None;
    }
    if right >= LIMIT {
        return Some(Ordering::Less);
    }
    if right < -LIMIT {
        return Some(Ordering::Greater);
    }
    // In range, so the conversion only cuts the fraction off.
    let whole = right.trunc() as i64;
    Some(left.cmp(&whole).then_with(|| 0.0_f64.total_cmp(&(right.fract() + 0.0))))
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use super::*;

    #[test]
    fn integers_and_floats_compare_without_rounding() {
        assert_eq!(compare_mixed((1 << 53) + 1, 9_007_199_254_740_992.0), Some(Ordering::Greater));
        assert_eq!(compare_mixed(i64::MAX, 9_223_372_036_854_775_808.0), Some(Ordering::Less));
        assert_eq!(compare_mixed(1, 1.5), Some(Ordering::Less));
        assert_eq!(compare_mixed(-1, -1.5), Some(Ordering::Greater));
        assert_eq!(compare_mixed(0, -0.0), Some(Ordering::Equal));
        assert_eq!(compare_mixed(0, f64::NAN), None);
    }

    #[test]
    fn the_smallest_integer_divides_by_minus_one() {
        let (min, minus_one) = (Number::Int(i64::MIN), Number::Int(-1));
        assert_eq!(arithmetic(Arithmetic::Mod, min, minus_one), Ok(Number::Int(0)));
        assert_eq!(arithmetic(Arithmetic::FloorDiv, min, minus_one), Ok(min));
    }

    #[test]
    fn shifts_by_more_than_the_bits_give_zero() {
        assert_eq!(shift(1, 63), i64::MIN);
        assert_eq!(shift(1, 64), 0);
        assert_eq!(shift(-1, -1), i64::MAX);
        assert_eq!(shift(1, i64::MIN), 0);
    }
}
