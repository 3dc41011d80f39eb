//! Numbers as texts and texts as numbers.

use super::convert::is_space;
use super::value::Value;

/// The number that a number or a text is: decimal, white space around it allowed.
pub(crate) fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Text(text) => {
            let text = text.trim_matches(is_space);
            let plain = text.bytes().all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b));
            let opens = text
                .trim_start_matches(['+', '-'])
                .bytes()
                .next()
                .is_some_and(|b| b.is_ascii_digit());
            if !plain || !opens {
                return None;
            }
            text.parse::<f64>().ok().filter(|number| number.is_finite())
        }
        _ => value.as_number(),
    }
}

pub(crate) fn number_in(text: &str) -> Option<f64> {
    let plain: String = text.chars().filter(|&c| c != ',').collect();
    let bytes = plain.as_bytes();
    let start = bytes.iter().position(u8::is_ascii_digit)?;
    let digits = |from: usize| bytes.iter().skip(from).take_while(|b| b.is_ascii_digit()).count();
    let mut end = start + digits(start);
    if bytes.get(end) == Some(&b'.') && digits(end + 1) > 0 {
        end += 1 + digits(end + 1);
    }
    // A minus counts only where it opens the number, not inside `INV-12`.
    let negative = start > 0
        && bytes.get(start - 1) == Some(&b'-')
        && (start < 2 || bytes.get(start - 2).is_some_and(|b| is_space(char::from(*b))));
    let number: f64 = plain.get(start..end)?.parse().ok()?;
    number.is_finite().then_some(if negative { -number } else { number })
}

pub(crate) fn boolean(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(value) => Some(*value),
        Value::Text(text) => match text.to_ascii_lowercase().as_str() {
            "true" | "1" | "yes" | "on" => Some(true),
            "false" | "0" | "no" | "off" => Some(false),
            _ => None,
        },
        _ => match value.as_number()? {
            1.0 => Some(true),
            0.0 => Some(false),
            _ => None,
        },
    }
}

/// Without the noise of binary fractions: six decimals.
pub(crate) fn tidy(number: f64) -> Value {
    if number.fract() == 0.0 || number.abs() >= 1e9 {
        return Value::number(number);
    }
    Value::number((number * 1e6 + 0.5).floor() / 1e6)
}

pub(crate) fn fixed(number: f64, decimals: u32) -> String {
    format!("{number:.*}", decimals.min(9) as usize)
}

pub(crate) fn grouped(text: &str) -> String {
    let (sign, text) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let mut out = String::from(sign);
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out + rest
}
